/*
 * The lines of exe.prof.  One pass finds the records that have numbers and counts the others; types
 * are read then, in the order in which they need each other; a second pass reads what leads to
 * types.
 */
#include "retype/profile/hgprof_parts.h"

#include "base/grow.h"

#include <stdio.h>
#include <string.h>

static const char magic[] = "hgprof ";

enum hg_status hgprof_bad(const struct hgprof_reader *reader, const struct hgprof_line *line,
	const uint8_t *at, const char *format, ...)
{
	char what[256];
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

static struct hgprof_line line_at(
	const struct hgprof_reader *reader, const uint8_t *text, uint32_t number)
{
	const uint8_t *end = memchr(text, '\n', (size_t)(reader->end - text));
	return (struct hgprof_line){text, end ? end : reader->end, number};
}

struct hgprof_line hgprof_line_of(
	const struct hgprof_reader *reader, const struct hgprof_record *record)
{
	return line_at(reader, record->text, record->line);
}

bool hgprof_next_line(const struct hgprof_reader *reader, struct hgprof_line *line)
{
	if (line->end >= reader->end - 1)
		return false;
	*line = line_at(reader, line->end + 1, line->number + 1);
	return true;
}

/* Words */

bool hgprof_word(struct hgprof_line *line, struct hgprof_word *word)
{
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
	while (hgprof_word(&rest, &word))
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
	if (!hgprof_word(line, &word))
		return hgprof_bad(reader, line, line->end, "ends where a %s is to be", what);
	return hgprof_parse_number(reader, line, word, what, limit, number);
}

static int hexadecimal(uint8_t c)
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
			high = i + 2 < word.length ? hexadecimal(word.text[i + 1]) : -1;
			low = i + 2 < word.length ? hexadecimal(word.text[i + 2]) : -1;
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
	if (!hgprof_word(line, &word))
		return hgprof_bad(reader, line, line->end, "ends where a name is to be");
	return hgprof_unescape(reader, line, word, name);
}

enum hg_status hgprof_ident(
	const struct hgprof_reader *reader, struct hgprof_line *line, const char **name)
{
	struct hgprof_word word;
	struct hgprof_line rest = *line;
	if (!hgprof_word(&rest, &word) || memchr(word.text, '%', word.length))
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
	*rest = (struct hgprof_word){colon + 1, name->length - length - 1};
	name->length = length;
	return true;
}

/* The first pass */

static enum hg_status add_record(
	struct hgprof_reader *reader, struct hgprof_records *records, struct hgprof_line *line)
{
	struct hgprof_record record = {.line = line->number};
	BASE_TRY(base_grow(&records->all, records->count, &records->capacity, sizeof(*records->all),
		reader->error));
	if (records != &reader->units)
		BASE_TRY(hgprof_number(reader, line, "record", UINT32_MAX, &record.id));
	record.text = line->next;
	records->all[records->count++] = record;
	return HG_OK;
}

static struct hgprof_records *records_of(struct hgprof_reader *reader, uint8_t letter)
{
	switch (letter) {
	case 't':
		return &reader->terms;
	case 'D':
		return &reader->declarations;
	case 'm':
		return &reader->layouts;
	case 'f':
		return &reader->files;
	case 'F':
		return &reader->functions;
	case 'u':
		return &reader->units;
	default:
		return NULL;
	}
}

/* Numbers are dense: each below the count is there once. */
static enum hg_status order_records(
	const struct hgprof_reader *reader, struct hgprof_records *records)
{
	bool in_order = true;
	for (uint64_t i = 0; i < records->count; i++) {
		const struct hgprof_record *record = &records->all[i];
		struct hgprof_line line = {record->text, record->text, record->line};
		if (record->id >= records->count)
			return hgprof_bad(reader, &line, record->text,
				"number %u, but there are only %llu such records", record->id,
				(unsigned long long)records->count);
		in_order &= record->id == i;
	}
	if (in_order)
		return HG_OK;
	struct hgprof_record *ordered = calloc(records->count, sizeof(*ordered));
	if (!ordered)
		return base_no_memory(reader->error, records->count * sizeof(*ordered));
	enum hg_status status = HG_OK;
	for (uint64_t i = 0; i < records->count && status == HG_OK; i++) {
		const struct hgprof_record *record = &records->all[i];
		struct hgprof_line line = {record->text, record->text, record->line};
		if (ordered[record->id].text)
			status = hgprof_bad(reader, &line, record->text,
				"defines %u, as line %u does", record->id,
				ordered[record->id].line);
		ordered[record->id] = *record;
	}
	free(records->all);
	records->all = ordered;
	return status;
}

static enum hg_status read_header(struct hgprof_reader *reader, struct hgprof_line *line)
{
	struct hgprof_word word;
	uint32_t format = 0, word_size;
	*line = line_at(reader, reader->bytes, 1);
	if (!retype_is_hgprof(reader->bytes, (size_t)(reader->end - reader->bytes)))
		return hgprof_bad(reader, line, line->next, "no profile in the format 'hgprof'");
	line->next += strlen(magic);
	BASE_TRY(hgprof_number(reader, line, "format", UINT32_MAX, &format));
	if (format != 1)
		return hgprof_bad(reader, line, reader->bytes,
			"format hgprof %u; this program reads hgprof 1", format);
	if (!hgprof_word(line, &word) || word.length != 5 || memcmp(word.text, "ocaml", 5) != 0)
		return hgprof_bad(reader, line, line->next, "no version of OCaml");
	BASE_TRY(hgprof_name(reader, line, &reader->types->ocaml_version));
	if (!hgprof_word(line, &word) || word.length != 4 || memcmp(word.text, "word", 4) != 0)
		return hgprof_bad(reader, line, line->next, "no size of words");
	BASE_TRY(hgprof_number(reader, line, "size of words", UINT32_MAX, &word_size));
	if (word_size != 64)
		return hgprof_bad(
			reader, line, reader->bytes, "of a program with %u-bit words", word_size);
	return HG_OK;
}

/* The last line, "z COUNT". */
static enum hg_status check_end(
	struct hgprof_reader *reader, const struct hgprof_line *last, bool is_end)
{
	struct hgprof_line line = *last;
	uint32_t count;
	if (!is_end || line.end == reader->end)
		return hgprof_bad(reader, &line, reader->end,
			"the file ends without the line 'z', as if it was cut short");
	BASE_TRY(hgprof_number(reader, &line, "line", UINT32_MAX, &count));
	if (count != line.number - 1)
		return hgprof_bad(reader, &line, last->next,
			"there are %u lines before the last one, which says %u", line.number - 1,
			count);
	return HG_OK;
}

static enum hg_status find_records(struct hgprof_reader *reader)
{
	struct hgprof_line line;
	struct hgprof_records *records;
	bool is_end = false;
	BASE_TRY(read_header(reader, &line));
	while (hgprof_next_line(reader, &line)) {
		if (is_end)
			return hgprof_bad(reader, &line, line.next, "a line behind the line 'z'");
		if (line.number == UINT32_MAX)
			return hgprof_bad(reader, &line, line.next, "too many lines");
		if (line.next == line.end)
			continue;
		uint8_t letter = *line.next++;
		/* Letters of later formats may be longer, as may be what is to be skipped. */
		if (line.next < line.end && *line.next != ' ')
			continue;
		reader->counts[letter]++;
		is_end = letter == 'z';
		records = records_of(reader, letter);
		if (records)
			BASE_TRY(add_record(reader, records, &line));
	}
	BASE_TRY(check_end(reader, &line, is_end));
	for (const char *letter = "tDmfF"; *letter; letter++)
		BASE_TRY(order_records(reader, records_of(reader, (uint8_t)*letter)));
	return HG_OK;
}

bool retype_is_hgprof(const uint8_t *bytes, size_t size)
{
	size_t length = strlen(magic);
	return size > length && memcmp(bytes, magic, length) == 0 && bytes[length] >= '0' &&
	       bytes[length] <= '9';
}

static void release(struct hgprof_reader *reader)
{
	for (const char *letter = "tDmfFu"; *letter; letter++)
		free(records_of(reader, (uint8_t)*letter)->all);
	free(reader->declared);
	free(reader->open);
	free(reader->lists.ids);
	free(reader->lists.names);
	free(reader->file_names);
	free(reader->unit_numbers.slots);
}

enum hg_status retype_hgprof_read(
	struct retype_types *types, const uint8_t *bytes, size_t size, struct hg_error *error)
{
	struct hgprof_reader reader = {
		.types = types, .bytes = bytes, .end = bytes + size, .error = error};
	enum hg_status status = find_records(&reader);
	if (status == HG_OK)
		status = hgprof_read_types(&reader);
	if (status == HG_OK)
		status = hgprof_read_uses(&reader);
	if (status == HG_OK)
		retype_lookups_make(types);
	release(&reader);
	return status != HG_OK ? status : types->status;
}
