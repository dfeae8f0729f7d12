/* What jansson reads of parts of a document, checked member by member. */
#include "query/shared/json_fields.h"

#include <string.h>

/* No row is longer: a path has at most 500 names.  jansson takes some twenty times as much. */
enum { LONGEST_PART = 16 << 20 };

static enum hg_status refuse_member(
	const struct query_fields *fields, const char *name, const char *wanted)
{
	return base_corrupt(
		fields->json->error, fields->offset, "'%s' is missing or is not %s", name, wanted);
}

enum hg_status query_fields_open(struct query_fields *fields, const struct query_json *json,
	struct base_pool *pool, const struct query_json_part *part)
{
	json_error_t error;
	uint64_t length = part->end - part->start;
	*fields = (struct query_fields){.json = json, .pool = pool, .offset = part->start};
	if (length > LONGEST_PART)
		return base_corrupt(json->error, part->start,
			"the JSON has an object or value of %llu bytes",
			(unsigned long long)length);
	fields->value = json_loadb((const char *)json->bytes + part->start, length,
		JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
	if (fields->value)
		return HG_OK;
	if (json_error_code(&error) == json_error_out_of_memory)
		return base_no_memory(json->error, length);
	uint64_t position = error.position > 0 ? (uint64_t)error.position : 0;
	return base_corrupt(json->error, part->start + (position < length ? position : length),
		"no valid JSON: %s", error.text);
}

void query_fields_close(struct query_fields *fields)
{
	json_decref(fields->value);
	fields->value = NULL;
}

enum hg_status query_field_known(
	const struct query_fields *fields, const char *name, uint64_t most, uint64_t *out)
{
	const json_t *member = json_object_get(fields->value, name);
	*out = HG_UNKNOWN;
	if (!member || json_is_null(member))
		return HG_OK;
	json_int_t number = json_is_integer(member) ? json_integer_value(member) : -1;
	if (number < 0 || (uint64_t)number > most) {
		char wanted[64];
		snprintf(wanted, sizeof(wanted), "a whole number from 0 to %llu",
			(unsigned long long)most);
		return refuse_member(fields, name, wanted);
	}
	*out = (uint64_t)number;
	return HG_OK;
}

enum hg_status query_field_number(
	const struct query_fields *fields, const char *name, uint64_t most, uint64_t *out)
{
	BASE_TRY(query_field_known(fields, name, most, out));
	return *out == HG_UNKNOWN ? refuse_member(fields, name, "a number") : HG_OK;
}

enum hg_status query_field_bool(const struct query_fields *fields, const char *name, bool *out)
{
	const json_t *member = json_object_get(fields->value, name);
	if (!json_is_boolean(member))
		return refuse_member(fields, name, "true or false");
	*out = json_is_true(member);
	return HG_OK;
}

static enum hg_status keep_string(
	const struct query_fields *fields, const json_t *string, char **out)
{
	const char *kept;
	BASE_TRY(base_pool_string(fields->pool, json_string_value(string),
		json_string_length(string), &kept, fields->json->error));
	*out = (char *)(uintptr_t)kept;
	return HG_OK;
}

enum hg_status query_field_string(
	const struct query_fields *fields, const char *name, const char **out)
{
	const json_t *member = json_object_get(fields->value, name);
	char *kept;
	*out = "";
	if (!member || json_is_null(member))
		return HG_OK;
	if (!json_is_string(member))
		return refuse_member(fields, name, "a string");
	BASE_TRY(keep_string(fields, member, &kept));
	*out = kept;
	return HG_OK;
}

static int hex_digit(char c)
{
	static const char digits[] = "0123456789ABCDEF";
	const char *at = c ? strchr(digits, c) : NULL;
	return at ? (int)(at - digits) : -1;
}

/* In place; false if a backslash is followed by anything else than what is written. */
static bool undo_exact(char *text)
{
	char *to = text;
	for (const char *from = text; *from;) {
		if (*from != '\\') {
			*to++ = *from++;
		} else if (from[1] == '\\') {
			*to++ = '\\';
			from += 2;
		} else {
			int high = from[1] == 'x' ? hex_digit(from[2]) : -1;
			int low = high >= 8 ? hex_digit(from[3]) : -1;
			if (low < 0)
				return false;
			*to++ = (char)(high << 4 | low);
			from += 4;
		}
	}
	*to = '\0';
	return true;
}

static enum hg_status read_exact(
	const struct query_fields *fields, const json_t *value, const char *name, const char **out)
{
	char *kept;
	*out = "";
	if (!json_is_string(value))
		return refuse_member(fields, name, "a string");
	BASE_TRY(keep_string(fields, value, &kept));
	if (!undo_exact(kept))
		return refuse_member(
			fields, name, "a string whose backslashes are \\\\ or \\x80 to \\xFF");
	*out = kept;
	return HG_OK;
}

enum hg_status query_field_exact(
	const struct query_fields *fields, const char *name, const char **out)
{
	return read_exact(fields, json_object_get(fields->value, name), name, out);
}

enum hg_status query_value_exact(
	const struct query_fields *fields, const char *name, const char **out)
{
	return read_exact(fields, fields->value, name, out);
}
