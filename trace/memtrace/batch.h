/*
 * Events of a memtrace trace, one by one and many at once.
 */
#ifndef TRACE_MEMTRACE_BATCH_H
#define TRACE_MEMTRACE_BATCH_H

#include <stdbool.h>
#include <stdint.h>

enum memtrace_kind { MEMTRACE_ALLOCATION, MEMTRACE_PROMOTION, MEMTRACE_COLLECTION };
enum memtrace_source { MEMTRACE_MINOR, MEMTRACE_MAJOR, MEMTRACE_EXTERNAL };

struct memtrace_event {
	enum memtrace_kind kind;
	enum memtrace_source source; /* from here on of allocations, but for time and object */
	uint64_t time;               /* microseconds since the start */
	uint64_t object;             /* id; below memtrace_objects() */
	uint64_t samples;            /* at least 1 */
	uint64_t length;             /* words, without header */
	uint64_t common; /* frames like those of the domain's last backtrace, as the file says */
	uint32_t depth, kept; /* the first 'kept' are those of the domain's last event */
	uint32_t frame;       /* in the batch, the last of the event */
	bool truncated;       /* the writer cut it short: the place of allocation is not known */

	/* of all events that are taken one by one; those of a batch are of one domain */
	uint16_t domain;
	uint32_t domain_index; /* of the domain, counted from 0 in the order of the file */
	const uint32_t *stack; /* numbers of codes, outermost first; until the next event */
};

/* A code on a stack, at its place; MEMTRACE_NO_FRAME: there is none, but the stack ends here. */
struct memtrace_frame {
	uint32_t code, depth;
};
#define MEMTRACE_NO_FRAME UINT32_MAX

/*
 * Events of one domain that follow each other in the file, during which no code gets other
 * locations.  The frames are those that were not on the stack of the event before; every allocation
 * has one at least.
 */
enum { MEMTRACE_AT_ONCE = 256 };
struct memtrace_batch {
	struct memtrace_event events[MEMTRACE_AT_ONCE];
	uint32_t count, frame_count;
	struct memtrace_frame *frames;
	uint64_t frame_capacity;
	uint32_t domain_index;
	uint16_t domain;
};

#endif
