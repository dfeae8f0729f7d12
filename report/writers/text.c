/*
 * Text for people: headlines, prose, lines "label  value", and tables whose columns are aligned.
 * The first rows of a table are held back to find the widths and the rest is streamed, so that a
 * table may have any number of rows.  Numbers have units and thousands; of long names a part is
 * shown; nothing that a terminal would obey gets through.
 */
#include "report/writers/writer.h"

#include "report/writers/emitter.h"
#include "report/writers/escape.h"

#include <stdlib.h>
#include <string.h>

enum {
	HELD_ROWS = 2000,    /* rows that decide on the widths */
	NAME_COLUMNS = 120,  /* of a longer name the end is shown: a location ends in its line */
	LABEL_COLUMNS = 240, /* indented, with an address, a type and a location */
	BAR_COLUMNS = 10
};

static const char *const style_codes[] = {
	"", "\033[1m", "\033[2m", "\033[32m", "\033[31;1m", "\033[36m"};

/* A cell of a row that is held back; its bytes are at 'offset' in 'held'. */
struct held_cell {
	size_t offset, length, columns;
};

struct text_state {
	struct rep_text cell; /* the cell or line being made */
	struct rep_text held; /* cells of the rows held back, with the header first */
	struct held_cell *cells;
	size_t cells_count, cells_capacity;
	size_t widths[REP_MAX_COLUMNS];
	bool streaming; /* the widths are known, and the header is written */
};

static void release_text(void *state)
{
	struct text_state *text = state;
	rep_text_release(&text->cell);
	rep_text_release(&text->held);
	free(text->cells);
}

static void write_text(struct rep_emitter *emitter, const char *bytes, size_t length)
{
	fwrite_unlocked(bytes, 1, length, emitter->stream);
}

static void begin_style(struct rep_emitter *emitter, enum rep_style style)
{
	if (emitter->colour)
		fputs_unlocked(style_codes[style], emitter->stream);
}

static void end_style(struct rep_emitter *emitter, enum rep_style style)
{
	if (emitter->colour && style != REP_PLAIN)
		fputs_unlocked("\033[0m", emitter->stream);
}

static void write_spaces(struct rep_emitter *emitter, size_t count)
{
	while (count--)
		putc_unlocked(' ', emitter->stream);
}

static void write_prose(
	struct rep_emitter *emitter, enum rep_style style, const char *format, va_list arguments)
{
	begin_style(emitter, style);
	vfprintf(emitter->stream, format, arguments);
	end_style(emitter, style);
}

static void begin_text_section(struct rep_emitter *emitter, const char *key, const char *title)
{
	(void)key;
	if (title)
		rep_headline(emitter, title);
}

/* Spelling */

static void spell_text_string(struct rep_text *text, const struct rep_value *value, unsigned flags)
{
	size_t start = text->length;
	rep_text_escape_terminal(text, value->string.bytes, value->string.length);
	if (flags & REP_LABEL)
		rep_text_shorten(text, start, LABEL_COLUMNS, REP_GUESS_MARK);
	else if (flags & REP_HEAD)
		rep_text_shorten(text, start, NAME_COLUMNS, REP_GUESS_MARK);
	else
		rep_text_keep_end(text, start, NAME_COLUMNS);
}

static void spell_text_number(struct rep_text *text, enum rep_kind kind, uint64_t number)
{
	switch (kind) {
	case REP_BYTES:
	case REP_CHANGE_BYTES:
		rep_text_size(text, number);
		break;
	case REP_COUNT:
	case REP_CHANGE_COUNT:
		rep_text_count(text, number);
		break;
	case REP_ADDRESS:
		rep_text_address(text, number);
		break;
	default:
		rep_text_number(text, number);
		break;
	}
}

static void spell_text_change(struct rep_text *text, enum rep_kind kind, uint64_t from, uint64_t to)
{
	rep_text_put(text, to < from ? "-" : to > from ? "+" : "");
	spell_text_number(text, kind, rep_difference(from, to));
}

/* "12.3 % #", a mark for every tenth. */
static void spell_text_share(struct rep_text *text, uint64_t part, uint64_t whole)
{
	struct rep_text percent = {0};
	uint64_t points = rep_basis_points(part, whole);
	rep_text_percent(&percent, part, whole);
	rep_text_printf(text, "%7s", rep_text_string(&percent));
	rep_text_release(&percent);
	for (uint64_t i = 0; i < BAR_COLUMNS && i * 1000 + 500 <= points; i++)
		rep_text_put(text, i ? "#" : " #");
}

static void spell_text(struct rep_text *text, const struct rep_value *value, unsigned flags)
{
	switch (value->type) {
	case REP_VALUE_STRING:
		spell_text_string(text, value, flags);
		break;
	case REP_VALUE_NUMBER:
		spell_text_number(text, value->kind, value->number);
		break;
	case REP_VALUE_BOOL:
		rep_text_put(text, value->is_true ? "yes" : "no");
		break;
	case REP_VALUE_CHANGE:
		spell_text_change(text, value->kind, value->change.from, value->change.to);
		break;
	case REP_VALUE_SHARE:
		spell_text_share(text, value->share.part, value->share.whole);
		break;
	case REP_VALUE_NONE:
		break;
	}
}

static void put_text_value(struct rep_emitter *emitter, const char *key, const char *label,
	const struct rep_value *value)
{
	struct text_state *state = emitter->state;
	(void)key;
	if (!label)
		return;
	rep_text_clear(&state->cell);
	rep_text_printf(&state->cell, "  %-20s ", label);
	spell_text(&state->cell, value, 0);
	rep_text_put(&state->cell, "\n");
	write_text(emitter, rep_text_string(&state->cell), state->cell.length);
}

/* Tables */

static bool is_in_text(const struct rep_column *column)
{
	return column->title != NULL;
}

static bool is_right_aligned(enum rep_kind kind)
{
	return kind >= REP_BYTES && kind != REP_SHARE;
}

/* Keeps the finished cell of a held row, or of the row being streamed. */
static void hold_cell(struct rep_emitter *emitter)
{
	struct text_state *state = emitter->state;
	if (state->cells_count == state->cells_capacity) {
		size_t capacity = state->cells_capacity ? state->cells_capacity * 2 : 256;
		struct held_cell *cells = realloc(state->cells, capacity * sizeof(*cells));
		if (!cells) {
			emitter->failed = true;
			return;
		}
		state->cells = cells;
		state->cells_capacity = capacity;
	}
	size_t length = state->cell.length;
	const char *bytes = rep_text_string(&state->cell);
	state->cells[state->cells_count++] =
		(struct held_cell){state->held.length, length, rep_text_columns(bytes, length)};
	rep_text_add(&state->held, bytes, length);
}

/* Blanks are owed until something follows them, so that no line ends with any. */
static void write_cell(struct rep_emitter *emitter, const struct held_cell *cell, size_t width,
	const struct rep_column *column, bool header, size_t *blanks)
{
	struct text_state *state = emitter->state;
	size_t padding = cell->columns < width ? width - cell->columns : 0;
	bool left = !is_right_aligned(column->kind) || (column->flags & REP_LAST);
	enum rep_style style = header ? REP_BOLD : column->kind == REP_SHARE ? REP_BAR : REP_PLAIN;
	*blanks += left ? 0 : padding;
	if (cell->length) {
		write_spaces(emitter, *blanks);
		*blanks = 0;
		begin_style(emitter, style);
		write_text(emitter, rep_text_string(&state->held) + cell->offset, cell->length);
		end_style(emitter, style);
	}
	*blanks += left ? padding : 0;
}

/* Columns that may be of any length come after all others. */
static void write_text_row(struct rep_emitter *emitter, const struct held_cell *cells, bool header)
{
	struct text_state *state = emitter->state;
	size_t blanks = 0;
	for (unsigned pass = 0; pass < 2; pass++) {
		for (unsigned i = 0; i < emitter->columns_count; i++) {
			const struct rep_column *column = &emitter->columns[i];
			bool last = column->flags & REP_LAST;
			if (!is_in_text(column) || last != (pass == 1))
				continue;
			blanks += 2;
			write_cell(emitter, &cells[i], state->widths[i], column, header, &blanks);
		}
	}
	putc_unlocked('\n', emitter->stream);
}

static void find_widths(struct rep_emitter *emitter)
{
	struct text_state *state = emitter->state;
	for (size_t i = 0; i < state->cells_count; i++) {
		size_t *width = &state->widths[i % emitter->columns_count];
		if (state->cells[i].columns > *width)
			*width = state->cells[i].columns;
	}
}

static void write_held_rows(struct rep_emitter *emitter)
{
	struct text_state *state = emitter->state;
	if (rep_emitter_broken(emitter))
		return;
	bool header = !state->streaming;
	if (header)
		find_widths(emitter);
	for (size_t i = 0; i < state->cells_count; i += emitter->columns_count) {
		write_text_row(emitter, &state->cells[i], header);
		header = false;
	}
	/* A header alone leaves open whether something is missing. */
	if (!state->streaming && state->cells_count == emitter->columns_count)
		fputs("  (none)\n", emitter->stream);
	state->cells_count = 0;
	rep_text_clear(&state->held);
	state->streaming = true;
}

static void begin_text_table(struct rep_emitter *emitter, const char *key)
{
	struct text_state *state = emitter->state;
	(void)key;
	state->cells_count = 0;
	state->streaming = false;
	rep_text_clear(&state->held);
	memset(state->widths, 0, sizeof(state->widths));
	for (unsigned i = 0; i < emitter->columns_count; i++) {
		const struct rep_column *column = &emitter->columns[i];
		rep_text_clear(&state->cell);
		if (is_in_text(column))
			rep_text_put(&state->cell, column->title);
		hold_cell(emitter);
	}
}

static void put_text_cell(
	struct rep_emitter *emitter, const struct rep_column *column, const struct rep_value *value)
{
	struct text_state *state = emitter->state;
	rep_text_clear(&state->cell);
	if (is_in_text(column))
		spell_text(&state->cell, value, column->flags);
	hold_cell(emitter);
}

static void end_text_row(struct rep_emitter *emitter)
{
	struct text_state *state = emitter->state;
	if (state->streaming || state->cells_count >= (size_t)HELD_ROWS * emitter->columns_count)
		write_held_rows(emitter);
}

const struct rep_writer rep_writer_text = {
	.name = "text",
	.for_people = true,
	.state_size = sizeof(struct text_state),
	.release = release_text,
	.section_begin = begin_text_section,
	.prose = write_prose,
	.table_end = write_held_rows,
	.value = put_text_value,
	.table_begin = begin_text_table,
	.cell = put_text_cell,
	.row_end = end_text_row,
};
