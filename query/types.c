#include "query/types.h"

#include "query/aliases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum hg_status query_types_met(struct hg_snapshot *snapshot, bool **out)
{
	const struct retype *retype = &snapshot->retype;
	uint32_t count = retype_term_count(&retype->types);
	BASE_TRY(query_alloc(snapshot, (uint64_t)count + 1, sizeof(**out), (void **)out));
	for (uint64_t i = 0; retype->blocks && i < snapshot->snap.block_count; i++)
		(*out)[retype->blocks[i].type] = true;
	for (unsigned tag = 0; tag < 256; tag++)
		(*out)[retype->by_tag[tag]] = true;
	(*out)[0] = false;
	return HG_OK;
}

static void match_names(struct hg_snapshot *snapshot, const regex_t *regex, const char *literal,
	uint32_t count, bool *types)
{
	char name[QUERY_LONGEST_NAME];
	for (uint32_t i = 1; i < count; i++) {
		if (!types[i])
			continue;
		hg_type_name(snapshot, i, name, sizeof(name));
		types[i] = literal ? strcmp(name, literal) == 0
				   : regexec(regex, name, 0, NULL, 0) == 0;
	}
}

enum hg_status query_types_match(
	struct hg_snapshot *snapshot, const regex_t *regex, const char *literal, bool **out)
{
	BASE_TRY(query_types_met(snapshot, out));
	match_names(snapshot, regex, literal, retype_term_count(&snapshot->retype.types), *out);
	return HG_OK;
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

enum hg_status query_regex(struct hg_snapshot *snapshot, const char *text, regex_t *out)
{
	char message[200];
	struct hg_error *error = &snapshot->session->error;
	if (!*text)
		return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET, "an empty pattern");
	int trouble = regcomp(out, text, REG_EXTENDED | REG_NOSUB);
	if (!trouble)
		return HG_OK;
	regerror(trouble, out, message, sizeof(message));
	return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET,
		"'%.200s' is no regular expression: %s", text, message);
}
