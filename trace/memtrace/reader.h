/*
 * Reader of memtrace traces (.ctf), versions 1 to 3: events one after the other, in the order of
 * the file, from a mapping that the caller owns.
 *
 *     memtrace_open(&trace, bytes, size, strict, &error);
 *     while (memtrace_next(trace, &event))
 *             ...
 *     status = memtrace_status(trace, &error);
 *     memtrace_close(trace);
 *
 * What is damaged is left out and counted: a file that ends within a packet, packets of another
 * process, gaps, clocks that step back.  With 'strict' the first of these is HG_ERROR_INPUT.
 *
 * Source of the format: memtrace, src/trace.ml (development version, January 2026).
 */
#ifndef TRACE_MEMTRACE_READER_H
#define TRACE_MEMTRACE_READER_H

#include "trace/memtrace/backtraces.h"

/* What the first packet says of the program. */
struct memtrace_info {
	unsigned version;
	double sample_rate;  /* of words: samples for each one */
	unsigned word_bytes; /* 8 or 4 */
	uint64_t pid;
	uint64_t start_time;                                  /* microseconds since the epoch */
	const char *executable, *host, *parameters, *context; /* "" if there is none */
};

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
	bool truncated; /* the writer cut it short: the place of allocation is not known */

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

/* What was not as it should be. */
struct memtrace_losses {
	uint64_t cut_bytes;          /* at the end: a packet that is not all there */
	uint64_t skipped_bytes;      /* between packets */
	uint64_t damaged_packets;    /* left where they could not be read */
	uint64_t foreign_packets;    /* of other processes */
	uint64_t missing_objects;    /* ids that no packet has, where all should be there */
	uint64_t clamped_times;      /* events whose time was before that of others */
	uint64_t recovered_places;   /* of locations whose names are lost in part */
	uint64_t suspect_backtraces; /* after a loss, until the cache was verified */
	uint64_t unverified_packets; /* whose cache is not what it should be */
	const char *first;           /* of these, in words; NULL: none */
	uint64_t first_offset;
};

struct memtrace;

/* Whether the bytes begin as a trace, of whatever version. */
bool memtrace_begins(const uint8_t *bytes, size_t size);

/*
 * HG_ERROR_INPUT if the file is no trace, of a version that is not known, or does not say what
 * process it is of.  'bytes' must live as long as the reader, and so 'descriptor', from which the
 * same bytes can be read, which is cheaper than to touch them where they are mapped; -1: none.
 */
enum hg_status memtrace_open(struct memtrace **out, const uint8_t *bytes, size_t size,
	int descriptor, bool strict, struct hg_error *error);
void memtrace_close(struct memtrace *trace);

/* The next event; false at the end, or if something failed. */
bool memtrace_next(struct memtrace *trace, struct memtrace_event *event);
/* The same, many at once, for those who do not ask for whole stacks: *batch lasts until the next. */
bool memtrace_next_batch(struct memtrace *trace, const struct memtrace_batch **batch);
enum hg_status memtrace_status(const struct memtrace *trace, struct hg_error *error);

/* Begins anew; names stay where they are. */
enum hg_status memtrace_rewind(struct memtrace *trace, struct hg_error *error);

/* The strings live as long as the reader. */
const struct memtrace_info *memtrace_about(const struct memtrace *trace);
/* Of what was read so far; complete at the end. */
const struct memtrace_losses *memtrace_lost(const struct memtrace *trace);
const struct memtrace_locations *memtrace_places(const struct memtrace *trace);
/* Ids of objects are below this one: for tables by object. */
uint64_t memtrace_objects(const struct memtrace *trace);
/* Packets that are whole, and the offset of the next one to be read: for progress. */
uint64_t memtrace_packets(const struct memtrace *trace);
uint64_t memtrace_offset(const struct memtrace *trace);

#endif
