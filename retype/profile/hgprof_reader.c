/*
 * Lines end at '\n', words at a space; in names '%' and two hexadecimal digits are any other byte.
 * Every refusal names the line and the offset.
 */
#include "retype/profile/hgprof_reader.h"

#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum hg_status hgprof_bad(const struct hgprof_reader *reader, const struct hgprof_line *line,
	const uint8_t *at, const char *format, ...)
{
	char what[256];
	base_assert(at >= reader->bytes);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	for (char *c = what; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	return base_corrupt(
		reader->error, (uint64_t)(at - reader->bytes), "line %u: %s", line->number, what);
}

enum hg_status hgprof_alloc(
	const struct hgprof_reader *reader, uint64_t count, size_t size, void *out)
{
	void *memory = NULL;
	BASE_TRY(base_pool_alloc(&reader->types->pool, count, size, &memory, reader->error));
	memcpy(out, &memory, sizeof(memory));
	return HG_OK;
}

/* Lines */

struct hgprof_line hgprof_line_of(
	const struct hgprof_reader *reader, const struct hgprof_record *record)
{
	return hgprof_line_at(reader, record->text, record->line);
}

/* Words */

bool hgprof_next_word(struct hgprof_line *line, struct hgprof_word *word)
{
	base_assert(line->next <= line->end);
	while (line->next < line->end && *line->next == ' ')
		line->next++;
	if (line->next == line->end)
		return false;
	const uint8_t *next = line->next;
	while (next < line->end && *next != ' ')
		next++;
	*word = (struct hgprof_word){line->next, (size_t)(next - line->next)};
	line->next = next;
	return true;
}

uint32_t hgprof_count_words(const struct hgprof_line *line)
{
	struct hgprof_line rest = *line;
	struct hgprof_word word;
	uint32_t count = 0;
	while (hgprof_next_word(&rest, &word))
		count++;
	return count;
}

enum hg_status hgprof_parse_number(const struct hgprof_reader *reader,
	const struct hgprof_line *line, struct hgprof_word word, const char *what, uint32_t limit,
	uint32_t *number)
{
	uint64_t value = 0;
	bool is_number = word.length > 0;
	for (size_t i = 0; i < word.length && is_number; i++) {
		is_number = word.text[i] >= '0' && word.text[i] <= '9';
		if (value <= UINT32_MAX)
			value = value * 10 + (uint64_t)(word.text[i] - '0');
	}
	if (!is_number)
		return hgprof_bad(reader, line, word.text, "'%.*s' is no number of a %s",
			word.length < 40 ? (int)word.length : 40, (const char *)word.text, what);
	if (value >= limit)
		return hgprof_bad(reader, line, word.text,
			"%.*s is out of range for a %s, there are %u",
			word.length < 40 ? (int)word.length : 40, (const char *)word.text, what,
			limit);
	*number = (uint32_t)value;
	return HG_OK;
}

enum hg_status hgprof_number(const struct hgprof_reader *reader, struct hgprof_line *line,
	const char *what, uint32_t limit, uint32_t *number)
{
	struct hgprof_word word;
	if (!hgprof_next_word(line, &word))
		return hgprof_bad(reader, line, line->end, "ends where a %s is to be", what);
	return hgprof_parse_number(reader, line, word, what, limit, number);
}

static int hexadecimal_value(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static enum hg_status unescape_long(const struct hgprof_reader *reader,
	const struct hgprof_line *line, struct hgprof_word word, const char **name)
{
	char *copy = malloc(word.length);
	size_t length = 0;
	if (!copy)
		return base_no_memory(reader->error, word.length);
	for (size_t i = 0; i < word.length; i++) {
		int high = 0, low = word.text[i];
		if (low == '%') {
			high = i + 2 < word.length ? hexadecimal_value(word.text[i + 1]) : -1;
			low = i + 2 < word.length ? hexadecimal_value(word.text[i + 2]) : -1;
			i += 2;
		}
		if (high < 0 || low < 0 || (high == 0 && low == 0)) {
			free(copy);
			return hgprof_bad(reader, line, word.text, "a name with a bad escape");
		}
		copy[length++] = (char)(high << 4 | low);
	}
	*name = retype_intern(reader->types, copy, length);
	free(copy);
	return HG_OK;
}

enum hg_status hgprof_unescape(const struct hgprof_reader *reader, const struct hgprof_line *line,
	struct hgprof_word word, const char **name)
{
	bool is_plain = true;
	if (word.length == 1 && word.text[0] == '%')
		word.length = 0;
	for (size_t i = 0; i < word.length && is_plain; i++)
		is_plain = word.text[i] != '%' && word.text[i] != '\0';
	if (!is_plain)
		return unescape_long(reader, line, word, name);
	*name = retype_intern(reader->types, word.text, word.length);
	return HG_OK;
}

enum hg_status hgprof_name(
	const struct hgprof_reader *reader, struct hgprof_line *line, const char **name)
{
	struct hgprof_word word;
	if (!hgprof_next_word(line, &word))
		return hgprof_bad(reader, line, line->end, "ends where a name is to be");
	return hgprof_unescape(reader, line, word, name);
}

enum hg_status hgprof_ident(
	const struct hgprof_reader *reader, struct hgprof_line *line, const char **name)
{
	struct hgprof_word word;
	struct hgprof_line rest = *line;
	if (!hgprof_next_word(&rest, &word) || memchr(word.text, '%', word.length))
		return hgprof_name(reader, line, name);
	*line = rest;
	return base_pool_string(&reader->types->pool, word.text, word.length, name, reader->error);
}

bool hgprof_split(struct hgprof_word *name, struct hgprof_word *rest)
{
	const uint8_t *colon = memchr(name->text, ':', name->length);
	if (!colon)
		return false;
	size_t length = (size_t)(colon - name->text);
	base_assert(length < name->length);
	*rest = (struct hgprof_word){colon + 1, name->length - length - 1};
	name->length = length;
	return true;
}
