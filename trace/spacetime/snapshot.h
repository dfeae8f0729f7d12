/*
 * Snapshots of a series: what was alive at the places of allocation, and what was allocated there
 * up to then.
 */
#ifndef TRACE_SPACETIME_SNAPSHOT_H
#define TRACE_SPACETIME_SNAPSHOT_H

#include "trace/spacetime/series.h"

/* Of the GC, in the order of the file; heap words and their maximum are an eighth of what they
 * were. */
enum { SPACETIME_GC_NUMBERS = 9 };

struct spacetime_snapshot {
	struct base_pool pool;
	uint64_t annotation_end; /* above all annotations that can be */
	double time;
	int64_t gc[SPACETIME_GC_NUMBERS];
	int64_t scanned, annotated; /* words of blocks, headers included */
	struct spacetime_entry {
		uint32_t annotation;
		uint32_t reserved;
		int64_t blocks, words; /* words with headers */
	} * entries;
	uint64_t entry_count;
	/* Words allocated since the start, by allocation point, in the order of the file. */
	struct spacetime_total {
		uint32_t annotation;
		uint32_t reserved;
		int64_t words;
	} * totals;
	uint64_t total_count;
};

/* Fills *snapshot from that moment; released by the caller, after failures too. */
enum hg_status spacetime_read_snapshot(const struct spacetime_series *series,
	const struct spacetime_moment *moment, struct spacetime_snapshot *snapshot,
	struct hg_error *error);

/* Who is given entries and totals, some at a time; never NULL. */
struct spacetime_visitor {
	enum hg_status (*entries)(
		void *data, const struct spacetime_entry *entries, uint64_t count);
	enum hg_status (*totals)(void *data, const struct spacetime_total *totals, uint64_t count);
	void *data;
};

/*
 * The same, for a visitor: *snapshot may be without entries and totals, but has their counts.  That
 * the snapshot cannot be read is told before anything is given out.
 */
enum hg_status spacetime_visit_snapshot(const struct spacetime_series *series,
	const struct spacetime_moment *moment, const struct spacetime_visitor *visitor,
	struct spacetime_snapshot *snapshot, struct hg_error *error);
void spacetime_snapshot_release(struct spacetime_snapshot *snapshot);

#endif
