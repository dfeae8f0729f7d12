/* Escapes of every sink, and the parts of long names that are shown. */
#include "report/writers/escape.h"

#include <string.h>

/* Bytes of the valid UTF-8 character at 'bytes', 0 if there is none. */
static size_t read_character(const uint8_t *bytes, size_t length, uint32_t *character)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	if (length == 0)
		return 0;
	uint32_t value = bytes[0];
	size_t size = value < 0x80 ? 1 : value < 0xc0 ? 0 : value < 0xe0 ? 2 : value < 0xf0 ? 3 : 4;
	if (size == 0 || value >= 0xf8 || size > length)
		return 0;
	if (size > 1)
		value &= 0x7fu >> size;
	for (size_t i = 1; i < size; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (bytes[i] & 0x3f);
	}
	if (value < smallest[size] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
		return 0;
	*character = value;
	return size;
}

/*
 * Characters that a terminal would obey, hide or use to turn the text around, and those that XML
 * has not: Graphviz writes them into SVG as they are.
 */
static bool deceives(uint32_t character)
{
	return character < 0x20 || (character >= 0x7f && character < 0xa0) || character == 0xad ||
	       (character >= 0x200b && character <= 0x200f) ||
	       (character >= 0x2028 && character <= 0x202e) ||
	       (character >= 0x2060 && character <= 0x206f) || character == 0xfeff ||
	       (character >= 0xfff9 && character <= 0xfffb) || character == 0xfffe ||
	       character == 0xffff || (character >= 0xe0000 && character <= 0xe0fff);
}

/*
 * Splits off the next character: returns its size and whether it may be shown as it is.  A byte
 * that begins no character counts as one that may not.
 */
static size_t split_character(const char *bytes, size_t length, bool *shown)
{
	uint32_t character;
	size_t size = read_character((const uint8_t *)bytes, length, &character);
	*shown = size > 0 && !deceives(character);
	return size ? size : 1;
}

static void add_hex_bytes(
	struct rep_text *text, const char *prefix, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		rep_text_printf(text, "%sx%02X", prefix, (unsigned char)bytes[i]);
}

/* Length of the printable ASCII that no sink escapes: most of every name. */
static size_t plain_run(const char *bytes, size_t length)
{
	size_t run = 0;
	while (run < length && bytes[run] >= ' ' && bytes[run] <= '~' && bytes[run] != '"' &&
		bytes[run] != '\\' && bytes[run] != '&')
		run++;
	return run;
}

/* Adds the plain beginning of what is left to escape; false when nothing is left after it. */
static bool skip_plain(struct rep_text *text, const char **bytes, size_t *length)
{
	size_t run = plain_run(*bytes, *length);
	if (run)
		rep_text_add(text, *bytes, run);
	*bytes += run;
	*length -= run;
	return *length != 0;
}

void rep_text_escape_terminal(struct rep_text *text, const char *bytes, size_t length)
{
	while (skip_plain(text, &bytes, &length)) {
		bool shown;
		size_t size = split_character(bytes, length, &shown);
		if (shown)
			rep_text_add(text, bytes, size);
		else
			add_hex_bytes(text, "\\", bytes, size);
		bytes += size;
		length -= size;
	}
}

void rep_text_escape_csv(struct rep_text *text, const char *bytes, size_t length)
{
	bool quoted = false;
	for (size_t i = 0; i < length && !quoted; i++)
		quoted = bytes[i] == ',' || bytes[i] == '"' || bytes[i] == '\n' || bytes[i] == '\r';
	if (!quoted) {
		rep_text_add(text, bytes, length);
		return;
	}
	rep_text_add(text, "\"", 1);
	for (size_t i = 0; i < length; i++)
		rep_text_add(text, bytes[i] == '"' ? "\"\"" : bytes + i, bytes[i] == '"' ? 2 : 1);
	rep_text_add(text, "\"", 1);
}

void rep_text_escape_shell(struct rep_text *text, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "._-/+,:@%";
	const char *quote = *word && word[strspn(word, plain)] == '\0' ? "" : "'";
	rep_text_put(text, quote);
	while (*word) {
		size_t length = strcspn(word, "'");
		rep_text_escape_terminal(text, word, length);
		word += length;
		for (; *word == '\''; word++)
			rep_text_put(text, "'\\''");
	}
	rep_text_put(text, quote);
}

/* Char of the XML recommendation, 2.2. */
static bool is_xml_character(uint32_t character)
{
	return character >= 0x20 ? character != 0xfffe && character != 0xffff
				 : character == '\t' || character == '\n' || character == '\r';
}

void rep_text_escape_xml(struct rep_text *text, const char *bytes, size_t length)
{
	while (length) {
		uint32_t character;
		size_t size = read_character((const uint8_t *)bytes, length, &character);
		if (size == 0 || !is_xml_character(character))
			rep_text_put(text, "\xef\xbf\xbd");
		else if (character == '<' || character == '>' || character == '&' ||
			 character == '"' || character < 0x20)
			rep_text_printf(text, "&#%u;", character);
		else
			rep_text_add(text, bytes, size);
		size = size ? size : 1;
		bytes += size;
		length -= size;
	}
}

void rep_text_escape_json(struct rep_text *text, const char *bytes, size_t length)
{
	while (skip_plain(text, &bytes, &length)) {
		uint32_t character;
		size_t size = read_character((const uint8_t *)bytes, length, &character);
		if (size == 0)
			rep_text_put(text, "\xef\xbf\xbd");
		else if (character == '"' || character == '\\')
			rep_text_printf(text, "\\%c", (int)character);
		else if (character < 0x20 || character == 0x7f)
			rep_text_printf(text, "\\u%04x", character);
		else
			rep_text_add(text, bytes, size);
		size = size ? size : 1;
		bytes += size;
		length -= size;
	}
}

void rep_text_escape_exact(struct rep_text *text, const char *bytes, size_t length)
{
	while (skip_plain(text, &bytes, &length)) {
		uint32_t character;
		size_t size = read_character((const uint8_t *)bytes, length, &character);
		if (size == 0)
			add_hex_bytes(text, "\\", bytes, 1);
		else if (character == '\\')
			rep_text_put(text, "\\\\");
		else
			rep_text_add(text, bytes, size);
		size = size ? size : 1;
		bytes += size;
		length -= size;
	}
}

void rep_text_escape_dot(struct rep_text *text, const char *bytes, size_t length)
{
	while (skip_plain(text, &bytes, &length)) {
		bool shown;
		size_t size = split_character(bytes, length, &shown);
		if (!shown)
			add_hex_bytes(text, "\\\\", bytes, size);
		else if (*bytes == '\\')
			rep_text_put(text, "\\\\");
		else if (*bytes == '&')
			/* Graphviz reads HTML entities in plain labels too. */
			rep_text_put(text, "&amp;");
		else
			rep_text_add(text, bytes, size);
		bytes += size;
		length -= size;
	}
}

void rep_text_escape_tooltip(struct rep_text *text, const char *bytes, size_t length)
{
	struct rep_text label = {0};
	rep_text_escape_dot(&label, bytes, length);
	/* Graphviz takes the escapes out of tooltips twice. */
	for (size_t i = 0; i < label.length; i++)
		rep_text_add(text, label.bytes[i] == '\\' ? "\\\\" : label.bytes + i,
			label.bytes[i] == '\\' ? 2 : 1);
	text->failed |= label.failed;
	rep_text_release(&label);
}

void rep_text_mask(struct rep_text *text, const char *bytes, size_t length, char mask)
{
	while (length) {
		bool shown;
		size_t size = split_character(bytes, length, &shown);
		for (size_t i = 0; i < size; i++)
			rep_text_add(text, shown ? bytes + i : &mask, 1);
		bytes += size;
		length -= size;
	}
}

/* Ideographs, kana, hangul, full-width forms and pictures: two columns on every terminal. */
static bool is_wide(uint32_t character)
{
	static const struct {
		uint32_t first, last;
	} wide[] = {{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf}, {0xa960, 0xa97c},
		{0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f}, {0xff00, 0xff60},
		{0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1faff},
		{0x20000, 0x3fffd}};
	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		if (character >= wide[i].first && character <= wide[i].last)
			return true;
	return false;
}

size_t rep_text_width(const char *bytes, size_t length)
{
	size_t columns = 0;
	for (size_t i = 0; i < length;) {
		uint32_t character = 0;
		size_t size = (unsigned char)bytes[i] < 0x80
				      ? 1
				      : read_character(
						(const uint8_t *)bytes + i, length - i, &character);
		columns += is_wide(character) ? 2 : 1;
		i += size ? size : 1;
	}
	return columns;
}

size_t rep_text_columns(const char *bytes, size_t length)
{
	size_t columns = 0;
	for (size_t i = 0; i < length; i++)
		columns += ((unsigned char)bytes[i] & 0xc0) != 0x80;
	return columns;
}

/* The next character of UTF-8 after the one at 'at'. */
static size_t step_over(const char *text, size_t at)
{
	do
		at++;
	while (((unsigned char)text[at] & 0xc0) == 0x80);
	return at;
}

void rep_text_shorten(struct rep_text *text, size_t start, size_t columns, const char *mark)
{
	size_t length = text->length - start, marked = strlen(mark), shown = 0;
	if (text->failed || rep_text_columns(rep_text_string(text) + start, length) <= columns)
		return;
	char *bytes = text->bytes + start;
	if (length < marked || strcmp(bytes + length - marked, mark) != 0)
		marked = 0;
	for (size_t left = columns - 3 - marked; left; left--)
		shown = step_over(bytes, shown);
	bytes[shown] = '\0';
	text->length = start + shown;
	rep_text_put(text, "...");
	rep_text_put(text, marked ? mark : "");
}
