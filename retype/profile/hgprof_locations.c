/*
 * Lines L are most of a profile and are read by hand: seven numbers and the text that tells what is
 * made, which is checked at once, so that reading it later cannot fail for what it says.
 */
#include "retype/profile/hgprof_locations.h"

#include "base/assert.h"
#include "base/cursor.h"

#include <string.h>

static bool read_digits_slowly(const uint8_t **next, const uint8_t *end, uint32_t *number)
{
	const uint8_t *p = *next;
	uint64_t value = 0;
	if (p == end || (unsigned)*p - '0' > 9)
		return false;
	for (; p < end && (unsigned)*p - '0' <= 9 && value < UINT32_MAX; p++)
		value = value * 10 + (*p - (unsigned)'0');
	*next = p;
	*number = (uint32_t)value;
	return value < UINT32_MAX;
}

/*
 * One to seven digits at once: of eight bytes, those before the first that is no digit are shifted
 * to the end, and neighbours are added up pairwise, three times.
 */
static inline bool read_digits(const uint8_t **next, const uint8_t *end, uint32_t *number)
{
	if (end - *next < 8)
		return read_digits_slowly(next, end, number);
	uint64_t digits = base_load_u64le(*next) ^ UINT64_C(0x3030303030303030);
	uint64_t others =
		((digits + UINT64_C(0x7676767676767676)) | digits) & UINT64_C(0x8080808080808080);
	if (!others || others & 0x80)
		return read_digits_slowly(next, end, number);
	unsigned length = (unsigned)__builtin_ctzll(others) / 8;
	digits <<= 64 - 8 * length;
	digits = (digits * 10 + (digits >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
	digits = (digits * 100 + (digits >> 16)) & UINT64_C(0x0000ffff0000ffff);
	digits = digits * 10000 + (digits >> 32);
	*next += length;
	*number = (uint32_t)digits;
	return true;
}

/* "@NUMBER" or "@-1". */
static bool read_function_number(const uint8_t **next, const uint8_t *end, uint32_t *number)
{
	if (*next == end || **next != '@')
		return false;
	++*next;
	if (end - *next >= 2 && (*next)[0] == '-' && (*next)[1] == '1') {
		*next += 2;
		*number = RETYPE_NONE;
		return true;
	}
	return read_digits(next, end, number);
}

static bool skip_space(const uint8_t **next, const uint8_t *end)
{
	if (*next == end || **next != ' ')
		return false;
	++*next;
	return true;
}

/* That all of "KIND:TERM..." can be read later. */
static enum hg_status check_made(const struct hgprof_reader *reader, const struct hgprof_line *line)
{
	const uint8_t *next = line->next;
	uint32_t count = (uint32_t)reader->terms.count, term;
	while (next < line->end) {
		const uint8_t *start = next;
		while (next < line->end && *next != ':' && *next != ' ')
			next++;
		if (next < line->end && *next == ':') {
			next++;
			if (!read_digits(&next, line->end, &term) ||
				(next < line->end && *next != ' '))
				return hgprof_bad(reader, line, start, "KIND:TERM is expected");
			if (term >= count)
				return hgprof_bad(reader, line, start,
					"%u is out of range for a term, there are %u", term, count);
		} else if (next > start) {
			return hgprof_bad(reader, line, start, "a kind without a term");
		}
		next += next < line->end;
	}
	return HG_OK;
}

enum hg_status hgprof_read_location(struct hgprof_reader *reader, struct hgprof_line *line)
{
	struct retype_types *types = reader->types;
	base_assert(types->location_count < reader->counts['L']);
	struct retype_location *location = &types->locations[types->location_count];
	const uint8_t *next = line->next, *end = line->end;
	uint32_t numbers[6];
	for (unsigned i = 0; i < 6; i++)
		if (!skip_space(&next, end) || !read_digits(&next, end, &numbers[i]))
			return hgprof_bad(reader, line, next, "a place has six numbers");
	if (!skip_space(&next, end) || !read_function_number(&next, end, &location->function) ||
		(next < end && *next != ' '))
		return hgprof_bad(reader, line, next, "a place without its function");
	if (numbers[0] >= reader->files.count)
		return hgprof_bad(
			reader, line, line->next, "%u is out of range for a file", numbers[0]);
	if (location->function != RETYPE_NONE && location->function >= types->function_count)
		return hgprof_bad(reader, line, line->next, "%u is out of range for a function",
			location->function);
	location->file = reader->file_names[numbers[0]].path;
	location->unit = reader->file_names[numbers[0]].unit;
	location->line = numbers[1];
	location->start = numbers[2];
	location->end = numbers[3];
	location->end_line = numbers[4];
	location->end_column = numbers[5];
	location->made_count = RETYPE_NONE;
	location->unread = next;
	line->next = next;
	BASE_TRY(check_made(reader, line));
	types->location_count++;
	return HG_OK;
}

/* What is needed as long as the table. */
struct kept {
	const uint8_t *end;
	const struct retype_term *closed;
	uint32_t term_count;
};

static void read_kinds(struct retype_types *types, const struct kept *kept, struct hgprof_line line,
	struct retype_location *location)
{
	/* The line has been checked, but for the escapes of names, which may stay as they are. */
	struct hgprof_reader reader = {.types = types, .bytes = line.next};
	struct retype_made *made;
	struct hgprof_word word, term;
	uint32_t count = hgprof_count_words(&line);
	location->made_count = 0;
	location->made = NULL;
	enum hg_status status = hgprof_alloc(&reader, count, sizeof(*made), &made);
	for (uint32_t i = 0; status == HG_OK && hgprof_next_word(&line, &word); i++) {
		uint32_t number = 0;
		if (hgprof_split(&word, &term)) {
			const uint8_t *digits = term.text;
			read_digits(&digits, term.text + term.length, &number);
		}
		enum hg_status unescaped = hgprof_unescape(&reader, &line, word, &made[i].kind);
		if (unescaped == HG_ERROR_LIMIT)
			retype_keep_status(types, unescaped);
		if (unescaped != HG_OK)
			made[i].kind = retype_intern(types, word.text, word.length);
		made[i].maker = retype_maker_of(made[i].kind);
		base_assert(number < kept->term_count);
		made[i].type = kept->closed[number];
		location->made_count = i + 1;
		location->made = made;
	}
	if (status != HG_OK)
		retype_keep_status(types, base_no_memory(types->error, count * sizeof(*made)));
}

static void read_made(struct retype_types *types, struct retype_location *location)
{
	const struct kept *kept = types->deferred.reader;
	base_assert(location->made_count == RETYPE_NONE && location->unread <= kept->end);
	const uint8_t *end = memchr(location->unread, '\n', (size_t)(kept->end - location->unread));
	read_kinds(types, kept, (struct hgprof_line){location->unread, end ? end : kept->end, 0},
		location);
}

enum hg_status hgprof_defer_locations(struct hgprof_reader *reader)
{
	struct kept *kept;
	BASE_TRY(hgprof_alloc(reader, 1, sizeof(*kept), &kept));
	*kept = (struct kept){reader->end, reader->closed, (uint32_t)reader->terms.count};
	reader->types->deferred = (struct retype_deferred){read_made, kept};
	return HG_OK;
}
