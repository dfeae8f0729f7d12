/*
 * CSV by RFC 4180, for programs: a header, then one line for every row of the one table of a
 * document; or, of a document of sections, lines "section,name,value".  Addresses are hexadecimal,
 * numbers plain, shares basis points, truth 1 or 0; what is not known is empty.
 */
#include "report/writers/writer.h"

#include "report/writers/emitter.h"
#include "report/writers/escape.h"

struct csv_state {
	struct rep_text text; /* the cell or line being made */
	bool has_header;      /* of sections */
	bool in_row;          /* this row has a field already */
};

static void release_csv(void *state)
{
	rep_text_release(&((struct csv_state *)state)->text);
}

static void spell_csv(struct rep_text *text, const struct rep_value *value)
{
	switch (value->type) {
	case REP_VALUE_STRING:
		rep_text_escape_csv(text, value->string.bytes, value->string.length);
		break;
	case REP_VALUE_NUMBER:
		if (value->kind == REP_ADDRESS)
			rep_text_address(text, value->number);
		else
			rep_text_number(text, value->number);
		break;
	case REP_VALUE_BOOL:
		rep_text_put(text, value->is_true ? "1" : "0");
		break;
	case REP_VALUE_CHANGE:
		if (value->change.to < value->change.from)
			rep_text_put(text, "-");
		rep_text_number(text, rep_difference(value->change.from, value->change.to));
		break;
	case REP_VALUE_SHARE:
		rep_text_number(text, rep_basis_points(value->share.part, value->share.whole));
		break;
	case REP_VALUE_NONE:
		break;
	}
}

static void flush_csv(struct rep_emitter *emitter, struct rep_text *text)
{
	fwrite_unlocked(rep_text_string(text), 1, text->length, emitter->stream);
	rep_text_clear(text);
}

/* Values of the document itself are left out: there is no line for them; and those for people. */
static void put_csv_value(struct rep_emitter *emitter, const char *key, const char *label,
	const struct rep_value *value)
{
	struct csv_state *state = emitter->state;
	(void)label;
	if (!emitter->section || !key)
		return;
	if (!state->has_header)
		rep_text_put(&state->text, "section,name,value\n");
	state->has_header = true;
	rep_text_printf(&state->text, "%s,%s,", emitter->section, key);
	spell_csv(&state->text, value);
	rep_text_put(&state->text, "\n");
	flush_csv(emitter, &state->text);
}

static bool is_in_csv(const struct rep_column *column)
{
	return column->key && !(column->flags & REP_NOT_CSV);
}

static void begin_csv_table(struct rep_emitter *emitter, const char *key)
{
	const char *separator = "";
	(void)key;
	for (unsigned i = 0; i < emitter->columns_count; i++) {
		const struct rep_column *column = &emitter->columns[i];
		if (!is_in_csv(column))
			continue;
		fputs_unlocked(separator, emitter->stream);
		fputs_unlocked(column->key, emitter->stream);
		separator = ",";
	}
	putc_unlocked('\n', emitter->stream);
}

static void put_csv_cell(
	struct rep_emitter *emitter, const struct rep_column *column, const struct rep_value *value)
{
	struct csv_state *state = emitter->state;
	if (!is_in_csv(column))
		return;
	if (state->in_row)
		rep_text_add(&state->text, ",", 1);
	state->in_row = true;
	spell_csv(&state->text, value);
}

static void end_csv_row(struct rep_emitter *emitter)
{
	struct csv_state *state = emitter->state;
	rep_text_add(&state->text, "\n", 1);
	flush_csv(emitter, &state->text);
	state->in_row = false;
}

const struct rep_writer rep_writer_csv = {
	.name = "csv",
	.one_part = true,
	.state_size = sizeof(struct csv_state),
	.release = release_csv,
	.value = put_csv_value,
	.table_begin = begin_csv_table,
	.cell = put_csv_cell,
	.row_end = end_csv_row,
};
