/* Text that grows, and numbers for people. */
#include "report/writers/spelling.h"

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

static char *lose_text(struct rep_text *text)
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
		return lose_text(text);
	size_t needed = text->length + length + 1;
	if (needed > text->capacity) {
		size_t capacity = needed < 64 ? 64 : needed + needed / 2;
		char *bytes = text->is_fixed ? NULL : realloc(text->bytes, capacity);
		if (!bytes)
			return lose_text(text);
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

void rep_text_vprintf(struct rep_text *text, const char *format, va_list arguments)
{
	va_list again;
	va_copy(again, arguments);
	int length = vsnprintf(NULL, 0, format, arguments);
	char *to = length < 0 ? NULL : rep_text_room(text, (size_t)length);
	if (to) {
		vsnprintf(to, (size_t)length + 1, format, again);
		rep_text_filled(text, (size_t)length);
	} else {
		lose_text(text);
	}
	va_end(again);
}

void rep_text_printf(struct rep_text *text, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	rep_text_vprintf(text, format, arguments);
	va_end(arguments);
}

/* Decimal digits into the end of a buffer of 32 bytes, commas between thousands if wanted. */
static char *write_decimal(char *end, uint64_t number, bool commas)
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
	char *at = write_decimal(buffer + sizeof(buffer), number, false);
	rep_text_add(text, at, (size_t)(buffer + sizeof(buffer) - at));
}

void rep_text_count(struct rep_text *text, uint64_t number)
{
	char buffer[32];
	char *at = write_decimal(buffer + sizeof(buffer), number, true);
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

uint64_t rep_difference(uint64_t from, uint64_t to)
{
	return to > from ? to - from : from - to;
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
