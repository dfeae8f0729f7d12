/*
 * record LOG TRACE [pid=N] [first=N] [events=N] [version=N]: what tests/ocaml/programs/traced.ml
 * logs as a trace of memtrace: of another process; with so many allocations before all others, so
 * that every object id is that of another; with no more than so many events; of version 2 instead
 * of 3.
 */
#include "trace/memtrace/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CODES = 1 << 16, MOST_PLACES = 16, MOST_DEPTH = 1 << 16 };

static struct record_code {
	struct memtrace_place places[MOST_PLACES];
	size_t count;
} codes[MOST_CODES];

static struct options {
	uint64_t pid, first, events, version;
} options = {.events = UINT64_MAX, .version = 3};

static bool write_record(void *data, const void *bytes, size_t size)
{
	return fwrite(bytes, 1, size, data) == size;
}

static size_t places_of_record(void *data, uint64_t code, const struct memtrace_place **places)
{
	(void)data;
	*places = codes[code].places;
	return codes[code].count;
}

static void give_up(const char *line, const struct hg_error *error)
{
	fprintf(stderr, "record: '%s': %s\n", line, error ? error->message : "not understood");
	exit(1);
}

static void add_record_place(const char *line)
{
	struct memtrace_place place;
	unsigned code;
	char file[256], function[256];
	if (sscanf(line, "place %u %u %u %u %255s %255s", &code, &place.line, &place.start,
		    &place.end, file, function) != 6 ||
		code >= MOST_CODES || codes[code].count == MOST_PLACES)
		give_up(line, NULL);
	place.file = strdup(file);
	place.function = strdup(function);
	codes[code].places[codes[code].count++] = place;
}

static void add_record_allocation(struct memtrace_writer *writer, uint64_t start, const char *line)
{
	static uint64_t stack[MOST_DEPTH];
	static uint64_t next;
	struct memtrace_allocation allocation = {.codes = stack};
	struct hg_error error;
	uint64_t object;
	char source[16];
	int length;
	if (sscanf(line, "allocation %lu %15s %lu %lu%n", &allocation.time, source,
		    &allocation.length, &allocation.samples, &length) != 4)
		give_up(line, NULL);
	allocation.time += start;
	allocation.source = source[1] == 'i'   ? MEMTRACE_MINOR
			    : source[1] == 'a' ? MEMTRACE_MAJOR
					       : MEMTRACE_EXTERNAL;
	for (const char *rest = line + length; *rest == ' ' && allocation.depth < MOST_DEPTH;) {
		char *end;
		stack[allocation.depth++] = strtoull(rest, &end, 10);
		rest = end;
	}
	if (memtrace_write_allocation(writer, 0, &allocation, &object, &error) != HG_OK)
		give_up(line, &error);
	if (object != next++)
		give_up(line, NULL);
}

static void add_record_end(
	struct memtrace_writer *writer, uint64_t start, const char *line, enum memtrace_kind kind)
{
	struct hg_error error;
	uint64_t time, object;
	if (sscanf(line, "%*s %lu %lu", &time, &object) != 2)
		give_up(line, NULL);
	if (memtrace_write_end(writer, 0, kind, start + time, object + options.first, &error) !=
		HG_OK)
		give_up(line, &error);
}

static struct memtrace_writer *open_record(const char *line, FILE *out, uint64_t *start)
{
	struct memtrace_info info = {.version = (unsigned)options.version,
		.word_bytes = 8,
		.executable = "traced",
		.host = "here",
		.parameters = "",
		.context = ""};
	const struct memtrace_writer_options wanted = {
		.info = &info, .write = write_record, .places = places_of_record, .data = out};
	struct memtrace_writer *writer;
	struct hg_error error;
	if (sscanf(line, "process %lu %lf %lu", &info.pid, &info.sample_rate, start) != 3)
		give_up(line, NULL);
	info.start_time = *start;
	if (options.pid)
		info.pid = options.pid;
	if (memtrace_writer_open(&writer, &wanted, &error) != HG_OK)
		give_up(line, &error);
	for (uint64_t i = 0; i < options.first; i++)
		add_record_allocation(writer, *start, "allocation 0 minor 1 1");
	return writer;
}

static void read_options(int count, char **arguments)
{
	for (int i = 0; i < count; i++)
		if (sscanf(arguments[i], "pid=%lu", &options.pid) != 1 &&
			sscanf(arguments[i], "first=%lu", &options.first) != 1 &&
			sscanf(arguments[i], "events=%lu", &options.events) != 1 &&
			sscanf(arguments[i], "version=%lu", &options.version) != 1)
			give_up(arguments[i], NULL);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	FILE *in = fopen(argv[1], "r"), *out = fopen(argv[2], "wb");
	struct memtrace_writer *writer = NULL;
	struct hg_error error;
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	uint64_t start = 0;
	read_options(argc - 3, argv + 3);
	while (in && out && (length = getline(&line, &room, in)) > 0) {
		line[length - 1] = '\0';
		if (!writer)
			writer = open_record(line, out, &start);
		else if (strncmp(line, "place ", 6) == 0)
			add_record_place(line);
		else if (options.events-- == 0)
			break;
		else if (line[0] == 'a')
			add_record_allocation(writer, start, line);
		else
			add_record_end(writer, start, line,
				line[0] == 'p' ? MEMTRACE_PROMOTION : MEMTRACE_COLLECTION);
	}
	if (!writer || memtrace_writer_close(writer, &error) != HG_OK || fclose(out) != 0)
		give_up(argv[2], NULL);
	return 0;
}
