/*
 * A series of Spacetime (OCaml 4.04 to 4.11): values of Marshal one after the other.  First a mark,
 * then snapshots of the heap and events in the order of time, at last tables and two tries of calls
 * that only a program which ends by itself writes.  Here is where the parts are; snapshot.h,
 * tables.h and walk.h have what stands in them.
 *
 * Source: OCaml 4.04.0 to 4.11.2, runtime/spacetime_snapshot.c and otherlibs/raw_spacetime_lib.
 */
#ifndef TRACE_SPACETIME_SERIES_H
#define TRACE_SPACETIME_SERIES_H

#include "base/cursor.h"
#include "base/pool.h"
#include "snapshot/marshal/marshal.h"

/* A snapshot or an event, in the order of the file. */
struct spacetime_moment {
	bool is_event;
	double time;      /* CPU seconds of the process, unless the program said otherwise */
	const char *name; /* of events; any bytes, with a NUL after them */
	uint64_t name_length;
	uint64_t offset; /* of a snapshot's value in the file */
};

enum { SPACETIME_MOST_THREADS = 1 << 16 };

/* Where the values lie; the bytes are somebody else's. */
struct spacetime_series {
	struct base_cursor file;
	struct base_pool pool;
	bool call_counts; /* direct calls are counted: from 4.06 on */

	struct spacetime_moment *moments;
	uint64_t moment_count, moment_capacity;
	uint64_t snapshot_count, event_count;

	bool complete; /* all that follows is there */
	double close_time;
	uint64_t frames, shapes; /* offsets of their values */
	uint64_t thread_count;   /* pairs of tries: of the program, of handlers and finalisers */
	uint64_t *tries;         /* offsets */

	/* NULL: nothing is lost.  What comes first that cannot be read, and how many bytes from it.
	 */
	const char *lost;
	uint64_t lost_offset, lost_bytes;
};

/* Whether these are the first bytes of a series. */
bool spacetime_begins(const uint8_t *bytes, size_t size);

/*
 * HG_ERROR_INPUT if not even the mark is there, or it is of no version that is known; what is cut
 * later is kept as far as it is whole, unless 'strict'.  On failure nothing is left open.
 */
enum hg_status spacetime_open(struct spacetime_series *series, const uint8_t *bytes, size_t size,
	bool strict, struct hg_error *error);
void spacetime_close(struct spacetime_series *series);

/* The value that begins at an offset; its cells are of the pool. */
enum hg_status spacetime_value_at(const struct spacetime_series *series, uint64_t offset,
	struct base_pool *pool, struct snap_marshal *value, struct hg_error *error);

/* Bits of the word that an int of OCaml is. */
static inline uint64_t spacetime_word(int64_t number)
{
	return 2 * (uint64_t)number + 1;
}

#endif
