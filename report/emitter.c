#include "report/emitter.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
	HELD_ROWS = 2000,    /* rows of text that decide on the widths */
	NAME_COLUMNS = 120,  /* of a longer name the end is shown: a location ends in its line */
	LABEL_COLUMNS = 240, /* indented, with an address, a type and a location */
	BAR_COLUMNS = 10
};

static const char *const style_codes[] = {
	"", "\033[1m", "\033[2m", "\033[32m", "\033[31;1m", "\033[36m"};

const char *rep_format_name(unsigned format)
{
	static const char *const names[] = {"text", "csv", "json"};
	return format < REP_FORMATS ? names[format] : NULL;
}

void rep_emitter_init(
	struct rep_emitter *emitter, FILE *stream, enum rep_format format, bool colour)
{
	*emitter = (struct rep_emitter){.stream = stream, .format = format, .colour = colour};
}

void rep_emitter_release(struct rep_emitter *emitter)
{
	rep_text_release(&emitter->cell);
	rep_text_release(&emitter->held);
	rep_text_release(&emitter->json.scratch);
	free(emitter->cells);
	*emitter = (struct rep_emitter){0};
}

bool rep_emitter_broken(const struct rep_emitter *emitter)
{
	return emitter->failed || emitter->cell.failed || emitter->held.failed ||
	       emitter->json.scratch.failed || rep_text_lost() || ferror(emitter->stream);
}

static void write_bytes(struct rep_emitter *emitter, const char *bytes, size_t length)
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

void rep_document_begin(struct rep_emitter *emitter, const char *verb)
{
	if (emitter->format != REP_FORMAT_JSON)
		return;
	rep_json_init(&emitter->json, emitter->stream);
	rep_json_begin(&emitter->json, '{', false);
	rep_json_key(&emitter->json, "schema_version");
	rep_json_unsigned(&emitter->json, 1);
	rep_json_key(&emitter->json, "verb");
	rep_json_string(&emitter->json, verb, strlen(verb));
}

void rep_document_end(struct rep_emitter *emitter)
{
	if (emitter->format != REP_FORMAT_JSON)
		return;
	emitter->failed |= emitter->json.scratch.failed;
	rep_json_end(&emitter->json, '}');
	rep_json_release(&emitter->json);
}

void rep_section_begin(struct rep_emitter *emitter, const char *key, const char *title)
{
	emitter->section = key;
	if (emitter->format == REP_FORMAT_JSON) {
		rep_json_key(&emitter->json, key);
		rep_json_begin(&emitter->json, '{', false);
	} else if (emitter->format == REP_FORMAT_TEXT && title) {
		rep_headline(emitter, title);
	}
}

void rep_section_end(struct rep_emitter *emitter)
{
	emitter->section = NULL;
	if (emitter->format == REP_FORMAT_JSON)
		rep_json_end(&emitter->json, '}');
}

/* The next character of UTF-8 behind a place. */
static size_t next_character(const char *text, size_t at)
{
	do
		at++;
	while (((unsigned char)text[at] & 0xc0) == 0x80);
	return at;
}

/* The part of a name that text shows of it: the end of a long one, or its beginning. */
static void escape_for_text(
	struct rep_emitter *emitter, const char *bytes, size_t length, unsigned flags)
{
	struct rep_text *cell = &emitter->cell;
	size_t start = cell->length;
	rep_text_escape_terminal(cell, bytes, length);
	if (flags & (REP_HEAD | REP_LABEL)) {
		size_t most = flags & REP_LABEL ? LABEL_COLUMNS : NAME_COLUMNS;
		rep_text_shorten(cell, start, most, REP_GUESS_MARK);
		return;
	}
	size_t columns = rep_text_columns(rep_text_string(cell) + start, cell->length - start);
	if (columns <= NAME_COLUMNS || cell->failed)
		return;
	char *text = cell->bytes + start;
	size_t cut = 0;
	for (size_t drop = columns - (NAME_COLUMNS - 3); drop; drop--)
		cut = next_character(text, cut);
	memmove(text + 3, text + cut, cell->length - start - cut + 1);
	memset(text, '.', 3);
	cell->length -= cut - 3;
}

static void number_for_text(struct rep_text *text, enum rep_kind kind, uint64_t number)
{
	switch (kind) {
	case REP_BYTES:
		rep_text_size(text, number);
		break;
	case REP_COUNT:
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

static void number_for_csv(struct rep_text *text, enum rep_kind kind, uint64_t number)
{
	if (kind == REP_ADDRESS)
		rep_text_address(text, number);
	else
		rep_text_number(text, number);
}

/* Begins a value of a section; the caller formats it into emitter->cell and ends it. */
static void begin_value(struct rep_emitter *emitter, const char *key, const char *label)
{
	rep_text_clear(&emitter->cell);
	if (emitter->format == REP_FORMAT_JSON) {
		rep_json_key(&emitter->json, key);
	} else if (emitter->format == REP_FORMAT_CSV) {
		if (!emitter->csv_header)
			rep_text_put(&emitter->cell, "section,name,value\n");
		emitter->csv_header = true;
		rep_text_printf(&emitter->cell, "%s,%s,", emitter->section, key);
	} else if (label) {
		rep_text_printf(&emitter->cell, "  %-20s ", label);
	}
}

static void end_value(struct rep_emitter *emitter, const char *label)
{
	if (emitter->format == REP_FORMAT_JSON)
		return;
	if (emitter->format == REP_FORMAT_TEXT && !label)
		return;
	rep_text_put(&emitter->cell, "\n");
	write_bytes(emitter, rep_text_string(&emitter->cell), emitter->cell.length);
}

void rep_value_string(struct rep_emitter *emitter, const char *key, const char *label,
	enum rep_kind kind, const char *string)
{
	if (emitter->redact && kind == REP_CONTENT)
		return;
	emitter->has_contents |= kind == REP_CONTENT;
	begin_value(emitter, key, label);
	if (emitter->format == REP_FORMAT_JSON)
		rep_json_string(&emitter->json, string, strlen(string));
	else if (emitter->format == REP_FORMAT_CSV)
		rep_text_escape_csv(&emitter->cell, string, strlen(string));
	else
		escape_for_text(emitter, string, strlen(string), 0);
	end_value(emitter, label);
}

void rep_value_number(struct rep_emitter *emitter, const char *key, const char *label,
	enum rep_kind kind, uint64_t number)
{
	begin_value(emitter, key, label);
	if (emitter->format == REP_FORMAT_JSON && kind == REP_ADDRESS)
		rep_json_address(&emitter->json, number);
	else if (emitter->format == REP_FORMAT_JSON)
		rep_json_unsigned(&emitter->json, number);
	else if (emitter->format == REP_FORMAT_CSV)
		number_for_csv(&emitter->cell, kind, number);
	else
		number_for_text(&emitter->cell, kind, number);
	end_value(emitter, label);
}

void rep_value_bool(struct rep_emitter *emitter, const char *key, const char *label, bool value)
{
	begin_value(emitter, key, label);
	if (emitter->format == REP_FORMAT_JSON)
		rep_json_bool(&emitter->json, value);
	else if (emitter->format == REP_FORMAT_CSV)
		rep_text_put(&emitter->cell, value ? "1" : "0");
	else
		rep_text_put(&emitter->cell, value ? "yes" : "no");
	end_value(emitter, label);
}

void rep_headline(struct rep_emitter *emitter, const char *title)
{
	rep_prose(emitter, REP_PLAIN, "\n");
	rep_prose(emitter, REP_BOLD, "%s\n", title);
}

void rep_prose(struct rep_emitter *emitter, enum rep_style style, const char *format, ...)
{
	if (emitter->format != REP_FORMAT_TEXT)
		return;
	va_list arguments;
	va_start(arguments, format);
	begin_style(emitter, style);
	vfprintf(emitter->stream, format, arguments);
	end_style(emitter, style);
	va_end(arguments);
}

static bool in_text(const struct rep_column *column)
{
	return column->title != NULL;
}

static bool in_csv(const struct rep_column *column)
{
	return column->key && !(column->flags & REP_NOT_CSV);
}

static bool right_aligned(enum rep_kind kind)
{
	return kind >= REP_BYTES && kind != REP_SHARE;
}

/* Keeps the finished cell of a held row, or of the row being streamed. */
static void hold_cell(struct rep_emitter *emitter)
{
	if (emitter->cells_count == emitter->cells_capacity) {
		size_t capacity = emitter->cells_capacity ? emitter->cells_capacity * 2 : 256;
		struct rep_held_cell *cells = realloc(emitter->cells, capacity * sizeof(*cells));
		if (!cells) {
			emitter->failed = true;
			return;
		}
		emitter->cells = cells;
		emitter->cells_capacity = capacity;
	}
	size_t length = emitter->cell.length;
	const char *bytes = rep_text_string(&emitter->cell);
	emitter->cells[emitter->cells_count++] = (struct rep_held_cell){
		emitter->held.length, length, rep_text_columns(bytes, length)};
	rep_text_add(&emitter->held, bytes, length);
}

/* Blanks are owed until something follows them, so that no line ends with any. */
static void write_cell(struct rep_emitter *emitter, const struct rep_held_cell *cell, size_t width,
	const struct rep_column *column, bool header, size_t *blanks)
{
	size_t padding = cell->columns < width ? width - cell->columns : 0;
	bool left = !right_aligned(column->kind) || (column->flags & REP_LAST);
	enum rep_style style = header ? REP_BOLD : column->kind == REP_SHARE ? REP_BAR : REP_PLAIN;
	*blanks += left ? 0 : padding;
	if (cell->length) {
		write_spaces(emitter, *blanks);
		*blanks = 0;
		begin_style(emitter, style);
		write_bytes(emitter, rep_text_string(&emitter->held) + cell->offset, cell->length);
		end_style(emitter, style);
	}
	*blanks += left ? padding : 0;
}

static void write_text_row(
	struct rep_emitter *emitter, const struct rep_held_cell *cells, bool header)
{
	size_t blanks = 0;
	for (unsigned pass = 0; pass < 2; pass++) {
		for (unsigned i = 0; i < emitter->columns_count; i++) {
			const struct rep_column *column = &emitter->columns[i];
			bool last = column->flags & REP_LAST;
			if (!in_text(column) || last != (pass == 1))
				continue;
			blanks += 2;
			write_cell(emitter, &cells[i], emitter->widths[i], column, header, &blanks);
		}
	}
	putc_unlocked('\n', emitter->stream);
}

static void settle_widths(struct rep_emitter *emitter)
{
	for (size_t i = 0; i < emitter->cells_count; i++) {
		size_t *width = &emitter->widths[i % emitter->columns_count];
		if (emitter->cells[i].columns > *width)
			*width = emitter->cells[i].columns;
	}
}

static void write_held_rows(struct rep_emitter *emitter)
{
	if (rep_emitter_broken(emitter))
		return;
	bool header = !emitter->streaming;
	if (header)
		settle_widths(emitter);
	for (size_t i = 0; i < emitter->cells_count; i += emitter->columns_count) {
		write_text_row(emitter, &emitter->cells[i], header);
		header = false;
	}
	/* A header alone leaves open whether something is missing. */
	if (!emitter->streaming && emitter->cells_count == emitter->columns_count)
		fputs("  (none)\n", emitter->stream);
	emitter->cells_count = 0;
	rep_text_clear(&emitter->held);
	emitter->streaming = true;
}

static void hold_header(struct rep_emitter *emitter)
{
	for (unsigned i = 0; i < emitter->columns_count; i++) {
		const struct rep_column *column = &emitter->columns[i];
		rep_text_clear(&emitter->cell);
		if (in_text(column))
			rep_text_put(&emitter->cell, column->title);
		hold_cell(emitter);
	}
}

static void write_csv_header(struct rep_emitter *emitter)
{
	const char *separator = "";
	for (unsigned i = 0; i < emitter->columns_count; i++) {
		if (!in_csv(&emitter->columns[i]))
			continue;
		fprintf(emitter->stream, "%s%s", separator, emitter->columns[i].key);
		separator = ",";
	}
	putc_unlocked('\n', emitter->stream);
}

void rep_table_begin(struct rep_emitter *emitter, const char *key, const struct rep_column *columns,
	unsigned count)
{
	emitter->columns = columns;
	emitter->columns_count = count < REP_MAX_COLUMNS ? count : REP_MAX_COLUMNS;
	emitter->column = 0;
	emitter->csv_started = false;
	emitter->cells_count = 0;
	emitter->streaming = false;
	rep_text_clear(&emitter->held);
	memset(emitter->widths, 0, sizeof(emitter->widths));
	for (unsigned i = 0; i < emitter->columns_count; i++)
		emitter->has_contents |= columns[i].kind == REP_CONTENT && !emitter->redact;
	if (emitter->format == REP_FORMAT_TEXT) {
		hold_header(emitter);
	} else if (emitter->format == REP_FORMAT_CSV) {
		write_csv_header(emitter);
	} else {
		rep_json_key(&emitter->json, key);
		rep_json_begin(&emitter->json, '[', false);
	}
}

void rep_table_end(struct rep_emitter *emitter)
{
	if (emitter->format == REP_FORMAT_TEXT)
		write_held_rows(emitter);
	else if (emitter->format == REP_FORMAT_JSON)
		rep_json_end(&emitter->json, ']');
}

/*
 * Begins the next cell.  Returns its column if the format shows it; text and CSV then expect its
 * spelling in emitter->cell and end_cell(), JSON a value.
 */
static const struct rep_column *begin_cell(struct rep_emitter *emitter)
{
	const struct rep_column *column = &emitter->columns[emitter->column];
	bool first = emitter->column == 0;
	emitter->column++;
	rep_text_clear(&emitter->cell);
	switch (emitter->format) {
	case REP_FORMAT_JSON:
		if (first)
			rep_json_begin(&emitter->json, '{', true);
		if (!column->key)
			return NULL;
		rep_json_key(&emitter->json, column->key);
		return column;
	case REP_FORMAT_CSV:
		if (!in_csv(column))
			return NULL;
		if (emitter->csv_started)
			rep_text_put(&emitter->cell, ",");
		emitter->csv_started = true;
		return column;
	default:
		if (in_text(column))
			return column;
		hold_cell(emitter);
		return NULL;
	}
}

static void end_cell(struct rep_emitter *emitter)
{
	if (emitter->format == REP_FORMAT_TEXT)
		hold_cell(emitter);
	else if (emitter->format == REP_FORMAT_CSV)
		write_bytes(emitter, rep_text_string(&emitter->cell), emitter->cell.length);
}

void rep_cell_bytes(struct rep_emitter *emitter, const char *bytes, size_t length)
{
	if (emitter->redact && emitter->columns[emitter->column].kind == REP_CONTENT) {
		rep_cell_none(emitter);
		return;
	}
	const struct rep_column *column = begin_cell(emitter);
	if (!column)
		return;
	if (emitter->format == REP_FORMAT_JSON)
		rep_json_string(&emitter->json, bytes, length);
	else if (emitter->format == REP_FORMAT_CSV)
		rep_text_escape_csv(&emitter->cell, bytes, length);
	else
		escape_for_text(emitter, bytes, length, column->flags);
	end_cell(emitter);
}

void rep_cell_string(struct rep_emitter *emitter, const char *string)
{
	rep_cell_bytes(emitter, string, strlen(string));
}

void rep_cell_labelled(struct rep_emitter *emitter, const char *string, const char *text_label)
{
	rep_cell_string(emitter, emitter->format == REP_FORMAT_TEXT ? text_label : string);
}

void rep_cell_number(struct rep_emitter *emitter, uint64_t number)
{
	const struct rep_column *column = begin_cell(emitter);
	if (!column)
		return;
	if (emitter->format == REP_FORMAT_TEXT)
		number_for_text(&emitter->cell, column->kind, number);
	else if (emitter->format == REP_FORMAT_CSV)
		number_for_csv(&emitter->cell, column->kind, number);
	else if (column->kind == REP_ADDRESS)
		rep_json_address(&emitter->json, number);
	else
		rep_json_unsigned(&emitter->json, number);
	end_cell(emitter);
}

void rep_cell_change(struct rep_emitter *emitter, uint64_t from, uint64_t to)
{
	const struct rep_column *column = begin_cell(emitter);
	if (!column)
		return;
	uint64_t size = to > from ? to - from : from - to;
	if (emitter->format == REP_FORMAT_JSON) {
		rep_json_signed(&emitter->json, (int64_t)(to - from));
	} else {
		if (to < from)
			rep_text_put(&emitter->cell, "-");
		else if (to > from && emitter->format == REP_FORMAT_TEXT)
			rep_text_put(&emitter->cell, "+");
		if (emitter->format == REP_FORMAT_CSV)
			rep_text_number(&emitter->cell, size);
		else
			number_for_text(&emitter->cell,
				column->kind == REP_CHANGE_BYTES ? REP_BYTES : REP_COUNT, size);
	}
	end_cell(emitter);
}

void rep_cell_share(struct rep_emitter *emitter, uint64_t part, uint64_t whole)
{
	if (!begin_cell(emitter))
		return;
	uint64_t points = rep_basis_points(part, whole);
	if (emitter->format == REP_FORMAT_JSON) {
		rep_json_unsigned(&emitter->json, points);
	} else if (emitter->format == REP_FORMAT_CSV) {
		rep_text_number(&emitter->cell, points);
	} else {
		struct rep_text percent = {0};
		rep_text_percent(&percent, part, whole);
		rep_text_printf(&emitter->cell, "%7s", rep_text_string(&percent));
		rep_text_release(&percent);
		for (uint64_t i = 0; i < BAR_COLUMNS && i * 1000 + 500 <= points; i++)
			rep_text_put(&emitter->cell, i ? "#" : " #");
	}
	end_cell(emitter);
}

void rep_cell_none(struct rep_emitter *emitter)
{
	if (!begin_cell(emitter))
		return;
	if (emitter->format == REP_FORMAT_JSON)
		rep_json_null(&emitter->json);
	end_cell(emitter);
}

void rep_row_end(struct rep_emitter *emitter)
{
	emitter->column = 0;
	if (emitter->format == REP_FORMAT_JSON) {
		rep_json_end(&emitter->json, '}');
	} else if (emitter->format == REP_FORMAT_CSV) {
		emitter->csv_started = false;
		putc_unlocked('\n', emitter->stream);
	} else if (emitter->streaming ||
		   emitter->cells_count >= (size_t)HELD_ROWS * emitter->columns_count) {
		write_held_rows(emitter);
	}
}

void rep_row_remark(struct rep_emitter *emitter, const char *remark)
{
	if (emitter->format != REP_FORMAT_TEXT)
		return;
	while (emitter->column < emitter->columns_count) {
		if (emitter->columns[emitter->column].flags & REP_LAST)
			rep_cell_string(emitter, remark);
		else
			rep_cell_none(emitter);
	}
	rep_row_end(emitter);
}
