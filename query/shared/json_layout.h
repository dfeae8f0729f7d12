/*
 * Where the parts of a JSON document lie, so that a library need never be given more than one of
 * them: a hostile document of some megabytes would become gigabytes of small objects otherwise.
 * Only brackets, strings and blanks are looked at; what stands in a part is for who reads it.
 */
#ifndef QUERY_SHARED_JSON_LAYOUT_H
#define QUERY_SHARED_JSON_LAYOUT_H

#include "base/error.h"

/* Bytes of the document, from one offset up to another one. */
struct query_json_part {
	uint64_t start, end;
};

struct query_json {
	const uint8_t *bytes;
	uint64_t size;
	struct hg_error *error;
};

/* Whether bytes begin like an object: a brace, and then a string or the end of the object. */
bool query_json_is_object(const uint8_t *bytes, size_t size);

/*
 * The members of the object that is the whole document, one after the other: *at begins as 0 and
 * is where the next one is looked for.  False at *more, when there is none, and nothing but blanks
 * behind the object.  The key has its quotation marks.
 */
enum hg_status query_json_member(const struct query_json *json, uint64_t *at,
	struct query_json_part *key, struct query_json_part *value, bool *more);

/*
 * The same for the elements of an array, which must be objects without objects and arrays in them.
 */
enum hg_status query_json_element(const struct query_json *json,
	const struct query_json_part *array, uint64_t *at, struct query_json_part *object,
	bool *more);

#endif
