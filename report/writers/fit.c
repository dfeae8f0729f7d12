/* Columns, names and lines that fit a terminal. */
#include "report/writers/fit.h"

#include "report/writers/escape.h"

#include <string.h>

enum {
	SHARE_COLUMNS = 7, /* "12.3 %", without its bar */
	LEAST_NAME = 16,   /* columns of numbers are left out before names get shorter */
	MOST_HANG = 24     /* blanks before what is left of a line with a label */
};

bool rep_fit_may_cut(const struct rep_column *column)
{
	return column->kind <= REP_PATH;
}

static size_t columns_in_use(const size_t *widths, unsigned count)
{
	size_t sum = 0;
	for (unsigned i = 0; i < count; i++)
		sum += widths[i] ? widths[i] + REP_GAP_COLUMNS : 0;
	return sum;
}

static void drop_drawings(const struct rep_column *columns, unsigned count, size_t *widths)
{
	for (unsigned i = 0; i < count; i++) {
		if (columns[i].flags & REP_DRAWING)
			widths[i] = 0;
		else if (columns[i].kind == REP_SHARE && widths[i] > SHARE_COLUMNS)
			widths[i] = SHARE_COLUMNS;
	}
}

/* What all names take if none is longer than 'most'. */
static size_t cut_columns_in_use(
	const struct rep_column *columns, unsigned count, const size_t *widths, size_t most)
{
	size_t sum = 0;
	for (unsigned i = 0; i < count; i++) {
		bool cut = rep_fit_may_cut(&columns[i]) && widths[i] > most;
		sum += widths[i] ? (cut ? most : widths[i]) + REP_GAP_COLUMNS : 0;
	}
	return sum;
}

/* The greatest width of names with which a line has room for all; 0: there is none. */
static size_t most_for_names(
	const struct rep_column *columns, unsigned count, const size_t *widths, size_t room)
{
	size_t low = 0, high = room;
	while (low < high) {
		size_t middle = low + (high - low + 1) / 2;
		if (cut_columns_in_use(columns, count, widths, middle) <= room)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* Columns that say least go first: shares, which numbers tell, and those left of what they add to.
 */
static unsigned find_dispensable(
	const struct rep_column *columns, unsigned count, const size_t *widths)
{
	static const enum rep_kind order[] = {REP_SHARE, REP_NUMBER, REP_COUNT, REP_CHANGE_COUNT,
		REP_BYTES, REP_CHANGE_BYTES, REP_ADDRESS};
	for (size_t kind = 0; kind < sizeof(order) / sizeof(order[0]); kind++)
		for (unsigned i = 0; i < count; i++)
			if (widths[i] && columns[i].kind == order[kind])
				return i;
	return count;
}

void rep_fit_columns(const struct rep_column *columns, unsigned count, size_t room, size_t *widths)
{
	if (columns_in_use(widths, count) <= room)
		return;
	drop_drawings(columns, count, widths);
	size_t most = most_for_names(columns, count, widths, room);
	for (unsigned i; most < LEAST_NAME && most < room;
		most = most_for_names(columns, count, widths, room)) {
		i = find_dispensable(columns, count, widths);
		if (i == count)
			break;
		widths[i] = 0;
	}
	most = most ? most : 1;
	for (unsigned i = 0; i < count; i++)
		if (rep_fit_may_cut(&columns[i]) && widths[i] > most)
			widths[i] = most;
}

/* Bytes of the UTF-8 character that 'bytes' begins with. */
static size_t character_size(const char *bytes, size_t length)
{
	size_t size = 1;
	while (size < length && ((unsigned char)bytes[size] & 0xc0) == 0x80)
		size++;
	return size;
}

size_t rep_fit_prefix(const char *bytes, size_t length, size_t columns)
{
	size_t at = 0;
	while (at < length) {
		size_t size = character_size(bytes + at, length - at);
		size_t taken = rep_text_width(bytes + at, size);
		if (taken > columns)
			break;
		columns -= taken;
		at += size;
	}
	return at;
}

/* Where the end of the text begins that takes at most so many columns. */
static size_t suffix_start(const char *bytes, size_t length, size_t columns)
{
	size_t start = length, size = 0;
	while (start > size) {
		size++;
		if (((unsigned char)bytes[start - size] & 0xc0) == 0x80)
			continue;
		size_t taken = rep_text_width(bytes + start - size, size);
		if (taken > columns)
			break;
		columns -= taken;
		start -= size;
		size = 0;
	}
	return start;
}

static size_t skip_blanks(const char *line, size_t length, size_t at)
{
	while (at < length && line[at] == ' ')
		at++;
	return at;
}

void rep_fit_cut(struct rep_text *text, const char *bytes, size_t length, size_t columns,
	unsigned flags, const char *ellipsis)
{
	size_t mark = rep_text_width(ellipsis, strlen(ellipsis)), indent = 0;
	if (rep_text_width(bytes, length) <= columns) {
		rep_text_add(text, bytes, length);
		return;
	}
	/* The deepest are indented by all that there is room for. */
	if (flags & REP_LABEL)
		indent = skip_blanks(bytes, length, 0);
	bytes += indent;
	length -= indent;
	indent = indent < columns / 2 ? indent : columns / 2;
	rep_text_printf(text, "%*s", (int)indent, "");
	columns -= indent;
	if (rep_text_width(bytes, length) <= columns || columns <= mark) {
		rep_text_add(text, bytes, rep_fit_prefix(bytes, length, columns));
		return;
	}
	size_t last = (columns - mark) / (flags & REP_HEAD ? 3 : 2);
	rep_text_add(text, bytes, rep_fit_prefix(bytes, length, columns - mark - last));
	rep_text_put(text, ellipsis);
	size_t start = suffix_start(bytes, length, last);
	rep_text_add(text, bytes + start, length - start);
}

/* What is left of a line stands below its text: right of its label if it has one. */
static size_t hanging_indent(const char *line, size_t length, size_t room)
{
	size_t indent = skip_blanks(line, length, 0);
	for (size_t i = indent; i + 1 < length && i < MOST_HANG; i++) {
		size_t text = skip_blanks(line, length, i);
		if (text >= i + 2 && text <= MOST_HANG && text <= room / 3)
			return text;
	}
	return indent + 2 <= room / 3 ? indent + 2 : 0;
}

/* Where the command begins that a line is or ends with, behind a colon; 'length' if there is none.
 */
static size_t find_command(const char *line, size_t length)
{
	static const char name[] = "heapgraph ";
	size_t size = sizeof(name) - 1, first = skip_blanks(line, length, 0);
	for (size_t i = first; i + size <= length; i++) {
		bool begins = i == first || (i >= 2 && line[i - 2] == ':' && line[i - 1] == ' ');
		if (begins && memcmp(line + i, name, size) == 0)
			return i;
	}
	return length;
}

/* "53.3 %", "1.2 MB": the blank at 'at' separates nothing. */
static bool is_in_number(const char *line, size_t length, size_t at)
{
	static const char prefixes[] = "KMGTPE";
	size_t unit = at + 1;
	if (at == 0 || unit >= length || line[at - 1] < '0' || line[at - 1] > '9')
		return false;
	if (line[unit] != '\0' && strchr(prefixes, line[unit]))
		unit++;
	return line[at + 1] == '%' || (unit < length && line[unit] == 'B' &&
					      (unit + 1 == length || line[unit + 1] == ' ' ||
						      strchr(",;.):", line[unit + 1])));
}

/*
 * The last blank where a piece may end, or SIZE_MAX: not in the quotes of the command that begins
 * at 'command'.  'first' is that of its first word.
 */
static size_t find_break(
	const char *line, size_t length, size_t first, size_t limit, size_t command)
{
	size_t found = SIZE_MAX;
	char quote = 0;
	for (size_t i = first; i <= limit && i < length; i++) {
		if (i >= command && quote)
			quote = line[i] == quote ? 0 : quote;
		else if (i >= command && (line[i] == '\'' || line[i] == '"'))
			quote = line[i];
		else if (line[i] == ' ' && i > first && !is_in_number(line, length, i))
			found = i;
	}
	return found;
}

/* The end of the first word, where a piece cannot end earlier. */
static size_t end_of_word(const char *line, size_t length, size_t first, size_t command)
{
	for (size_t limit = first; limit < length; limit++) {
		bool may_end = line[limit] == ' ';
		size_t found = may_end ? find_break(line, length, first, limit, command) : SIZE_MAX;
		if (found != SIZE_MAX)
			return found;
	}
	return length;
}

struct rep_fit_piece rep_fit_next(const char *line, size_t length, size_t start, size_t room)
{
	size_t command = find_command(line, length);
	struct rep_fit_piece piece = {
		.start = start, .indent = start ? hanging_indent(line, length, room) : 0};
	size_t left = room - piece.indent;
	size_t limit = start + rep_fit_prefix(line + start, length - start, left);
	if (limit == length) {
		piece.end = length;
		return piece;
	}
	if (command < length)
		limit = start + rep_fit_prefix(line + start, length - start, left - 2);
	size_t first = skip_blanks(line, length, start);
	piece.end = find_break(line, length, first, limit, command);
	if (piece.end == SIZE_MAX) {
		piece.end = end_of_word(line, length, first, command);
		piece.cut = piece.end <= command;
	}
	while (piece.end > first && line[piece.end - 1] == ' ')
		piece.end--;
	piece.goes_on = piece.end > command && skip_blanks(line, length, piece.end) < length;
	return piece;
}
