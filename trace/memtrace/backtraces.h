/*
 * Backtraces of a memtrace trace.  Each domain has a cache of codes, of which the next one is
 * predicted from the one before, and writes only what differs from its last backtrace.  The state
 * lasts from packet to packet.
 *
 * Source: memtrace, src/backtrace_codec.ml (development version, January 2026).
 */
#ifndef TRACE_MEMTRACE_BACKTRACES_H
#define TRACE_MEMTRACE_BACKTRACES_H

#include "trace/memtrace/batch.h"
#include "trace/memtrace/locations.h"

/* 4 bytes a frame of the deepest backtrace, and 128 KB of cache. */
struct memtrace_domain {
	uint64_t depth; /* of the last backtrace */
	uint32_t *
		stack; /* for those who take events one by one: numbers of codes, outermost first */
	uint64_t stack_capacity;
	uint64_t last_time; /* microseconds since the epoch, of its last event */
	bool suspect; /* packets were lost: until the cache is verified, frames may be wrong */
	struct memtrace_slot {
		uint32_t code; /* a number */
		uint16_t next; /* the slot that was used after this one */
	} * cache;
	struct memtrace_recent recent;
};

/* What stands in a packet's header of a domain's cache before its first event. */
struct memtrace_verifier {
	uint16_t slot; /* MEMTRACE_NO_SLOT: nothing */
	uint16_t next;
	uint64_t code;
};

enum { MEMTRACE_SLOTS = 1 << 14, MEMTRACE_NO_SLOT = 0xFFFF };

/* Of a word of a backtrace, whose other bits are a slot: its frame, and how many are predicted. */
enum { MEMTRACE_PREDICT_ONE = 1, MEMTRACE_PREDICT_MORE, MEMTRACE_MISS };

enum {
	MEMTRACE_FRAMES_OF_WORD = 256, /* at most: itself and 255 that are predicted */
	MEMTRACE_DEEPEST = 1 << 26     /* frames; no program was seen with more than 12,000 */
};

enum hg_status memtrace_domain_open(struct memtrace_domain **domain, struct hg_error *error);
void memtrace_domain_close(struct memtrace_domain *domain);

bool memtrace_domain_agrees(const struct memtrace_domain *domain,
	const struct memtrace_locations *locations, const struct memtrace_verifier *verifier);

/*
 * Reads 'words' words of code, whose frames follow the first 'common' ones of the last backtrace,
 * and appends them to the batch, or that there is none.  Where the domain has no so many, as the
 * writer cut the last one short, the frames behind are not known: it stays as it is.  *good is
 * false if the bytes end before.
 */
enum hg_status memtrace_read_backtrace(struct memtrace_domain *domain,
	struct memtrace_locations *locations, struct base_cursor *cursor, uint64_t common,
	unsigned words, struct memtrace_batch *batch, bool *good, struct hg_error *error);

#endif
