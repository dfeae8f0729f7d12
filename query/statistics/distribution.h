/*
 * Distributions of sizes and lifetimes: how often each value is met, histograms and moments, each
 * by events, by blocks and by samples.
 */
#ifndef QUERY_STATISTICS_DISTRIBUTION_H
#define QUERY_STATISTICS_DISTRIBUTION_H

#include "base/hash.h"
#include "query/trace/trace.h"

#include <math.h>

/* What events count for. */
struct query_weight {
	uint64_t events, samples;
	double blocks; /* times the rate */
};

/* Of one event with so many samples in a block. */
static inline struct query_weight query_weight_of(uint64_t samples, uint64_t length, bool external)
{
	double words = (double)length + (external ? 0 : 1);
	return (struct query_weight){1, samples, (double)samples / (words < 1 ? 1 : words)};
}

static inline void query_add_weight(struct query_weight *sum, const struct query_weight *weight)
{
	sum->events += weight->events;
	sum->samples += weight->samples;
	sum->blocks += weight->blocks;
}

struct hg_trace_counts query_counts_of(const struct query_weight *weight, double rate);

/* Values as they come; a zeroed one is empty.  About 80 bytes for each value that is another one.
 */
struct query_values {
	struct base_map places;
	struct query_value {
		int64_t value;
		struct query_weight weight;
	} * rows;
	uint64_t count, capacity;
};

enum hg_status query_values_add(struct query_values *values, int64_t value,
	const struct query_weight *weight, struct hg_error *error);
/* The smallest first; nothing may be added then. */
void query_values_sort(struct query_values *values);
void query_values_release(struct query_values *values);

/* Moments: of deviations from 'shift', which should be near the mean. */
struct query_moments {
	long double shift;
	struct query_weight weight;
	int64_t largest;
	struct {
		long double sum, squares, above_127, above_256;
	} by[HG_TRACE_WEIGHTS];
};

void query_moments_add(
	struct query_moments *moments, int64_t value, const struct query_weight *weight);
/* Fills all but the name and times. */
void query_moments_end(
	const struct query_moments *moments, double rate, struct hg_trace_part *part);

/*
 * Bins of a histogram, equal ones from 'low' to 'high', the last one closed, but for rounding to
 * whole numbers; or powers of two: 0, 1, 2 to 3, 4 to 7.  Bounds of 'as_notebooks' are those of
 * NumPy's histogram(), doubles that are not exact.  Where 'of_range', and a range has not as many
 * whole numbers as it should have bins, each is a bin, except as_notebooks.
 */
struct query_histogram {
	const char *name;
	int64_t low, high;
	uint64_t count; /* of bins */
	bool powers, of_range, as_notebooks;
	struct query_bin {
		struct query_weight weight;
		uint64_t alive;
	} * bins;
};

/* The count and bins of what is named, with its bounds, if it has any; released by free(). */
enum hg_status query_histogram_init(struct query_histogram *histogram, struct hg_error *error);
/* What is outside the bounds is left out.  'alive' are those of the events. */
void query_histogram_add(struct query_histogram *histogram, int64_t value,
	const struct query_weight *weight, uint64_t alive);

/* Reads the options of a question, and begins its answer. */
enum hg_status query_distribution_begin(struct hg_trace *trace,
	const struct hg_trace_statistics_options *options, struct hg_trace_distribution **out,
	bool *as_notebooks);

/* The lists of an answer, from histograms whose bins are released. */
enum hg_status query_keep_histograms(struct hg_trace_distribution *out,
	struct query_histogram *histograms, uint64_t count, double rate, struct hg_error *error);

#endif
