/*
 * Text for people: headlines, prose, lines "label  value", and tables whose columns are aligned.
 * The first rows of a table are held back to find the widths and the rest is streamed, so that a
 * table may have any number of rows.  Numbers have units and thousands; nothing that a terminal
 * would obey gets through.  On a terminal no line is longer than those of the terminal (fit.h);
 * elsewhere nothing is cut.
 */
#include "report/writers/writer.h"

#include "report/writers/emitter.h"
#include "report/writers/escape.h"
#include "report/writers/fit.h"

#include <stdlib.h>
#include <string.h>

enum {
	HELD_ROWS = 2000,     /* rows that decide on the widths */
	HELD_BYTES = 1 << 24, /* so do fewer of longer names */
	PADDED_COLUMNS = 120, /* cells are not aligned with longer ones */
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

	/* A terminal's: the line of prose that is not complete, and the style of its bytes. */
	struct rep_text line, styles;
	struct rep_text dropped; /* names of the columns that there was no room for */
};

static void release_text(void *state)
{
	struct text_state *text = state;
	rep_text_release(&text->cell);
	rep_text_release(&text->held);
	free(text->cells);
	rep_text_release(&text->line);
	rep_text_release(&text->styles);
	rep_text_release(&text->dropped);
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

/* Bytes of the line of prose, each in its style. */
static void write_styled(struct rep_emitter *emitter, size_t start, size_t end)
{
	const struct text_state *state = emitter->state;
	const char *bytes = rep_text_string(&state->line), *styles = state->styles.bytes;
	while (start < end) {
		size_t to = start + 1;
		while (to < end && styles[to] == styles[start])
			to++;
		begin_style(emitter, (enum rep_style)styles[start]);
		write_text(emitter, bytes + start, to - start);
		end_style(emitter, (enum rep_style)styles[start]);
		start = to;
	}
}

static const char *ellipsis_of(const struct rep_emitter *emitter)
{
	return emitter->utf8 ? "\xe2\x80\xa6" : "...";
}

/* The line of prose, in as many lines of the terminal as it takes. */
static void write_line(struct rep_emitter *emitter)
{
	struct text_state *state = emitter->state;
	const char *bytes = rep_text_string(&state->line);
	size_t length = state->line.length, at = 0;
	while (at < length) {
		struct rep_fit_piece piece = rep_fit_next(bytes, length, at, emitter->room);
		write_spaces(emitter, piece.indent);
		if (piece.cut) {
			rep_text_clear(&state->cell);
			rep_fit_cut(&state->cell, bytes + piece.start, piece.end - piece.start,
				emitter->room - piece.indent, 0, ellipsis_of(emitter));
			write_text(emitter, rep_text_string(&state->cell), state->cell.length);
		} else {
			write_styled(emitter, piece.start, piece.end);
		}
		at = piece.end;
		while (at < length && bytes[at] == ' ')
			at++;
		if (at < length)
			fputs_unlocked(piece.goes_on ? " \\\n" : "\n", emitter->stream);
	}
	rep_text_clear(&state->line);
	rep_text_clear(&state->styles);
}

/* Prose for a terminal, whose lines may come in parts. */
static void add_prose(
	struct rep_emitter *emitter, enum rep_style style, const char *bytes, size_t length)
{
	struct text_state *state = emitter->state;
	for (size_t i = 0; i < length; i++) {
		char as_byte = (char)style;
		if (bytes[i] == '\n') {
			write_line(emitter);
			putc_unlocked('\n', emitter->stream);
			continue;
		}
		rep_text_add(&state->line, bytes + i, 1);
		rep_text_add(&state->styles, &as_byte, 1);
	}
	emitter->failed |= state->line.failed || state->styles.failed;
}

static void write_prose(
	struct rep_emitter *emitter, enum rep_style style, const char *format, va_list arguments)
{
	if (emitter->room) {
		struct rep_text prose = {0};
		rep_text_vprintf(&prose, format, arguments);
		add_prose(emitter, style, rep_text_string(&prose), prose.length);
		emitter->failed |= prose.failed;
		rep_text_release(&prose);
		return;
	}
	begin_style(emitter, style);
	vfprintf(emitter->stream, format, arguments);
	end_style(emitter, style);
}

/* A line of prose that nothing ended. */
static void end_text_document(struct rep_emitter *emitter)
{
	write_line(emitter);
}

static void begin_text_section(struct rep_emitter *emitter, const char *key, const char *title)
{
	(void)key;
	if (title)
		rep_headline(emitter, title);
}

/* Spelling */

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

static void spell_text(struct rep_text *text, const struct rep_value *value)
{
	switch (value->type) {
	case REP_VALUE_STRING:
		rep_text_escape_terminal(text, value->string.bytes, value->string.length);
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
	spell_text(&state->cell, value);
	rep_prose(emitter, REP_PLAIN, "%s\n", rep_text_string(&state->cell));
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
		(struct held_cell){state->held.length, length, rep_text_width(bytes, length)};
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
	const char *bytes = rep_text_string(&state->held) + cell->offset;
	size_t length = cell->length;
	if (emitter->room && cell->columns > width && column->kind == REP_SHARE) {
		length = width; /* without its bar */
	} else if (emitter->room && cell->columns > width && rep_fit_may_cut(column)) {
		rep_text_clear(&state->cell);
		rep_fit_cut(
			&state->cell, bytes, length, width, column->flags, ellipsis_of(emitter));
		bytes = rep_text_string(&state->cell);
		length = state->cell.length;
	}
	*blanks += left ? 0 : padding;
	if (cell->length) {
		write_spaces(emitter, *blanks);
		*blanks = 0;
		begin_style(emitter, style);
		write_text(emitter, bytes, length);
		end_style(emitter, style);
	}
	*blanks += left ? padding : 0;
}

/* What numbers of this row are longer than those that decided on the widths. */
static size_t excess_of_row(const struct rep_emitter *emitter, const struct held_cell *cells)
{
	const struct text_state *state = emitter->state;
	size_t excess = 0;
	for (unsigned i = 0; i < emitter->columns_count && emitter->room; i++) {
		const struct rep_column *column = &emitter->columns[i];
		if (state->widths[i] && column->kind != REP_SHARE && !rep_fit_may_cut(column) &&
			cells[i].columns > state->widths[i])
			excess += cells[i].columns - state->widths[i];
	}
	return excess;
}

/* Columns that may be of any length come after all others. */
static void write_text_row(struct rep_emitter *emitter, const struct held_cell *cells, bool header)
{
	struct text_state *state = emitter->state;
	size_t blanks = 0, excess = excess_of_row(emitter, cells);
	for (unsigned pass = 0; pass < 2; pass++) {
		for (unsigned i = 0; i < emitter->columns_count; i++) {
			const struct rep_column *column = &emitter->columns[i];
			bool last = column->flags & REP_LAST;
			size_t width = state->widths[i];
			if (!is_in_text(column) || !width || last != (pass == 1))
				continue;
			if (excess && rep_fit_may_cut(column)) {
				size_t less = excess < width ? excess : width - 1;
				width -= less;
				excess -= less;
			}
			blanks += REP_GAP_COLUMNS;
			write_cell(emitter, &cells[i], width, column, header, &blanks);
		}
	}
	putc_unlocked('\n', emitter->stream);
}

/* Keeps the name of a column that the terminal has no room for. */
static void drop_column(struct rep_emitter *emitter, unsigned column)
{
	struct text_state *state = emitter->state;
	const char *title = emitter->columns[column].title;
	rep_text_printf(&state->dropped, "%s%s", state->dropped.length ? ", " : "",
		title + strspn(title, " "));
}

static void find_widths(struct rep_emitter *emitter)
{
	struct text_state *state = emitter->state;
	size_t needed[REP_MAX_COLUMNS], most = emitter->room ? SIZE_MAX : PADDED_COLUMNS;
	for (size_t i = 0; i < state->cells_count; i++) {
		size_t *width = &state->widths[i % emitter->columns_count];
		size_t columns = state->cells[i].columns < most ? state->cells[i].columns : most;
		*width = columns > *width ? columns : *width;
	}
	/* Empty cells take room, too, or the gap before them. */
	for (unsigned i = 0; i < emitter->columns_count; i++)
		if (is_in_text(&emitter->columns[i]) && !state->widths[i])
			state->widths[i] = 1;
	rep_text_clear(&state->dropped);
	if (!emitter->room)
		return;
	memcpy(needed, state->widths, sizeof(needed));
	rep_fit_columns(emitter->columns, emitter->columns_count, emitter->room, state->widths);
	for (unsigned i = 0; i < emitter->columns_count; i++)
		if (needed[i] && !state->widths[i])
			drop_column(emitter, i);
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

/* What is missing for want of room is said. */
static void end_text_table(struct rep_emitter *emitter)
{
	struct text_state *state = emitter->state;
	write_held_rows(emitter);
	if (state->dropped.length)
		rep_prose(
			emitter, REP_DIM, "  no room for: %s\n", rep_text_string(&state->dropped));
	rep_text_clear(&state->dropped);
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
		spell_text(&state->cell, value);
	hold_cell(emitter);
}

static void end_text_row(struct rep_emitter *emitter)
{
	struct text_state *state = emitter->state;
	if (state->streaming || state->held.length >= HELD_BYTES ||
		state->cells_count >= (size_t)HELD_ROWS * emitter->columns_count)
		write_held_rows(emitter);
}

const struct rep_writer rep_writer_text = {
	.name = "text",
	.for_people = true,
	.state_size = sizeof(struct text_state),
	.release = release_text,
	.document_end = end_text_document,
	.section_begin = begin_text_section,
	.prose = write_prose,
	.table_end = end_text_table,
	.value = put_text_value,
	.table_begin = begin_text_table,
	.cell = put_text_cell,
	.row_end = end_text_row,
};
