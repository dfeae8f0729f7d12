/* Clauses of filters. */
#include "query/trace/filter.h"

#include <string.h>

enum { MOST_CLAUSES = 64 };

static const struct hg_trace_range everything = {0, UINT64_MAX};

void query_filter_release(struct query_filter *filter)
{
	base_pool_release(&filter->pool);
	*filter = (struct query_filter){0};
}

static enum hg_status copy_clauses(struct query_filter *filter, struct hg_error *error)
{
	struct hg_trace_filter *wanted = &filter->wanted;
	const struct hg_trace_function_filter *from = wanted->functions;
	struct hg_trace_function_filter *copies;
	void *memory;
	if (wanted->function_count > MOST_CLAUSES)
		return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"a filter has at most %d clauses about functions", MOST_CLAUSES);
	BASE_TRY(base_pool_alloc(
		&filter->pool, wanted->function_count + 1, sizeof(*copies), &memory, error));
	copies = memory;
	for (size_t i = 0; i < wanted->function_count; i++) {
		copies[i] = from[i];
		if (!from[i].name)
			return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET,
				"a clause about functions has no name");
		BASE_TRY(base_pool_string(
			&filter->pool, from[i].name, strlen(from[i].name), &copies[i].name, error));
		filter->hides |= from[i].clause == HG_TRACE_HIDE;
		if (from[i].clause == HG_TRACE_INSIDE)
			filter->inside |= UINT64_C(1) << i;
		if (from[i].clause == HG_TRACE_NOT_INSIDE)
			filter->not_inside |= UINT64_C(1) << i;
	}
	wanted->functions = copies;
	return HG_OK;
}

enum hg_status query_filter_set(
	struct query_filter *filter, const struct hg_trace_filter *wanted, struct hg_error *error)
{
	query_filter_release(filter);
	if (!wanted)
		return HG_OK;
	hg_trace_filter_init(&filter->wanted);
	memcpy(&filter->wanted, wanted,
		wanted->size < sizeof(*wanted) ? wanted->size : sizeof(*wanted));
	filter->set = true;
	enum hg_status status = copy_clauses(filter, error);
	if (status != HG_OK)
		query_filter_release(filter);
	return status;
}

void hg_trace_filter_init(struct hg_trace_filter *filter)
{
	*filter = (struct hg_trace_filter){.size = sizeof(*filter),
		.allocated = everything,
		.collected = everything,
		.alive = everything,
		.block_bytes = everything,
		.lifetime = everything};
}

static bool is_everything(const struct hg_trace_range *range)
{
	return !range->from && range->to == UINT64_MAX;
}

bool query_filter_needs_fates(const struct query_filter *filter)
{
	const struct hg_trace_filter *w = &filter->wanted;
	return filter->set &&
	       (!is_everything(&w->collected) || !is_everything(&w->alive) ||
		       !is_everything(&w->lifetime) || w->alive_at_peak || w->alive_at_end ||
		       query_filter_without(filter, HG_TRACE_MINOR_HEAP) ||
		       query_filter_without(filter, HG_TRACE_MAJOR_HEAP));
}

static bool fits_clause(const struct hg_trace_function_filter *clause, const char *function)
{
	return clause->contains ? strstr(function, clause->name) != NULL
				: strcmp(function, clause->name) == 0;
}

uint64_t query_filter_functions(const struct query_filter *filter, const char *function)
{
	uint64_t fits = 0;
	for (size_t i = 0; i < filter->wanted.function_count; i++)
		if (fits_clause(&filter->wanted.functions[i], function))
			fits |= UINT64_C(1) << i;
	return fits & (filter->inside | filter->not_inside);
}

bool query_filter_hides(const struct query_filter *filter, const char *function)
{
	if (!filter->hides)
		return false;
	for (size_t i = 0; i < filter->wanted.function_count; i++)
		if (filter->wanted.functions[i].clause == HG_TRACE_HIDE &&
			fits_clause(&filter->wanted.functions[i], function))
			return true;
	return false;
}

static bool is_within(const struct hg_trace_range *range, uint64_t number)
{
	return number >= range->from && number <= range->to;
}

/*
 * The time that an object is there, if only some of the heaps count: without the minor heap, what
 * is allocated in it comes when it is promoted; without the major heap it is gone then.
 */
static bool find_life(const struct query_filter *filter, const struct memtrace_event *allocation,
	const struct query_fate *fate, uint64_t *begin, uint64_t *end)
{
	bool no_minor = query_filter_without(filter, HG_TRACE_MINOR_HEAP);
	bool no_major = query_filter_without(filter, HG_TRACE_MAJOR_HEAP);
	*begin = allocation->time;
	*end = fate->collected;
	if (allocation->source == MEMTRACE_EXTERNAL)
		return !query_filter_without(filter, HG_TRACE_EXTERNAL);
	if (allocation->source == MEMTRACE_MAJOR)
		return !no_major;
	if (no_minor && (no_major || fate->promoted == UINT64_MAX))
		return false;
	if (no_minor)
		*begin = fate->promoted;
	else if (no_major && fate->promoted < *end)
		*end = fate->promoted;
	return true;
}

bool query_filter_keeps(const struct query_filter *filter, const struct memtrace_event *allocation,
	const struct query_fate *fate, const struct query_trace_times *times, uint64_t inside)
{
	const struct hg_trace_filter *w = &filter->wanted;
	uint64_t begin, end, last, bytes;
	if (!find_life(filter, allocation, fate, &begin, &end))
		return false;
	if (__builtin_mul_overflow(allocation->length, (uint64_t)times->word_bytes, &bytes))
		bytes = UINT64_MAX;
	/* What is never collected counts as collected at the end where that is asked for. */
	last = end == UINT64_MAX ? times->end : end;
	return (inside & filter->inside) == filter->inside && !(inside & filter->not_inside) &&
	       is_within(&w->allocated, allocation->time) && is_within(&w->block_bytes, bytes) &&
	       is_within(&w->collected, last) &&
	       is_within(&w->lifetime, last > begin ? last - begin : 0) && begin <= w->alive.to &&
	       end > w->alive.from && (!w->alive_at_end || end == UINT64_MAX) &&
	       (!w->alive_at_peak || (begin <= times->peak && end > times->peak));
}
