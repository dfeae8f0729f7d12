/*
 * Members of objects in a JSON document that somebody hands us, each checked as it is asked for.
 * Failures name the member and the offset of its object.
 */
#ifndef QUERY_SHARED_JSON_FIELDS_H
#define QUERY_SHARED_JSON_FIELDS_H

#include "query/shared/json_layout.h"
#include "base/pool.h"

#include <jansson.h>

/* The largest number that every reader of JSON has exactly; more bytes no machine has. */
#define QUERY_JSON_MOST (UINT64_C(1) << 53)

struct query_fields {
	const struct query_json *json;
	struct base_pool *pool; /* of strings */
	json_t *value;
	uint64_t offset;
};

/* Reads a part, which is an object without others in it or no object; close it then. */
enum hg_status query_fields_open(struct query_fields *fields, const struct query_json *json,
	struct base_pool *pool, const struct query_json_part *part);
void query_fields_close(struct query_fields *fields);

/* 0 to 'most'. */
enum hg_status query_field_number(
	const struct query_fields *fields, const char *name, uint64_t most, uint64_t *out);
/* The same, HG_UNKNOWN if there is no such member or it is null. */
enum hg_status query_field_known(
	const struct query_fields *fields, const char *name, uint64_t most, uint64_t *out);
enum hg_status query_field_bool(const struct query_fields *fields, const char *name, bool *out);
/* "" if there is none. */
enum hg_status query_field_string(
	const struct query_fields *fields, const char *name, const char **out);
/* One that must be there, in which \\ is a backslash and \xHH a byte that is no UTF-8. */
enum hg_status query_field_exact(
	const struct query_fields *fields, const char *name, const char **out);

/* If the part itself, and no member of it, is such a value: as above. */
enum hg_status query_value_exact(
	const struct query_fields *fields, const char *name, const char **out);

#endif
