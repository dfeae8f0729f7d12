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
#include "trace/memtrace/batch.h"

/* What the first packet says of the program. */
struct memtrace_info {
	unsigned version;
	double sample_rate;  /* of words: samples for each one */
	unsigned word_bytes; /* 8 or 4 */
	uint64_t pid;
	uint64_t start_time;                                  /* microseconds since the epoch */
	const char *executable, *host, *parameters, *context; /* "" if there is none */
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
/* The same, many at once, for those who do not ask for whole stacks: *batch lasts until the next.
 */
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
