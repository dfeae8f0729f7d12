/*
 * How often functions allocate on behalf of others, in a table that holds so many pairs at most, as
 * that of memtrace's hotspots does: a pair that comes when it is full takes one from all others,
 * and those that came as often as others were missed are forgotten.
 *
 * Source: J. Misra and D. Gries, Finding repeated elements, 1982; memtrace, bin/hotspots.ml.
 */
#ifndef QUERY_TRACE_HOT_PAIRS_H
#define QUERY_TRACE_HOT_PAIRS_H

#include "base/hash.h"

enum { QUERY_MOST_HOT_PAIRS = 10000 };

struct query_hot_pair {
	uint32_t caller, allocator;
	uint64_t hits, misses; /* hits 0: forgotten */
	uint64_t added;        /* so many were added before, since it was forgotten last */
};

struct query_hot_pairs {
	struct query_hot_pair *pairs; /* in the order in which they came first */
	uint64_t count, capacity, added;
	uint64_t held;          /* those that are not forgotten */
	struct base_map places; /* of pairs */
	bool skipped;           /* one came when the table was full: it depends on the order */
};

void query_hot_pairs_release(struct query_hot_pairs *pairs);

/* 'times' above 1 only as long as nothing was skipped. */
enum hg_status query_hot_pairs_add(struct query_hot_pairs *pairs, uint32_t caller,
	uint32_t allocator, uint64_t times, struct hg_error *error);

#endif
