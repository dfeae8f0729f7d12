/*
 * Of heapgraph.h: how large the blocks of a trace of memtrace are, and how long they live, as the
 * notebooks of ocaml-alloc-stats have it.
 *
 * A sampled block is an event.  Large blocks are sampled more often than small ones, so that what a
 * program does is told by estimates: an event of n samples in a block of w words, its header too,
 * stands for n / (rate * w) blocks and n / rate words.
 */
#ifndef HEAPGRAPH_TRACE_STATISTICS_H
#define HEAPGRAPH_TRACE_STATISTICS_H

#include "heapgraph/trace.h"

struct hg_trace_counts {
	uint64_t events, samples;
	uint64_t blocks; /* estimate, rounded */
};

/* Sizes in words without header, lifetimes in microseconds or ticks. */
struct hg_trace_value {
	int64_t value;
	struct hg_trace_counts counts;
	uint64_t every; /* as the notebooks have it: events of all allocations, else 0 */
};

struct hg_trace_bin {
	int64_t from,
		to; /* the smallest and largest whole number; from > to: there is none in it */
	struct hg_trace_counts counts;
	uint64_t alive; /* of lifetimes: events of blocks that were not collected, of 'counts' */
};

struct hg_trace_histogram {
	const char *name;
	size_t count;
	const struct hg_trace_bin *const *bins;
};

/* What an event counts for. */
enum hg_trace_weight {
	HG_TRACE_WEIGH_EVENTS,  /* 1, as in the notebooks */
	HG_TRACE_WEIGH_BLOCKS,  /* as many blocks as it stands for */
	HG_TRACE_WEIGH_SAMPLES, /* that is, bytes */
	HG_TRACE_WEIGHTS
};

/* All are 0 where 'count' is. */
struct hg_trace_moments {
	double count;                /* sum of weights */
	double total;                /* sum of the values, weighted */
	double mean, variance;       /* of all values, not of a sample of them */
	double deviation;            /* root of that */
	double above_127, above_256; /* weights of the values above */
};

/* Statistics of all that counts, or of a part of it. */
struct hg_trace_part {
	/*
	 * Of sizes "all", "middle" (without the first and last 100), "above_256" (words), "1/2" and
	 * so on (parts of equally many events in the order of time), and "every" (all allocations,
	 * where it is as the notebooks have it).  Of lifetimes "microseconds" and "ticks".
	 */
	const char *name;
	uint64_t events;
	uint64_t from_us, to_us; /* of sizes: when the first and the last one came */
	int64_t largest;
	struct hg_trace_moments by[HG_TRACE_WEIGHTS];
};

/* Each of the lists may be empty; names live for ever. */
struct hg_trace_distribution {
	struct hg_trace_counts counts; /* of all that counts */
	uint64_t ticks;                /* of lifetimes: allocations and collections */
	uint64_t alive;                /* of lifetimes: events of what was not collected */
	uint64_t end_us;               /* of lifetimes: when those end for it */
	size_t value_count, part_count, histogram_count;
	const struct hg_trace_value *const *values; /* of sizes, the smallest first */
	const struct hg_trace_part *const *parts;
	const struct hg_trace_histogram *const *histograms;
	struct hg_trace_losses losses;
};

/*
 * 'as_notebooks': what they print, with their mistakes.  Events alone count, of blocks that are
 * promoted or allocated in the major heap or outside, from then on; promotions and collections have
 * the time of the last allocation before them in the file; bounds of bins are rounded numbers.  A
 * filter does not count then.
 */
struct hg_trace_statistics_options {
	size_t size;
	bool as_notebooks;
};

/* 'options' may be NULL. */
HG_API enum hg_status hg_list_trace_sizes(struct hg_trace *trace,
	const struct hg_trace_statistics_options *options, struct hg_trace_distribution **out);

/*
 * From the allocation (of what counts only once it is promoted: from then on) to the collection, or
 * to the latest event of the trace.  A tick is an allocation or a collection that counts, in the
 * order of time.
 */
HG_API enum hg_status hg_list_trace_lifetimes(struct hg_trace *trace,
	const struct hg_trace_statistics_options *options, struct hg_trace_distribution **out);

HG_API void hg_trace_distribution_release(struct hg_trace_distribution **distribution);

#endif
