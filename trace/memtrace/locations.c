/* Codes, their locations, and the tables of recent names that shorten them. */
#include "trace/memtrace/locations.h"

#include "base/assert.h"
#include "base/grow.h"

#include <string.h>

/* Of a record: line, start, end, file and function in 20, 8, 10, 5 and 5 bits. */
enum { RECORD_BYTES = 6, START_BIT = 20, END_BIT = 28, FILE_BIT = 38, FUNCTION_BIT = 43 };
enum { CODE_NEW = 31, MOST_RECORDS = 255 };

/* Of a whole file: a second. */
enum { MOST_SEARCH = 1 << 26 };

/* Where columns spill: the two low bits of the code of a file. */
enum { SPILLED = 3 };

enum hg_status memtrace_locations_init(struct memtrace_locations *locations, struct hg_error *error)
{
	uint32_t none;
	*locations = (struct memtrace_locations){.search_left = MOST_SEARCH};
	BASE_TRY(trace_names_add(&locations->names, "", 0, &none, error));
	BASE_TRY(trace_names_add(&locations->names, "??", 2, &locations->unknown, error));
	return memtrace_code_number(locations, 0, &none, error);
}

enum hg_status memtrace_locations_restart(
	struct memtrace_locations *locations, struct hg_error *error)
{
	uint32_t none;
	base_map_release(&locations->numbers);
	locations->code_count = locations->location_count = locations->changed_count = 0;
	locations->search_left = MOST_SEARCH;
	return memtrace_code_number(locations, 0, &none, error);
}

void memtrace_locations_release(struct memtrace_locations *locations)
{
	trace_names_release(&locations->names);
	free(locations->codes);
	free(locations->locations);
	free(locations->changed);
	base_map_release(&locations->numbers);
	*locations = (struct memtrace_locations){0};
}

void memtrace_recent_init(struct memtrace_recent *recent)
{
	*recent = (struct memtrace_recent){0};
	for (unsigned i = 0; i < MEMTRACE_RECENT; i++)
		recent->tables[i] = (uint8_t)i;
}

enum hg_status memtrace_code_number(struct memtrace_locations *locations, uint64_t code,
	uint32_t *number, struct hg_error *error)
{
	uint64_t value = locations->code_count;
	bool added;
	if (base_map_number(&locations->numbers, code, number))
		return HG_OK;
	if (locations->code_count == UINT32_MAX)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET, "too many locations");
	BASE_TRY(base_grow(&locations->codes, locations->code_count, &locations->code_capacity,
		sizeof(*locations->codes), error));
	BASE_TRY(base_map_add(&locations->numbers, code, &value, &added, error));
	base_assert(added);
	locations->codes[locations->code_count++] = (struct memtrace_code){.code = code};
	*number = (uint32_t)value;
	return HG_OK;
}

/* Takes entry 'index' of a table of names to its front; MEMTRACE_RECENT: a new one, the last goes.
 */
static void bring_name_to_front(uint32_t *names, unsigned index, uint32_t name)
{
	if (index < MEMTRACE_RECENT)
		name = names[index];
	else
		index = MEMTRACE_RECENT - 1;
	memmove(names + 1, names, index * sizeof(*names));
	names[0] = name;
}

/* A new file has the table of the one that falls off: writers of version 1 rely on it. */
static void bring_file_to_front(struct memtrace_recent *recent, unsigned index, uint32_t name)
{
	unsigned from = index < MEMTRACE_RECENT ? index : MEMTRACE_RECENT - 1;
	uint8_t table = recent->tables[from];
	memmove(recent->tables + 1, recent->tables, from * sizeof(*recent->tables));
	recent->tables[0] = table;
	bring_name_to_front(recent->files, index, name);
}

/* A record as it stands in the file: strings are NULL where there are none. */
struct location_record {
	uint64_t bits;
	const uint8_t *file, *function;
	size_t file_length, function_length;
	bool spilled; /* the code of the file is not what was written */
};

static bool read_location_record(
	struct base_cursor *cursor, bool spilled, struct location_record *record)
{
	const uint8_t *bytes;
	*record = (struct location_record){.spilled = spilled};
	if (!base_cursor_bytes(cursor, RECORD_BYTES, &bytes))
		return false;
	for (unsigned i = RECORD_BYTES; i-- > 0;)
		record->bits = record->bits << 8 | bytes[i];
	if ((record->bits >> FILE_BIT & CODE_NEW) == CODE_NEW && !spilled &&
		!base_cursor_string(cursor, &record->file, &record->file_length))
		return false;
	return (record->bits >> FUNCTION_BIT & CODE_NEW) != CODE_NEW ||
	       base_cursor_string(cursor, &record->function, &record->function_length);
}

/* Whether a location event may end here. */
static bool ends_location(const struct base_cursor *cursor, uint32_t next)
{
	struct base_cursor copy = *cursor;
	uint32_t header;
	return base_cursor_left(cursor) == 0 ||
	       (base_cursor_u32le(&copy, &header) && header == next);
}

/* A record that may have been spilled into is read again as if it were. */
static bool may_have_spilled(const struct location_record *record)
{
	return !record->spilled && (record->bits >> FILE_BIT & CODE_NEW) == CODE_NEW;
}

/*
 * Looks for a way to read 'count' records so that the event ends where it may: as they stand first,
 * then with the last of them that may have been spilled into read so, and so on.  The ways are
 * bounded: what follows a wrong one seldom fits.  '*search_left' bounds them in the whole file.
 */
static bool find_records(struct base_cursor *cursor, uint32_t next, unsigned count,
	struct location_record *records, bool *recovered, uint64_t *search_left)
{
	enum { MOST_TRIES = 4096, SEARCHED_AT_ONCE = 256 };
	const uint8_t *starts[MOST_RECORDS + 1];
	unsigned at = 0;
	bool spilled = false;
	starts[0] = cursor->next;
	for (unsigned tries = 0; tries < MOST_TRIES; tries++) {
		if (at == count && ends_location(cursor, next)) {
			*recovered = false;
			for (unsigned i = 0; i < count; i++)
				*recovered |= records[i].spilled;
			return true;
		}
		bool good = at < count && read_location_record(cursor, spilled, &records[at]);
		if (good) {
			starts[++at] = cursor->next;
			spilled = false;
			continue;
		}
		if (at < count && !spilled && may_have_spilled(&records[at]))
			at++;
		while (at > 0 && !may_have_spilled(&records[at - 1]))
			at--;
		/* Other ways: a string may go on to the end of the packet. */
		const uint64_t cost = 1 + base_cursor_left(cursor) / SEARCHED_AT_ONCE;
		if (at == 0 || *search_left < cost)
			return false;
		*search_left -= cost;
		at--;
		cursor->next = starts[at];
		spilled = true;
	}
	return false;
}

/* Whether a record can be of this file: the domain has written it, and the function, before. */
static bool can_be_file(const struct memtrace_recent *recent, unsigned file, unsigned function)
{
	return file == CODE_NEW ||
	       (recent->files[file] &&
		       (function == CODE_NEW || recent->functions[recent->tables[file]][function]));
}

/*
 * The code of a file as it was written: as it stands, if that can be; else without what spilled
 * into it, if there is but one way.  Else CODE_NEW, for a file without a name.
 */
static unsigned written_file_code(const struct memtrace_recent *recent, unsigned file,
	unsigned function, struct location_record *record)
{
	unsigned found = CODE_NEW, ways = 0;
	if (record->spilled || can_be_file(recent, file, function))
		return file;
	record->spilled = true;
	for (unsigned clear = 1; clear <= SPILLED; clear++) {
		if ((file & clear) != clear || !can_be_file(recent, file & ~clear, function))
			continue;
		found = file & ~clear;
		ways++;
	}
	return ways == 1 ? found : CODE_NEW;
}

static enum hg_status place_location(struct memtrace_locations *locations,
	struct memtrace_recent *recent, struct location_record *record, struct hg_error *error)
{
	unsigned function_code = (unsigned)(record->bits >> FUNCTION_BIT) & CODE_NEW;
	unsigned file_code = written_file_code(
		recent, (unsigned)(record->bits >> FILE_BIT) & CODE_NEW, function_code, record);
	uint32_t file = locations->unknown, function = locations->unknown;
	if (record->file)
		BASE_TRY(trace_names_add(
			&locations->names, record->file, record->file_length, &file, error));
	if (record->function)
		BASE_TRY(trace_names_add(&locations->names, record->function,
			record->function_length, &function, error));
	bring_file_to_front(recent, file_code, file);
	uint32_t *functions = recent->functions[recent->tables[0]];
	bring_name_to_front(functions, function_code, function);
	BASE_TRY(base_grow(&locations->locations, locations->location_count,
		&locations->location_capacity, sizeof(*locations->locations), error));
	locations->locations[locations->location_count++] = (struct memtrace_location){
		.file = recent->files[0],
		.function = functions[0],
		.line = (uint32_t)record->bits & 0xFFFFF,
		.start = (uint16_t)(record->bits >> START_BIT & 0xFF),
		.end = record->spilled ? 0x3FF : (uint16_t)(record->bits >> END_BIT & 0x3FF)};
	return HG_OK;
}

/* From now on nothing that the domain wrote before is certain. */
static void forget_recent(
	const struct memtrace_locations *locations, struct memtrace_recent *recent)
{
	for (unsigned i = 0; i < MEMTRACE_RECENT; i++) {
		recent->files[i] = locations->unknown;
		for (unsigned j = 0; j < MEMTRACE_RECENT; j++)
			recent->functions[i][j] = locations->unknown;
	}
}

static enum hg_status add_changed_code(
	struct memtrace_locations *locations, uint32_t number, struct hg_error *error)
{
	BASE_TRY(base_grow(&locations->changed, locations->changed_count,
		&locations->changed_capacity, sizeof(*locations->changed), error));
	locations->changed[locations->changed_count++] = number;
	return HG_OK;
}

enum hg_status memtrace_read_location(struct memtrace_locations *locations,
	struct memtrace_recent *recent, struct base_cursor *cursor, uint32_t next, bool *recovered,
	bool *good, struct hg_error *error)
{
	struct location_record records[MOST_RECORDS];
	uint64_t code;
	uint32_t number;
	uint8_t count;
	*good = base_cursor_u64le(cursor, &code) && base_cursor_u8(cursor, &count) &&
		find_records(cursor, next, count, records, recovered, &locations->search_left);
	if (!*good)
		return HG_OK;
	if (*recovered)
		forget_recent(locations, recent);
	uint64_t known = locations->code_count;
	BASE_TRY(memtrace_code_number(locations, code, &number, error));
	if (number < known)
		BASE_TRY(add_changed_code(locations, number, error));
	uint64_t first = locations->location_count;
	if (first + count > UINT32_MAX)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET, "too many locations");
	for (unsigned i = 0; i < count; i++) {
		BASE_TRY(place_location(locations, recent, &records[i], error));
		*recovered |= records[i].spilled;
	}
	locations->codes[number].first = (uint32_t)first;
	locations->codes[number].count = count;
	return HG_OK;
}
