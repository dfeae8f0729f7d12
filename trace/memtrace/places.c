/* Writing of locations. */
#include "trace/memtrace/places.h"

#include <string.h>

enum { RECORD_SIZE = 6, NEW_NAME = 31, MOST_COUNT = 255 };
enum { START_AT = 20, END_AT = 28, FILE_AT = 38, FUNCTION_AT = 43 };
enum { MOST_LINE = 0xFFFFF, MOST_START = 0xFF, MOST_END = 0x3FF };

static uint64_t at_most(uint64_t number, uint64_t most)
{
	return number < most ? number : most;
}

/* Brings a file to the front; its place before, or NEW_NAME. */
static unsigned front_file(struct memtrace_written *written, uint32_t name)
{
	unsigned at = 0;
	while (at < written->file_count && written->files[at].name != name)
		at++;
	bool is_new = at == written->file_count;
	struct memtrace_written_file file = {.name = name};
	if (!is_new)
		file = written->files[at];
	else if (at == MEMTRACE_RECENT)
		at--;
	else
		written->file_count++;
	memmove(written->files + 1, written->files, at * sizeof(file));
	written->files[0] = file;
	return is_new ? NEW_NAME : at;
}

/* The same of a function of the first file. */
static unsigned front_function(struct memtrace_written *written, uint32_t name)
{
	struct memtrace_written_file *file = &written->files[0];
	unsigned at = 0;
	while (at < file->count && file->functions[at] != name)
		at++;
	bool is_new = at == file->count;
	if (is_new && at == MEMTRACE_RECENT)
		at--;
	else if (is_new)
		file->count++;
	memmove(file->functions + 1, file->functions, at * sizeof(*file->functions));
	file->functions[0] = name;
	return is_new ? NEW_NAME : at;
}

static void put_name(uint8_t *bytes, unsigned *length, const char *name)
{
	size_t size = strlen(name) + 1;
	memcpy(bytes + *length, name, size);
	*length += (unsigned)size;
}

static enum hg_status put_place(struct memtrace_written *written, struct trace_names *names,
	const struct memtrace_place *place, uint8_t *bytes, unsigned *length,
	struct hg_error *error)
{
	uint32_t file_name, function_name;
	BASE_TRY(trace_names_add(names, place->file, strlen(place->file), &file_name, error));
	BASE_TRY(trace_names_add(
		names, place->function, strlen(place->function), &function_name, error));
	uint64_t file = front_file(written, file_name);
	uint64_t function = front_function(written, function_name);
	uint64_t bits =
		at_most(place->line, MOST_LINE) | at_most(place->start, MOST_START) << START_AT |
		at_most(place->end, MOST_END) << END_AT | file << FILE_AT | function << FUNCTION_AT;
	for (unsigned i = 0; i < RECORD_SIZE; i++)
		bytes[(*length)++] = (uint8_t)(bits >> 8 * i);
	if (file == NEW_NAME)
		put_name(bytes, length, place->file);
	if (function == NEW_NAME)
		put_name(bytes, length, place->function);
	return HG_OK;
}

enum hg_status memtrace_put_places(struct memtrace_written *written, struct trace_names *names,
	const struct memtrace_place *places, size_t count, uint8_t *bytes, unsigned *length,
	struct hg_error *error)
{
	static const struct memtrace_place unknown = {"<unknown>", "??", 1, 1, 1};
	size_t most = 1;
	for (size_t i = 0; i < count && most <= MEMTRACE_MOST_PLACES; i++)
		most += RECORD_SIZE + strlen(places[i].file) + strlen(places[i].function) + 2;
	if (count > MOST_COUNT || most > MEMTRACE_MOST_PLACES) {
		places = &unknown;
		count = 1;
	}
	bytes[(*length)++] = (uint8_t)count;
	for (size_t i = 0; i < count; i++)
		BASE_TRY(put_place(written, names, &places[i], bytes, length, error));
	return HG_OK;
}
