/*
 * Locations as memtrace writes them: names by their place among those that the domain wrote last.
 */
#ifndef TRACE_MEMTRACE_PLACES_H
#define TRACE_MEMTRACE_PLACES_H

#include "trace/memtrace/writer.h"

/* The names of a domain, the most recent first.  4 KB. */
struct memtrace_written {
	unsigned file_count;
	struct memtrace_written_file {
		uint32_t name;
		unsigned count;
		uint32_t functions[MEMTRACE_RECENT];
	} files[MEMTRACE_RECENT];
};

/* What a location event has behind its header and code is at most so long. */
enum { MEMTRACE_MOST_PLACES = 4096 };

/*
 * Appends the number of places and the places to 'bytes', where there is room for
 * MEMTRACE_MOST_PLACES; too many, or too long ones, are one place without a name, as memtrace does.
 */
enum hg_status memtrace_put_places(struct memtrace_written *written, struct trace_names *names,
	const struct memtrace_place *places, size_t count, uint8_t *bytes, unsigned *length,
	struct hg_error *error);

#endif
