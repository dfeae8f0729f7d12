/*
 * Places in the source that a memtrace trace names: a code stands for one call in the program, and
 * for the list of locations that the compiler inlined there, outermost first.  Codes are opaque
 * numbers of 64 bits; here each has a number of its own, in the order of first occurrence, 0 being
 * code 0, which is none.
 *
 * Source: memtrace, src/location_codec.ml and src/trace.ml (development version, January 2026).
 */
#ifndef TRACE_MEMTRACE_LOCATIONS_H
#define TRACE_MEMTRACE_LOCATIONS_H

#include "base/cursor.h"
#include "trace/names.h"

struct memtrace_location {
	uint32_t file, function; /* names */
	uint32_t line;           /* 0xFFFFF: or more */
	uint16_t start, end;     /* columns; 0xFF and 0x3FF: or more */
};

struct memtrace_code {
	uint64_t code;
	uint32_t first, count; /* locations; none: nothing is known of it */
};

/* One for all domains; 24 bytes a code, 16 a location, and 4 a change. */
struct memtrace_locations {
	struct trace_names names;
	struct memtrace_code *codes;
	uint64_t code_count, code_capacity;
	struct memtrace_location *locations;
	uint64_t location_count, location_capacity;
	struct base_map numbers; /* of codes */
	uint32_t unknown;        /* the name "??" */
	uint32_t *changed;       /* numbers of codes that were known when they got locations */
	uint64_t changed_count, changed_capacity;
	uint64_t search_left; /* how much may be looked for what columns spoilt */
};

enum { MEMTRACE_RECENT = 31 };

/*
 * The names that a domain wrote last, the most recent first: files, and for each of them functions.
 * They are kept from packet to packet.  4 KB.
 */
struct memtrace_recent {
	uint32_t files[MEMTRACE_RECENT];
	uint8_t tables[MEMTRACE_RECENT]; /* which of the tables below is that of the file */
	uint32_t functions[MEMTRACE_RECENT][MEMTRACE_RECENT];
};

enum hg_status memtrace_locations_init(
	struct memtrace_locations *locations, struct hg_error *error);
void memtrace_locations_release(struct memtrace_locations *locations);
/* Forgets all codes, but no name. */
enum hg_status memtrace_locations_restart(
	struct memtrace_locations *locations, struct hg_error *error);

void memtrace_recent_init(struct memtrace_recent *recent);

/* The number of a code, which it gets if it has none. */
enum hg_status memtrace_code_number(struct memtrace_locations *locations, uint64_t code,
	uint32_t *number, struct hg_error *error);

/*
 * Reads what follows the header of a location event.  'next' is the header that must come after it
 * unless the cursor is at its end then: writers up to v0.2.3 let the columns of long lines spill
 * into the code of the file, so that a location can be read in more than one way, and with what
 * follows it only one fits.  *recovered says that it was read in another way than it stands there;
 * where the file cannot be told, it and all names that the domain wrote before are "??" from then
 * on.
 * *good is false if it cannot be read at all; then nothing was added.
 */
enum hg_status memtrace_read_location(struct memtrace_locations *locations,
	struct memtrace_recent *recent, struct base_cursor *cursor, uint32_t next, bool *recovered,
	bool *good, struct hg_error *error);

#endif
