#include "report/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool any_lost;

bool rep_text_lost(void)
{
	return any_lost;
}

struct rep_text rep_text_over(char *buffer, size_t size)
{
	buffer[0] = '\0';
	return (struct rep_text){.bytes = buffer, .capacity = size, .is_fixed = true};
}

static char *fail(struct rep_text *text)
{
	text->failed = true;
	any_lost |= !text->is_fixed;
	return NULL;
}

void rep_text_release(struct rep_text *text)
{
	if (!text->is_fixed)
		free(text->bytes);
	*text = (struct rep_text){0};
}

void rep_text_clear(struct rep_text *text)
{
	text->length = 0;
	if (text->bytes)
		text->bytes[0] = '\0';
}

const char *rep_text_string(const struct rep_text *text)
{
	return text->bytes ? text->bytes : "";
}

char *rep_text_room(struct rep_text *text, size_t length)
{
	if (text->failed || length >= SIZE_MAX / 2 - text->length)
		return fail(text);
	size_t needed = text->length + length + 1;
	if (needed > text->capacity) {
		size_t capacity = needed < 64 ? 64 : needed + needed / 2;
		char *bytes = text->is_fixed ? NULL : realloc(text->bytes, capacity);
		if (!bytes)
			return fail(text);
		text->bytes = bytes;
		text->capacity = capacity;
	}
	return text->bytes + text->length;
}

void rep_text_filled(struct rep_text *text, size_t length)
{
	text->length += length;
	text->bytes[text->length] = '\0';
}

void rep_text_add(struct rep_text *text, const char *bytes, size_t length)
{
	char *to = rep_text_room(text, length);
	if (!to)
		return;
	if (length)
		memcpy(to, bytes, length);
	rep_text_filled(text, length);
}

void rep_text_put(struct rep_text *text, const char *string)
{
	rep_text_add(text, string, strlen(string));
}

void rep_text_printf(struct rep_text *text, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	char *to = length < 0 ? NULL : rep_text_room(text, (size_t)length);
	if (!to) {
		fail(text);
		return;
	}
	va_start(arguments, format);
	vsnprintf(to, (size_t)length + 1, format, arguments);
	va_end(arguments);
	rep_text_filled(text, (size_t)length);
}

/* Decimal digits into the end of a buffer of 32 bytes, commas between thousands if wanted. */
static char *decimal(char *end, uint64_t number, bool commas)
{
	char *at = end;
	unsigned digits = 0;
	do {
		if (commas && digits && digits % 3 == 0)
			*--at = ',';
		*--at = (char)('0' + number % 10);
		number /= 10;
		digits++;
	} while (number);
	return at;
}

void rep_text_number(struct rep_text *text, uint64_t number)
{
	char buffer[32];
	char *at = decimal(buffer + sizeof(buffer), number, false);
	rep_text_add(text, at, (size_t)(buffer + sizeof(buffer) - at));
}

void rep_text_count(struct rep_text *text, uint64_t number)
{
	char buffer[32];
	char *at = decimal(buffer + sizeof(buffer), number, true);
	rep_text_add(text, at, (size_t)(buffer + sizeof(buffer) - at));
}

void rep_text_size(struct rep_text *text, uint64_t bytes)
{
	static const char *const units[] = {"KB", "MB", "GB", "TB", "PB", "EB"};
	if (bytes < 1024) {
		rep_text_count(text, bytes);
		rep_text_put(text, " B");
		return;
	}
	unsigned unit = 0;
	while (unit + 1 < sizeof(units) / sizeof(units[0]) && bytes >> (10 * (unit + 2)))
		unit++;
	uint64_t scale = UINT64_C(1) << (10 * (unit + 1));
	uint64_t whole = bytes / scale;
	uint64_t tenths = (bytes % scale * 10 + scale / 2) / scale;
	if (tenths == 10) {
		whole++;
		tenths = 0;
	}
	rep_text_count(text, whole);
	rep_text_printf(text, ".%u %s", (unsigned)tenths, units[unit]);
}

void rep_text_address(struct rep_text *text, uint64_t address)
{
	static const char digits[] = "0123456789abcdef";
	char buffer[18];
	char *at = buffer + sizeof(buffer);
	do {
		*--at = digits[address & 15];
		address >>= 4;
	} while (address);
	*--at = 'x';
	*--at = '0';
	rep_text_add(text, at, (size_t)(buffer + sizeof(buffer) - at));
}

/* part / whole in units of 1 / parts, rounded. */
static uint64_t share_of(uint64_t part, uint64_t whole, uint64_t parts)
{
	if (whole == 0)
		return 0;
	__extension__ unsigned __int128 scaled = part;
	return (uint64_t)((scaled * parts + whole / 2) / whole);
}

uint64_t rep_basis_points(uint64_t part, uint64_t whole)
{
	return share_of(part, whole, 10000);
}

void rep_text_percent(struct rep_text *text, uint64_t part, uint64_t whole)
{
	/* From the numbers themselves: basis points are rounded already. */
	uint64_t tenths = share_of(part, whole, 1000);
	if (part && tenths == 0)
		rep_text_put(text, "<0.1 %");
	else if (tenths == 1000 && part < whole)
		rep_text_put(text, ">99.9 %");
	else
		rep_text_printf(text, "%llu.%u %%", (unsigned long long)(tenths / 10),
			(unsigned)(tenths % 10));
}

size_t rep_utf8_character(const uint8_t *bytes, size_t length, uint32_t *character)
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

/* Characters that a terminal would obey, hide or use to turn the text around. */
static bool deceives(uint32_t character)
{
	return character < 0x20 || (character >= 0x7f && character < 0xa0) || character == 0xad ||
	       (character >= 0x200b && character <= 0x200f) ||
	       (character >= 0x2028 && character <= 0x202e) ||
	       (character >= 0x2060 && character <= 0x206f) || character == 0xfeff ||
	       (character >= 0xfff9 && character <= 0xfffb) ||
	       (character >= 0xe0000 && character <= 0xe0fff);
}

/*
 * Splits off the next character: returns its size and whether it may be shown as it is.  A byte
 * that begins no character counts as one that may not.
 */
static size_t next_character(const char *bytes, size_t length, bool *shown)
{
	uint32_t character;
	size_t size = rep_utf8_character((const uint8_t *)bytes, length, &character);
	*shown = size > 0 && !deceives(character);
	return size ? size : 1;
}

static void add_hex(struct rep_text *text, const char *prefix, const char *bytes, size_t length)
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
		size_t size = next_character(bytes, length, &shown);
		if (shown)
			rep_text_add(text, bytes, size);
		else
			add_hex(text, "\\", bytes, size);
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

void rep_text_escape_json(struct rep_text *text, const char *bytes, size_t length)
{
	while (skip_plain(text, &bytes, &length)) {
		uint32_t character;
		size_t size = rep_utf8_character((const uint8_t *)bytes, length, &character);
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

void rep_text_escape_dot(struct rep_text *text, const char *bytes, size_t length)
{
	while (skip_plain(text, &bytes, &length)) {
		bool shown;
		size_t size = next_character(bytes, length, &shown);
		if (!shown)
			add_hex(text, "\\\\", bytes, size);
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

size_t rep_text_columns(const char *bytes, size_t length)
{
	size_t columns = 0;
	for (size_t i = 0; i < length; i++)
		columns += ((unsigned char)bytes[i] & 0xc0) != 0x80;
	return columns;
}

void rep_text_shorten(struct rep_text *text, size_t start, size_t columns, const char *mark)
{
	size_t length = text->length - start, behind = strlen(mark), shown = 0;
	if (text->failed || rep_text_columns(rep_text_string(text) + start, length) <= columns)
		return;
	char *bytes = text->bytes + start;
	if (length < behind || strcmp(bytes + length - behind, mark) != 0)
		behind = 0;
	for (size_t left = columns - 3 - behind; left; left--)
		do
			shown++;
		while (((unsigned char)bytes[shown] & 0xc0) == 0x80);
	bytes[shown] = '\0';
	text->length = start + shown;
	rep_text_put(text, "...");
	rep_text_put(text, behind ? mark : "");
}
