/*
 * Which allocations of a trace count.  The clauses are those of memtrace_viewer and mean the same;
 * all must hold.
 *
 * Source: memtrace_viewer, server/src/filtered_trace.ml and common/src/filter.ml (commit 5f540a0).
 */
#ifndef QUERY_TRACE_FILTER_H
#define QUERY_TRACE_FILTER_H

#include "base/pool.h"
#include "heapgraph.h"
#include "trace/memtrace/reader.h"

struct query_filter {
	struct hg_trace_filter wanted; /* its names are of the pool */
	struct base_pool pool;
	bool set;                    /* else all counts */
	bool hides;                  /* functions */
	uint64_t inside, not_inside; /* clauses of names, a bit each */
};

/* When an object was promoted and collected; UINT64_MAX: never. */
struct query_fate {
	uint64_t promoted, collected;
};

/* What clauses refer to besides an object. */
struct query_trace_times {
	uint64_t end, peak; /* microseconds */
	unsigned word_bytes;
};

enum hg_status query_filter_set(
	struct query_filter *filter, const struct hg_trace_filter *wanted, struct hg_error *error);
void query_filter_release(struct query_filter *filter);

/* Whether the fates of objects must be known, and when the trace ends and its peak is. */
bool query_filter_needs_fates(const struct query_filter *filter);

/* The clauses of functions, a bit each, that a function fits. */
uint64_t query_filter_functions(const struct query_filter *filter, const char *function);

/* Whether frames of a function are left out. */
bool query_filter_hides(const struct query_filter *filter, const char *function);

/* Whether all clauses hold; 'inside' are those of functions that a frame of the stack fits. */
bool query_filter_keeps(const struct query_filter *filter, const struct memtrace_event *allocation,
	const struct query_fate *fate, const struct query_trace_times *times, uint64_t inside);

static inline bool query_filter_without(const struct query_filter *filter, enum hg_trace_heap heap)
{
	return filter->set && (filter->wanted.without >> heap & 1);
}

#endif
