/*
 * What the passes over exe.prof (docs/exe-prof.md) share: the reader, and its lines and words.
 */
#ifndef RETYPE_PROFILE_HGPROF_READER_H
#define RETYPE_PROFILE_HGPROF_READER_H

#include "base/assert.h"
#include "base/hash.h"
#include "retype/types/types.h"

#include <string.h>

/* The rest of a line. */
struct hgprof_line {
	const uint8_t *next, *end;
	uint32_t number;
};

/* A record that has a number, by which it is found later. */
struct hgprof_record {
	const uint8_t *text; /* after its number */
	uint32_t line, id;
};

struct hgprof_records {
	struct hgprof_record *all; /* by number, once they are all there */
	uint64_t count, capacity;
};

struct hgprof_word {
	const uint8_t *text;
	size_t length;
};

/* Growing arrays for the parts of one term. */
struct hgprof_lists {
	uint32_t *ids;
	uint64_t id_count, id_capacity;
	const char **names;
	uint64_t name_count, name_capacity;
};

struct hgprof_file {
	const char *path;
	uint32_t unit;
};

struct hgprof_reader {
	struct retype_types *types;
	const uint8_t *bytes, *end;
	struct hg_error *error;
	struct hgprof_records terms, declarations, layouts, files, functions, units;
	uint32_t counts[256];     /* of lines, by letter */
	uint32_t *declared;       /* numbers of declarations, by those of the file */
	struct retype_term *open; /* terms, by their numbers in the file */
	struct retype_term *closed;
	struct hgprof_file *file_names;
	struct hgprof_lists lists;
	struct base_map unit_numbers; /* by the pointer of the name */
	struct hgprof_word last_unit;
	uint32_t last_unit_number;
};

/* Words.  Functions that can fail have reported where and why. */

/* "line N: ..." at some byte of the text. */
enum hg_status hgprof_bad(const struct hgprof_reader *reader, const struct hgprof_line *line,
	const uint8_t *at, const char *format, ...) BASE_PRINTF(4, 5);

/* The line that begins with the text. */
static inline struct hgprof_line hgprof_line_at(
	const struct hgprof_reader *reader, const uint8_t *text, uint32_t number)
{
	base_assert(text >= reader->bytes && text <= reader->end);
	const uint8_t *end = memchr(text, '\n', (size_t)(reader->end - text));
	return (struct hgprof_line){text, end ? end : reader->end, number};
}
/* The line that begins with the text of a record. */
struct hgprof_line hgprof_line_of(
	const struct hgprof_reader *reader, const struct hgprof_record *record);
/* The next line; false at the end of the file. */
static inline bool hgprof_next_line(const struct hgprof_reader *reader, struct hgprof_line *line)
{
	if (line->end >= reader->end - 1)
		return false;
	*line = hgprof_line_at(reader, line->end + 1, line->number + 1);
	return true;
}

/* The next word; false at the end of the line. */
bool hgprof_next_word(struct hgprof_line *line, struct hgprof_word *word);
/* How many words are left. */
uint32_t hgprof_count_words(const struct hgprof_line *line);
/* A number below a limit, which must be the whole word. */
enum hg_status hgprof_number(const struct hgprof_reader *reader, struct hgprof_line *line,
	const char *what, uint32_t limit, uint32_t *number);
enum hg_status hgprof_parse_number(const struct hgprof_reader *reader,
	const struct hgprof_line *line, struct hgprof_word word, const char *what, uint32_t limit,
	uint32_t *number);
enum hg_status hgprof_name(
	const struct hgprof_reader *reader, struct hgprof_line *line, const char **name);
/* The same for names of which each is there once: without looking for an equal one. */
enum hg_status hgprof_ident(
	const struct hgprof_reader *reader, struct hgprof_line *line, const char **name);
enum hg_status hgprof_unescape(const struct hgprof_reader *reader, const struct hgprof_line *line,
	struct hgprof_word word, const char **name);
/* Cuts NAME:REST in two; false if there is no colon. */
bool hgprof_split(struct hgprof_word *name, struct hgprof_word *rest);

enum hg_status hgprof_alloc(
	const struct hgprof_reader *reader, uint64_t count, size_t size, void *out);

#endif
