/* What the units that were opened define besides types: the fields of their blocks, exceptions. */
#include "retype/cmt400_files.h"
#include "retype/cmt400_places.h"
#include "retype/cmt400_types.h"
#include "retype/cmt400_unit.h"
#include "retype/cmt400_walk.h"

#include <string.h>

/* The file with the interface of a unit; RETYPE_NONE if there is none. */
static uint32_t interface_of(struct cmt_reader *r, uint32_t unit)
{
	const char *name = r->units[unit]->name;
	for (uint32_t i = 0; i < r->file_count && r->status == HG_OK; i++) {
		uint32_t other;
		if (r->files[i].suffix == CMT_CMT ||
			!cmt_same_module(r->files[i].stem, name, strlen(name)))
			continue;
		r->status = cmt_open_file(r, i, &other);
		if (r->status == HG_OK && other != RETYPE_NONE &&
			strcmp(r->units[other]->name, name) == 0)
			return other;
	}
	return RETYPE_NONE;
}

static void make_unit(struct cmt_reader *r, uint32_t number, struct retype_unit *out)
{
	const struct cmt_unit *unit = r->units[number];
	uint32_t facade = unit->is_interface || unit->has_no_interface || unit->is_pack
				  ? number
				  : interface_of(r, number);
	*out = (struct retype_unit){.name = unit->name,
		.source = unit->source,
		.builddir = unit->builddir,
		.from_interface = unit->is_interface};
	memcpy(out->crc, unit->digest, sizeof(out->crc));
	if (facade == RETYPE_NONE || unit->is_partial || unit->is_pack)
		return;
	cmt_unit_module(r, unit->name, number);
	if (!r->units[facade]->is_registered)
		cmt_walk(r, facade, NULL);
	struct cmt_context context = cmt_context(r, facade, RETYPE_NONE);
	out->fields = cmt_module_fields(r, &context, r->units[facade]->facade, &out->field_count);
	out->exported = out->field_count;
}

static int by_name(const void *left, const void *right)
{
	return strcmp(((const struct retype_unit *)left)->name,
		((const struct retype_unit *)right)->name);
}

static int by_extension(const void *left, const void *right)
{
	return strcmp(((const struct retype_extension *)left)->name,
		((const struct retype_extension *)right)->name);
}

static void make_extensions(struct cmt_reader *r)
{
	uint64_t count = r->exception_count;
	struct retype_extension *extensions = cmt_alloc(r, count, sizeof(*extensions));
	for (uint64_t i = 0; extensions && i < count; i++) {
		struct cmt_exception e = r->exceptions[i];
		struct cmt_context context = cmt_context(r, r->scopes[e.scope].unit, RETYPE_NONE);
		extensions[i].name = cmt_qualified(r, e.scope, RETYPE_NONE, e.name);
		extensions[i].fields =
			cmt_argument_fields(r, &context, e.arguments, &extensions[i].field_count);
	}
	if (extensions && count)
		qsort(extensions, count, sizeof(*extensions), by_extension);
	r->types->extensions = extensions;
	r->types->extension_count = extensions ? (uint32_t)count : 0;
}

/* Only units that the locations led to, and their implementations: others are known by need. */
void cmt_make_units(struct cmt_reader *r)
{
	uint64_t count = r->unit_count;
	struct retype_unit *units = cmt_alloc(r, count, sizeof(*units));
	uint32_t made = 0;
	for (uint32_t i = 0; units && i < count; i++)
		if (r->units[i]->is_registered && !r->units[i]->is_interface)
			make_unit(r, i, &units[made++]);
	if (made)
		qsort(units, made, sizeof(*units), by_name);
	r->types->units = units;
	r->types->unit_count = made;
	make_extensions(r);
}
