/* A walk over the brackets and strings of a document. */
#include "query/shared/json_layout.h"

/* Brackets within each other, at most: a bit for each says which it is. */
enum { DEEPEST = 64 };

static uint64_t skip_blanks(const struct query_json *json, uint64_t at)
{
	while (at < json->size && (json->bytes[at] == ' ' || json->bytes[at] == '\n' ||
					  json->bytes[at] == '\r' || json->bytes[at] == '\t'))
		at++;
	return at;
}

/* The byte there; 0, which no document has, at the end. */
static uint8_t byte_at(const struct query_json *json, uint64_t at)
{
	return at < json->size ? json->bytes[at] : 0;
}

static enum hg_status refuse_byte(const struct query_json *json, uint64_t at, const char *wanted)
{
	if (at >= json->size)
		return base_corrupt(json->error, json->size, "the JSON is cut short");
	return base_corrupt(
		json->error, at, "the JSON has byte 0x%02x instead of %s", json->bytes[at], wanted);
}

static enum hg_status take(const struct query_json *json, uint64_t *at, char byte)
{
	char wanted[] = {'\'', byte, '\'', '\0'};
	*at = skip_blanks(json, *at);
	if (byte_at(json, *at) != (uint8_t)byte)
		return refuse_byte(json, *at, wanted);
	(*at)++;
	return HG_OK;
}

/* From its quotation mark to behind the other one. */
static enum hg_status skip_string(const struct query_json *json, uint64_t *at)
{
	uint64_t i = *at;
	if (byte_at(json, i) != '"')
		return refuse_byte(json, i, "a string");
	for (i++; i < json->size && json->bytes[i] != '"'; i++) {
		if (json->bytes[i] < ' ')
			return refuse_byte(json, i, "a character of a string");
		if (json->bytes[i] == '\\')
			i++;
	}
	if (i >= json->size)
		return refuse_byte(json, i, "");
	*at = i + 1;
	return HG_OK;
}

static bool is_scalar(uint8_t byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
	       (byte >= 'A' && byte <= 'Z') || byte == '+' || byte == '-' || byte == '.';
}

/* The brackets that are open; the last one is the lowest bit, 1 for a brace. */
struct nest {
	uint64_t braces;
	unsigned depth, deepest;
};

static enum hg_status step_bracket(const struct query_json *json, uint64_t at, struct nest *nest)
{
	uint8_t byte = json->bytes[at];
	bool brace = byte == '{' || byte == '}';
	if (byte == '{' || byte == '[') {
		if (nest->depth == nest->deepest)
			return base_corrupt(json->error, at,
				"the JSON has %u brackets within each other, or more than allowed "
				"here",
				nest->depth + 1);
		nest->braces = nest->braces << 1 | brace;
		nest->depth++;
		return HG_OK;
	}
	if (nest->depth == 0 || (nest->braces & 1) != brace)
		return refuse_byte(json, at, "what closes the last bracket");
	nest->braces >>= 1;
	nest->depth--;
	return HG_OK;
}

/* From a value to behind it. */
static enum hg_status skip_value(const struct query_json *json, uint64_t *at, unsigned deepest)
{
	struct nest nest = {.deepest = deepest};
	do {
		*at = skip_blanks(json, *at);
		uint8_t byte = byte_at(json, *at);
		if (byte == '"') {
			BASE_TRY(skip_string(json, at));
		} else if (is_scalar(byte)) {
			while (is_scalar(byte_at(json, *at)))
				(*at)++;
		} else if (byte == '{' || byte == '[' || byte == '}' || byte == ']') {
			BASE_TRY(step_bracket(json, *at, &nest));
			(*at)++;
		} else if ((byte == ',' || byte == ':') && nest.depth) {
			(*at)++;
		} else {
			return refuse_byte(json, *at, "a value");
		}
	} while (nest.depth);
	return HG_OK;
}

bool query_json_is_object(const uint8_t *bytes, size_t size)
{
	const struct query_json json = {bytes, size, NULL};
	uint64_t at = skip_blanks(&json, 0);
	if (byte_at(&json, at) != '{')
		return false;
	at = skip_blanks(&json, at + 1);
	return byte_at(&json, at) == '"' || byte_at(&json, at) == '}';
}

/* What stands between elements: true at *more if one follows. */
static enum hg_status next_element(
	const struct query_json *json, uint64_t *at, bool first, char closing, bool *more)
{
	*at = skip_blanks(json, *at);
	*more = byte_at(json, *at) != (uint8_t)closing;
	if (*more && !first)
		return take(json, at, ',');
	return HG_OK;
}

enum hg_status query_json_member(const struct query_json *json, uint64_t *at,
	struct query_json_part *key, struct query_json_part *value, bool *more)
{
	bool first = *at == 0;
	if (first)
		BASE_TRY(take(json, at, '{'));
	BASE_TRY(next_element(json, at, first, '}', more));
	if (!*more) {
		*at = skip_blanks(json, *at + 1);
		return *at == json->size ? HG_OK : refuse_byte(json, *at, "the end of the file");
	}
	key->start = *at = skip_blanks(json, *at);
	BASE_TRY(skip_string(json, at));
	key->end = *at;
	BASE_TRY(take(json, at, ':'));
	value->start = *at = skip_blanks(json, *at);
	BASE_TRY(skip_value(json, at, DEEPEST));
	value->end = *at;
	return HG_OK;
}

enum hg_status query_json_element(const struct query_json *json,
	const struct query_json_part *array, uint64_t *at, struct query_json_part *object,
	bool *more)
{
	bool first = *at == 0;
	if (first) {
		*at = array->start;
		BASE_TRY(take(json, at, '['));
	}
	BASE_TRY(next_element(json, at, first, ']', more));
	if (!*more)
		return HG_OK;
	object->start = *at = skip_blanks(json, *at);
	if (byte_at(json, *at) != '{')
		return refuse_byte(json, *at, "an object");
	BASE_TRY(skip_value(json, at, 1));
	object->end = *at;
	return HG_OK;
}
