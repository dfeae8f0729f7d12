/*
 * The order of the work: from the locations of the snapshot to files, from these to expressions,
 * and from their types to all declarations that these types need.
 */
#include "retype/legacy/cmt400.h"

#include "retype/legacy/declarations.h"
#include "retype/legacy/files.h"
#include "retype/legacy/locations.h"
#include "retype/legacy/reader.h"
#include "retype/legacy/scopes.h"
#include "retype/legacy/unit.h"
#include "retype/legacy/units.h"

#include <stdio.h>

static void release_cmt_reader(struct cmt_reader *r)
{
	struct base_map *maps[] = {&r->by_unit, &r->bound, &r->by_stamp, &r->by_name, &r->scope_of,
		&r->declarations, &r->terms, &r->layouts, &r->registered, &r->locations};
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		base_map_release(maps[i]);
	for (uint64_t i = 0; i < r->unit_count; i++)
		cmt_unit_release(r->units[i]);
	base_pool_release(&r->scratch);
	free(r->files);
	free(r->units);
	free(r->scopes);
	free(r->entries);
	free(r->bindings);
	free(r->pending);
	free(r->pending_layouts);
	free(r->exceptions);
	free(r->found);
	free(r->wanted);
}

/* Names the files that told something: the units of the program's own sources come first. */
static const char *name_sources(struct cmt_reader *r)
{
	char text[5000];
	uint64_t others = 0;
	const char *first = NULL;
	for (uint64_t i = 0; i < r->unit_count; i++) {
		if (!r->units[i]->is_registered)
			continue;
		others += first != NULL;
		if (!first)
			first = r->units[i]->path;
	}
	if (!first)
		return "";
	int length = others ? snprintf(text, sizeof(text), "%s and %llu other%s", first,
				      (unsigned long long)others, others > 1 ? "s" : "")
			    : snprintf(text, sizeof(text), "%s", first);
	if (length < 0 || (size_t)length >= sizeof(text))
		length = (int)sizeof(text) - 1;
	return retype_intern(r->types, text, (size_t)length);
}

static enum hg_status read_cmt_files(
	struct cmt_reader *r, const char *const *directories, size_t count)
{
	BASE_TRY(cmt_want_locations(r));
	if (r->wanted_count == 0)
		return HG_OK;
	BASE_TRY(cmt_find_files(r, directories, count));
	BASE_TRY(cmt_find_locations(r));
	cmt_make_locations(r);
	cmt_make_units(r);
	cmt_complete_declarations(r);
	return r->status != HG_OK ? r->status : r->types->status;
}

enum hg_status retype_cmt400_read(struct retype_types *types, const char *const *directories,
	size_t count, struct snap *snap, const char **source, struct hg_error *error)
{
	struct cmt_reader r = {.types = types,
		.snap = snap,
		.error = error,
		.pool = &types->pool,
		.budget = CMT_WORK_BUDGET};
	enum hg_status status = read_cmt_files(&r, directories, count);
	*source = status == HG_OK ? name_sources(&r) : "";
	release_cmt_reader(&r);
	types->is_400 = true;
	types->ocaml_version = "4.00.1";
	return status;
}
