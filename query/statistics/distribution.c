/* Distributions. */
#include "query/statistics/distribution.h"

#include "base/grow.h"
#include "query/shared/result.h"

#include <stdlib.h>
#include <string.h>

struct hg_trace_counts query_counts_of(const struct query_weight *weight, double rate)
{
	double blocks = weight->blocks / rate;
	return (struct hg_trace_counts){weight->events, weight->samples,
		blocks < 9e18 ? (uint64_t)llround(blocks) : UINT64_MAX};
}

enum hg_status query_values_add(struct query_values *values, int64_t value,
	const struct query_weight *weight, struct hg_error *error)
{
	uint64_t place = values->count;
	bool added;
	BASE_TRY(base_map_add(&values->places, (uint64_t)value, &place, &added, error));
	if (added) {
		BASE_TRY(base_grow(&values->rows, values->count, &values->capacity,
			sizeof(*values->rows), error));
		values->rows[values->count++] = (struct query_value){.value = value};
	}
	query_add_weight(&values->rows[place].weight, weight);
	return HG_OK;
}

static int compare_values(const void *a, const void *b)
{
	const struct query_value *x = a, *y = b;
	return x->value < y->value ? -1 : x->value > y->value;
}

void query_values_sort(struct query_values *values)
{
	base_map_release(&values->places);
	if (values->count)
		qsort(values->rows, values->count, sizeof(*values->rows), compare_values);
}

void query_values_release(struct query_values *values)
{
	base_map_release(&values->places);
	free(values->rows);
	*values = (struct query_values){0};
}

static long double weight_by(const struct query_weight *weight, unsigned by)
{
	switch ((enum hg_trace_weight)by) {
	case HG_TRACE_WEIGH_BLOCKS:
		return (long double)weight->blocks;
	case HG_TRACE_WEIGH_SAMPLES:
		return weight->samples;
	default:
		return weight->events;
	}
}

void query_moments_add(
	struct query_moments *moments, int64_t value, const struct query_weight *weight)
{
	long double distance = value - moments->shift;
	if (!moments->weight.events || value > moments->largest)
		moments->largest = value;
	query_add_weight(&moments->weight, weight);
	for (unsigned i = 0; i < HG_TRACE_WEIGHTS; i++) {
		long double times = weight_by(weight, i);
		moments->by[i].sum += times * distance;
		moments->by[i].squares += times * distance * distance;
		moments->by[i].above_127 += value > 127 ? times : 0;
		moments->by[i].above_256 += value > 256 ? times : 0;
	}
}

void query_moments_end(const struct query_moments *moments, double rate, struct hg_trace_part *part)
{
	part->events = moments->weight.events;
	part->largest = moments->largest;
	for (unsigned i = 0; i < HG_TRACE_WEIGHTS && part->events; i++) {
		struct hg_trace_moments *m = &part->by[i];
		long double count = weight_by(&moments->weight, i), sum = moments->by[i].sum;
		long double scale = i == HG_TRACE_WEIGH_BLOCKS ? 1 / (long double)rate : 1;
		long double from_shift = sum / count;
		long double variance = moments->by[i].squares / count - from_shift * from_shift;
		m->count = (double)(count * scale);
		m->total = (double)((moments->shift * count + sum) * scale);
		m->mean = (double)(moments->shift + from_shift);
		m->variance = (double)(variance > 0 ? variance : 0);
		m->deviation = (double)sqrtl(variance > 0 ? variance : 0);
		m->above_127 = (double)(moments->by[i].above_127 * scale);
		m->above_256 = (double)(moments->by[i].above_256 * scale);
	}
}

/* The bin of a power of two, of values from 0. */
static uint64_t power_of_value(int64_t value)
{
	return value < 1 ? 0 : 64 - (uint64_t)__builtin_clzll((unsigned long long)value);
}

/* The bounds of NumPy's bins: it spreads a range of one value by a half to both sides. */
static double numpy_bound(const struct query_histogram *h, uint64_t bin)
{
	double low = (double)h->low, high = (double)h->high;
	if (h->low == h->high) {
		low -= 0.5;
		high += 0.5;
	}
	return bin == h->count ? high : (double)bin * ((high - low) / (double)h->count) + low;
}

__extension__ typedef unsigned __int128 wide;

static uint64_t range_of(const struct query_histogram *h)
{
	return (uint64_t)h->high - (uint64_t)h->low;
}

/* Whether each whole number is a bin. */
static bool has_bin_for_each(const struct query_histogram *h)
{
	return h->of_range && !h->as_notebooks && range_of(h) < h->count;
}

enum hg_status query_histogram_init(struct query_histogram *h, struct hg_error *error)
{
	if (h->powers)
		h->count = power_of_value(h->high) + 1;
	else if (has_bin_for_each(h))
		h->count = range_of(h) + 1;
	h->bins = calloc(h->count + 1, sizeof(*h->bins));
	return h->bins ? HG_OK : base_no_memory(error, h->count * sizeof(*h->bins));
}

static uint64_t bin_of_value(const struct query_histogram *h, int64_t value)
{
	uint64_t distance = (uint64_t)value - (uint64_t)h->low, range = range_of(h);
	if (h->powers)
		return power_of_value(value);
	if (has_bin_for_each(h))
		return distance;
	uint64_t bin = range ? (uint64_t)((wide)distance * h->count / range) : h->count / 2;
	if (bin >= h->count)
		bin = h->count - 1;
	if (!h->as_notebooks)
		return bin;
	while (bin && (double)value < numpy_bound(h, bin))
		bin--;
	while (bin + 1 < h->count && (double)value >= numpy_bound(h, bin + 1))
		bin++;
	return bin;
}

void query_histogram_add(
	struct query_histogram *h, int64_t value, const struct query_weight *weight, uint64_t alive)
{
	if (!h->count || value < h->low || value > h->high)
		return;
	struct query_bin *bin = &h->bins[bin_of_value(h, value)];
	query_add_weight(&bin->weight, weight);
	bin->alive += alive;
}

/* The smallest whole number that is in a bin or above it. */
static int64_t first_of_bin(const struct query_histogram *h, uint64_t bin)
{
	uint64_t range = range_of(h);
	if (h->powers)
		return bin ? (int64_t)(UINT64_C(1) << (bin - 1)) : 0;
	if (has_bin_for_each(h))
		return h->low + (int64_t)bin;
	if (h->as_notebooks)
		return (int64_t)ceil(numpy_bound(h, bin));
	return h->low + (int64_t)(((wide)range * bin + h->count - 1) / h->count);
}

static int64_t last_of_bin(const struct query_histogram *h, uint64_t bin)
{
	if (h->powers)
		return (int64_t)((UINT64_C(1) << bin) - 1);
	return bin + 1 == h->count ? h->high : first_of_bin(h, bin + 1) - 1;
}

static void fill_bins(const struct query_histogram *h, double rate, struct hg_trace_bin *bins)
{
	for (uint64_t i = 0; i < h->count; i++)
		bins[i] = (struct hg_trace_bin){.from = first_of_bin(h, i),
			.to = last_of_bin(h, i),
			.counts = query_counts_of(&h->bins[i].weight, rate),
			.alive = h->bins[i].alive};
}

enum hg_status query_keep_histograms(struct hg_trace_distribution *out,
	struct query_histogram *histograms, uint64_t count, double rate, struct hg_error *error)
{
	const struct hg_trace_bin *const *pointers;
	uint64_t bin_count = 0;
	for (uint64_t i = 0; i < count; i++)
		bin_count += histograms[i].count;
	struct hg_trace_bin *bins = calloc(bin_count + 1, sizeof(*bins));
	struct hg_trace_histogram *rows = calloc(count + 1, sizeof(*rows));
	if (!bins || !rows) {
		free(bins);
		free(rows);
		return base_no_memory(error, bin_count * sizeof(*bins));
	}
	bin_count = 0;
	for (uint64_t i = 0; i < count; i++) {
		fill_bins(&histograms[i], rate, bins + bin_count);
		rows[i] =
			(struct hg_trace_histogram){histograms[i].name, histograms[i].count, NULL};
		bin_count += histograms[i].count;
	}
	enum hg_status status =
		query_keep_rows_of(error, out, bins, bin_count, sizeof(*bins), (void *)&pointers);
	for (uint64_t i = 0, first = 0; i < count && status == HG_OK; first += rows[i++].count)
		rows[i].bins = pointers + first;
	if (status != HG_OK) {
		free(rows);
		return status;
	}
	out->histogram_count = count;
	return query_keep_rows_of(error, out, rows, count, sizeof(*rows), &out->histograms);
}

enum hg_status query_distribution_begin(struct hg_trace *trace,
	const struct hg_trace_statistics_options *options, struct hg_trace_distribution **out,
	bool *as_notebooks)
{
	struct hg_trace_statistics_options o = {0};
	BASE_TRY(query_trace_begin(trace, (void *)out));
	if (options && options->size < sizeof(options->size))
		return base_fail(&trace->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"no options of statistics");
	if (options)
		memcpy(&o, options, options->size < sizeof(o) ? options->size : sizeof(o));
	*as_notebooks = o.as_notebooks;
	return query_answer_of(&trace->session->error, sizeof(**out), out);
}

void hg_trace_distribution_release(struct hg_trace_distribution **distribution)
{
	query_free(distribution);
}
