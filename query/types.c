#include "query/types.h"

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

struct named_type {
	char *name;
	uint32_t type;
};

static int by_name(const void *a, const void *b)
{
	const struct named_type *x = a, *y = b;
	int order = strcmp(x->name, y->name);
	return order ? order : (x->type > y->type) - (x->type < y->type);
}

static enum hg_status name_types(struct hg_snapshot *snapshot, const bool *met, uint32_t count,
	struct named_type *named, uint32_t *named_count)
{
	char name[QUERY_LONGEST_NAME];
	for (uint32_t i = 1; i < count; i++) {
		if (!met[i])
			continue;
		hg_type_name(snapshot, i, name, sizeof(name));
		named[*named_count] = (struct named_type){strdup(name), i};
		if (!named[*named_count].name)
			return base_no_memory(&snapshot->session->error, strlen(name));
		++*named_count;
	}
	return HG_OK;
}

enum hg_status query_types_by_name(struct hg_snapshot *snapshot, uint32_t **out)
{
	bool *met;
	struct named_type *named = NULL;
	uint32_t count = retype_term_count(&snapshot->retype.types), named_count = 0, first = 0;
	BASE_TRY(query_types_met(snapshot, &met));
	enum hg_status status =
		query_alloc(snapshot, (uint64_t)count + 1, sizeof(**out), (void **)out);
	if (status == HG_OK)
		status =
			query_alloc(snapshot, (uint64_t)count + 1, sizeof(*named), (void **)&named);
	if (status == HG_OK)
		status = name_types(snapshot, met, count, named, &named_count);
	if (status == HG_OK)
		qsort(named, named_count, sizeof(*named), by_name);
	for (uint32_t i = 0; i < named_count && status == HG_OK; i++) {
		if (strcmp(named[i].name, named[first].name) != 0)
			first = i;
		(*out)[named[i].type] = named[first].type;
	}
	for (uint32_t i = 0; i < named_count; i++)
		free(named[i].name);
	free(named);
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
