/*
 * JSON, for programs: one object with schema_version and verb, sections as objects and tables as
 * arrays of objects in it, one row a line.  Addresses are strings of hexadecimal, shares basis
 * points; what is not known is null.
 */
#include "report/writers/writer.h"

#include "report/writers/emitter.h"
#include "report/writers/json_stream.h"

#include <string.h>

enum { SCHEMA_VERSION = 2 };

static void release_json(void *state)
{
	rep_text_release(&((struct rep_json *)state)->scratch);
}

static void begin_json_document(struct rep_emitter *emitter, const char *verb)
{
	struct rep_json *json = emitter->state;
	rep_json_init(json, emitter->stream);
	rep_json_begin(json, '{', false);
	rep_json_key(json, "schema_version");
	rep_json_unsigned(json, SCHEMA_VERSION);
	rep_json_key(json, "verb");
	rep_json_string(json, verb, strlen(verb));
}

static void end_json_document(struct rep_emitter *emitter)
{
	struct rep_json *json = emitter->state;
	rep_json_end(json, '}');
	rep_json_release(json);
}

static void begin_json_section(struct rep_emitter *emitter, const char *key, const char *title)
{
	(void)title;
	rep_json_key(emitter->state, key);
	rep_json_begin(emitter->state, '{', false);
}

static void end_json_section(struct rep_emitter *emitter)
{
	rep_json_end(emitter->state, '}');
}

static void spell_json(struct rep_json *json, const struct rep_value *value)
{
	switch (value->type) {
	case REP_VALUE_STRING:
		rep_json_string(json, value->string.bytes, value->string.length);
		break;
	case REP_VALUE_NUMBER:
		if (value->kind == REP_ADDRESS)
			rep_json_address(json, value->number);
		else
			rep_json_unsigned(json, value->number);
		break;
	case REP_VALUE_BOOL:
		rep_json_bool(json, value->is_true);
		break;
	case REP_VALUE_CHANGE:
		rep_json_signed(json, (int64_t)(value->change.to - value->change.from));
		break;
	case REP_VALUE_SHARE:
		rep_json_unsigned(json, rep_basis_points(value->share.part, value->share.whole));
		break;
	case REP_VALUE_NONE:
		rep_json_null(json);
		break;
	}
}

static void put_json_value(struct rep_emitter *emitter, const char *key, const char *label,
	const struct rep_value *value)
{
	(void)label;
	if (!key)
		return;
	rep_json_key(emitter->state, key);
	spell_json(emitter->state, value);
}

static void begin_json_table(struct rep_emitter *emitter, const char *key)
{
	rep_json_key(emitter->state, key);
	rep_json_begin(emitter->state, '[', false);
}

static void end_json_table(struct rep_emitter *emitter)
{
	rep_json_end(emitter->state, ']');
}

static void begin_json_row(struct rep_emitter *emitter)
{
	rep_json_begin(emitter->state, '{', true);
}

static void put_json_cell(
	struct rep_emitter *emitter, const struct rep_column *column, const struct rep_value *value)
{
	if (!column->key)
		return;
	rep_json_key(emitter->state, column->key);
	spell_json(emitter->state, value);
}

static void end_json_row(struct rep_emitter *emitter)
{
	rep_json_end(emitter->state, '}');
}

const struct rep_writer rep_writer_json = {
	.name = "json",
	.tells_all = true,
	.state_size = sizeof(struct rep_json),
	.release = release_json,
	.document_begin = begin_json_document,
	.document_end = end_json_document,
	.section_begin = begin_json_section,
	.section_end = end_json_section,
	.row_begin = begin_json_row,
	.table_end = end_json_table,
	.value = put_json_value,
	.table_begin = begin_json_table,
	.cell = put_json_cell,
	.row_end = end_json_row,
};
