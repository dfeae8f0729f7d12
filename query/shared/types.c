/* The types that blocks have: by name, by pattern, and which stands for those of one name. */
#include "query/shared/types.h"

#include "base/assert.h"

#include "query/shared/aliases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum hg_status query_types_met(struct hg_snapshot *snapshot, bool **out)
{
	const struct retype *retype = &snapshot->retype;
	uint32_t count = retype_term_count(&retype->types);
	BASE_TRY(query_alloc(snapshot, (uint64_t)count + 1, sizeof(**out), (void **)out));
	for (uint64_t i = 0; retype->blocks && i < snapshot->snap.block_count; i++) {
		base_assert(retype->blocks[i].type < count || count == 0);
		(*out)[retype->blocks[i].type] = true;
	}
	for (unsigned tag = 0; tag < 256; tag++)
		(*out)[retype->by_tag[tag]] = true;
	(*out)[snapshot->memprof_own ? snapshot->memprof_type.n : 0] = true;
	(*out)[0] = false;
	return HG_OK;
}

static enum hg_status match_names(struct hg_snapshot *snapshot, const struct base_pattern *pattern,
	const char *literal, uint32_t count, bool *types)
{
	char name[QUERY_LONGEST_NAME];
	struct hg_error *error = &snapshot->session->error;
	for (uint32_t i = 1; i < count; i++) {
		if (!types[i])
			continue;
		hg_type_name(snapshot, i, name, sizeof(name));
		if (literal)
			types[i] = strcmp(name, literal) == 0;
		else
			BASE_TRY(base_pattern_match(pattern, name, &types[i], error));
	}
	return HG_OK;
}

enum hg_status query_types_match(struct hg_snapshot *snapshot, const struct base_pattern *pattern,
	const char *literal, bool **out)
{
	uint32_t count = retype_term_count(&snapshot->retype.types);
	BASE_TRY(query_types_met(snapshot, out));
	enum hg_status status = match_names(snapshot, pattern, literal, count, *out);
	if (status != HG_OK)
		free(*out);
	return status;
}

enum hg_status query_types_have(struct hg_snapshot *snapshot, const char *name, bool *out)
{
	bool *types;
	uint32_t count = retype_term_count(&snapshot->retype.types);
	*out = false;
	BASE_TRY(query_types_match(snapshot, NULL, name, &types));
	for (uint32_t i = 1; i < count; i++)
		*out |= types[i];
	free(types);
	return HG_OK;
}

enum hg_status query_types_by_name(struct hg_snapshot *snapshot, uint32_t **out)
{
	bool *met;
	char name[QUERY_LONGEST_NAME];
	struct query_aliases aliases = {0};
	uint32_t count = retype_term_count(&snapshot->retype.types);
	BASE_TRY(query_types_met(snapshot, &met));
	enum hg_status status =
		query_alloc(snapshot, (uint64_t)count + 1, sizeof(**out), (void **)out);
	for (uint32_t i = 1; i < count && status == HG_OK; i++) {
		if (!met[i])
			continue;
		hg_type_name(snapshot, i, name, sizeof(name));
		status = query_aliases_add(snapshot, &aliases, name, i);
	}
	if (status == HG_OK)
		query_aliases_resolve(&aliases, *out);
	query_aliases_release(&aliases);
	free(met);
	return status;
}

enum hg_status query_pattern(
	struct hg_snapshot *snapshot, const char *text, struct base_pattern *out)
{
	struct hg_error *error = &snapshot->session->error;
	if (!*text)
		return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET, "an empty pattern");
	return base_pattern_compile(out, text, error);
}

enum hg_status query_types_of_pattern(struct hg_snapshot *snapshot, const char *pattern, bool **out)
{
	struct base_pattern compiled = {0};
	*out = NULL;
	if (!pattern)
		return HG_OK;
	BASE_TRY(query_pattern(snapshot, pattern, &compiled));
	enum hg_status status = query_types_match(snapshot, &compiled, NULL, out);
	base_pattern_release(&compiled);
	return status;
}
