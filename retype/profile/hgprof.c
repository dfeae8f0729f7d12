/*
 * One pass finds the records that have numbers and counts the others; types are read then, in the
 * order in which they need each other; a second pass reads what leads to types.
 */
#include "retype/profile/hgprof.h"

#include "base/assert.h"
#include "base/grow.h"
#include "retype/profile/hgprof_reader.h"
#include "retype/profile/hgprof_types.h"
#include "retype/profile/hgprof_uses.h"

#include <string.h>

static const char magic[] = "hgprof ";

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
	for (uint64_t i = 0; status == HG_OK && i < records->count; i++)
		base_assert(ordered[i].id == i);
	return status;
}

static enum hg_status read_hgprof_header(struct hgprof_reader *reader, struct hgprof_line *line)
{
	struct hgprof_word word;
	uint32_t format = 0, word_size;
	*line = hgprof_line_at(reader, reader->bytes, 1);
	if (!retype_is_hgprof(reader->bytes, (size_t)(reader->end - reader->bytes)))
		return hgprof_bad(reader, line, line->next, "no profile in the format 'hgprof'");
	line->next += strlen(magic);
	BASE_TRY(hgprof_number(reader, line, "format", UINT32_MAX, &format));
	if (format != 1)
		return hgprof_bad(reader, line, reader->bytes,
			"format hgprof %u; this program reads hgprof 1", format);
	if (!hgprof_next_word(line, &word) || word.length != 5 ||
		memcmp(word.text, "ocaml", 5) != 0)
		return hgprof_bad(reader, line, line->next, "no version of OCaml");
	BASE_TRY(hgprof_name(reader, line, &reader->types->ocaml_version));
	if (!hgprof_next_word(line, &word) || word.length != 4 || memcmp(word.text, "word", 4) != 0)
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
	BASE_TRY(read_hgprof_header(reader, &line));
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
	base_assert(reader->counts['z'] == 1);
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

static void release_reader(struct hgprof_reader *reader)
{
	for (const char *letter = "tDmfFu"; *letter; letter++)
		free(records_of(reader, (uint8_t)*letter)->all);
	free(reader->declared);
	free(reader->open);
	free(reader->lists.ids);
	free(reader->lists.names);
	free(reader->file_names);
	base_map_release(&reader->unit_numbers);
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
	if (status == HG_OK) {
		retype_lookups_make(types);
		retype_locations_index(types);
	}
	release_reader(&reader);
	return status != HG_OK ? status : types->status;
}
