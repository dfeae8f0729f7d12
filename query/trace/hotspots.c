/*
 * Hotspots as memtrace's tool has them.  A function is what the innermost location of a code says;
 * every function on a stack but the one that allocates counts once for each event.  Where all pairs
 * of functions fit the table of the original their counts do not depend on the order of events, and
 * come from the tree of calls; else all events are read again, one after the other.
 */
#include "query/trace/trace.h"

#include "query/trace/alive.h"
#include "query/trace/calls.h"
#include "query/trace/hot_pairs.h"
#include "query/trace/pass.h"

#include "base/grow.h"
#include "query/shared/result.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hot_function {
	uint32_t name, file; /* names */
	uint64_t direct;     /* samples that it allocates itself */
	uint64_t below;      /* samples of stacks that it is on, but not to allocate */
	uint64_t seen;       /* the last event that counted it */
};

/* Allocations of a function below a node. */
struct hot_leaf {
	uint32_t node, function;
	uint64_t events, samples;
};

struct hotspots {
	struct hg_trace *trace;
	struct hg_error *error;
	const struct memtrace_locations *locations;
	struct query_calls calls;
	struct trace_names *names; /* of functions and files; the trace's */

	struct hot_function *functions; /* in the order in which memtrace meets them */
	uint64_t function_count, function_capacity;
	struct base_map by_name; /* of file and name */

	/* of each code */
	uint32_t *function_of; /* + 1 while it is told; 0: not met */
	uint32_t *function_numbers;
	struct hg_hotspot_place *places;
	uint64_t *samples; /* that it allocates itself */
	uint64_t *order;   /* in which codes were met */
	uint64_t code_count, code_capacity, met;

	struct hot_leaf *leaves;
	uint64_t leaf_count, leaf_capacity;
	struct base_map leaf_of; /* a node and a function */
	struct query_hot_pairs pairs;
	uint64_t all; /* samples */
};

static void release_hotspots(struct hotspots *h)
{
	query_calls_release(&h->calls);
	free(h->functions);
	base_map_release(&h->by_name);
	free(h->function_of);
	free(h->function_numbers);
	free(h->places);
	free(h->samples);
	free(h->order);
	free(h->leaves);
	base_map_release(&h->leaf_of);
	query_hot_pairs_release(&h->pairs);
}

/* Room for all codes that there are. */
static enum hg_status make_room_for_codes(struct hotspots *h)
{
	uint64_t wanted = h->locations->code_count, had = h->code_capacity, ignored;
	if (wanted <= had)
		return HG_OK;
#define GROW(array)                                                                                \
	ignored = had;                                                                             \
	BASE_TRY(base_grow_by(&h->array, had, wanted - had, &ignored, sizeof(*h->array), h->error))
	GROW(function_of);
	GROW(function_numbers);
	GROW(places);
	GROW(samples);
	GROW(order);
#undef GROW
	memset(h->function_of + had, 0, (ignored - had) * sizeof(*h->function_of));
	memset(h->samples + had, 0, (ignored - had) * sizeof(*h->samples));
	h->code_capacity = ignored;
	h->calls.functions = h->function_numbers;
	return HG_OK;
}

static enum hg_status find_hot_function(
	struct hotspots *h, const char *file, const char *name, uint32_t *number)
{
	struct hot_function function = {0};
	uint64_t place = h->function_count;
	bool added;
	BASE_TRY(trace_names_add(h->names, name, strlen(name), &function.name, h->error));
	BASE_TRY(trace_names_add(h->names, file, strlen(file), &function.file, h->error));
	BASE_TRY(base_map_add(&h->by_name, (uint64_t)function.file << 32 | function.name, &place,
		&added, h->error));
	if (added) {
		BASE_TRY(base_grow(&h->functions, h->function_count, &h->function_capacity,
			sizeof(*h->functions), h->error));
		h->functions[h->function_count++] = function;
	}
	*number = (uint32_t)place;
	return HG_OK;
}

/* What a frame is of: its innermost location, or where there is none that of a frame outside. */
static enum hg_status meet_code(struct hotspots *h, const struct memtrace_event *event, uint64_t at)
{
	enum { MOST_OUTWARD = 2 };
	uint32_t number = event->stack[at];
	const struct memtrace_code *code = &h->locations->codes[number];
	uint32_t function;
	char bare[32];
	if (h->function_of[number])
		return HG_OK;
	for (unsigned i = 0; !code->count && at > 0 && i < MOST_OUTWARD; i++)
		code = &h->locations->codes[event->stack[--at]];
	if (code->count) {
		const struct memtrace_location *location =
			&h->locations->locations[code->first + code->count - 1];
		BASE_TRY(find_hot_function(h, trace_name(&h->locations->names, location->file),
			trace_name(&h->locations->names, location->function), &function));
		h->places[number] =
			(struct hg_hotspot_place){location->line, location->start, location->end};
	} else {
		snprintf(bare, sizeof(bare), "#%" PRIx64, code->code);
		BASE_TRY(find_hot_function(h, "??", bare, &function));
		h->places[number] = (struct hg_hotspot_place){0, 0, 0};
	}
	h->function_numbers[number] = function;
	h->function_of[number] = function + 1;
	h->order[h->met++] = number;
	return HG_OK;
}

/* The frame that allocates first, then the others from within. */
static enum hg_status meet_frames(struct hotspots *h, const struct memtrace_event *event)
{
	BASE_TRY(make_room_for_codes(h));
	if (event->depth)
		BASE_TRY(meet_code(h, event, event->depth - 1));
	for (uint64_t i = event->depth; i-- > event->kept;)
		BASE_TRY(meet_code(h, event, i));
	return HG_OK;
}

static enum hg_status count_hot_allocation(struct hotspots *h, const struct memtrace_event *event)
{
	uint64_t leaf = h->leaf_count;
	uint32_t node, code;
	bool added;
	BASE_TRY(meet_frames(h, event));
	BASE_TRY(query_calls_node(&h->calls, event, &node, h->error));
	h->all += event->samples;
	if (!event->depth)
		return HG_OK;
	code = event->stack[event->depth - 1];
	h->samples[code] += event->samples;
	node = query_calls_at(&h->calls, event, event->depth - 1);
	BASE_TRY(base_map_add(&h->leaf_of, (uint64_t)node << 32 | h->function_numbers[code], &leaf,
		&added, h->error));
	if (added) {
		BASE_TRY(base_grow(&h->leaves, h->leaf_count, &h->leaf_capacity, sizeof(*h->leaves),
			h->error));
		h->leaves[h->leaf_count++] =
			(struct hot_leaf){.node = node, .function = h->function_numbers[code]};
	}
	h->leaves[leaf].events++;
	h->leaves[leaf].samples += event->samples;
	return HG_OK;
}

static enum hg_status add_pairs_of_leaves(struct hotspots *h)
{
	for (uint64_t i = 0; i < h->leaf_count; i++) {
		const struct hot_leaf *leaf = &h->leaves[i];
		uint32_t node = leaf->node;
		for (; node; node = h->calls.nodes[node].parent) {
			uint32_t caller = h->calls.nodes[node].function;
			h->functions[caller].below += leaf->samples;
			if (!h->pairs.skipped)
				BASE_TRY(query_hot_pairs_add(
					&h->pairs, caller, leaf->function, leaf->events, h->error));
		}
	}
	for (uint64_t i = 0; i < h->met; i++)
		h->functions[h->function_numbers[h->order[i]]].direct += h->samples[h->order[i]];
	return HG_OK;
}

/* All events again: in which order pairs come decides which of them stay. */
static enum hg_status add_pairs_in_order(struct hotspots *h)
{
	struct memtrace_event event;
	query_hot_pairs_release(&h->pairs);
	BASE_TRY(memtrace_rewind(h->trace->reader, h->error));
	for (uint64_t number = 1; memtrace_next(h->trace->reader, &event); number++) {
		if (event.kind != MEMTRACE_ALLOCATION || !event.depth)
			continue;
		uint32_t allocator = h->function_numbers[event.stack[event.depth - 1]];
		for (uint64_t i = event.depth - 1; i-- > 0;) {
			uint32_t caller = h->function_numbers[event.stack[i]];
			if (h->functions[caller].seen == number)
				continue;
			h->functions[caller].seen = number;
			BASE_TRY(query_hot_pairs_add(&h->pairs, caller, allocator, 1, h->error));
		}
	}
	return HG_OK;
}

static enum hg_status count_hotspots(struct hotspots *h)
{
	struct query_pass pass;
	struct memtrace_event event;
	struct hg_trace_losses losses;
	BASE_TRY(query_calls_init(&h->calls, h->locations, &h->trace->session->budget,
		QUERY_FUNCTIONS, NULL, h->error));
	BASE_TRY(query_pass_begin(&pass, h->trace, NULL));
	while (query_pass_next(&pass, &event))
		if (event.kind == MEMTRACE_ALLOCATION)
			BASE_TRY(count_hot_allocation(h, &event));
	BASE_TRY(query_pass_end(&pass, 0, &losses));
	BASE_TRY(add_pairs_of_leaves(h));
	return h->pairs.skipped ? add_pairs_in_order(h) : HG_OK;
}

/* What is above the original's limits. */
static double share_of_all(const struct hotspots *h, uint64_t samples)
{
	return (double)samples / (double)h->all;
}

enum { PAIR_BUCKETS = 1 << 14, FUNCTION_BUCKETS = 1 << 7 };
static const double least_share = 0.005;

static uint64_t bucket_of_pair(const struct query_hot_pair *pair)
{
	return (pair->caller * UINT64_C(1231441) + pair->allocator * UINT64_C(3821)) % PAIR_BUCKETS;
}

static uint64_t bucket_of_function(uint32_t function)
{
	return function * UINT64_C(21089245) % FUNCTION_BUCKETS;
}

/* As the original's table of pairs is walked: what is equal otherwise stays in this order. */
static int compare_pairs_in_table(const void *a, const void *b)
{
	const struct query_hot_pair *x = a, *y = b;
	uint64_t p = bucket_of_pair(x), q = bucket_of_pair(y);
	if (p != q)
		return p < q ? -1 : 1;
	return x->added > y->added ? -1 : x->added < y->added;
}

/* A hotspot while it is put together. */
struct hot_row {
	uint32_t function;
	uint64_t met; /* so many were met before */
	uint64_t samples;
};

static int compare_hot_rows(const void *a, const void *b)
{
	const struct hot_row *x = a, *y = b;
	uint64_t p = bucket_of_function(x->function), q = bucket_of_function(y->function);
	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	if (p != q)
		return p < q ? 1 : -1;
	return x->met < y->met ? -1 : x->met > y->met;
}

struct hot_caller {
	struct hg_hotspot_caller caller;
	uint64_t met; /* the last one met stands first */
};

static int compare_hot_callers(const void *a, const void *b)
{
	const struct hot_caller *x = a, *y = b;
	if (x->caller.events != y->caller.events)
		return x->caller.events < y->caller.events ? 1 : -1;
	return x->met > y->met ? -1 : x->met < y->met;
}

struct hot_place {
	struct hg_hotspot_place place;
	uint64_t samples, met;
};

static int compare_hot_places(const void *a, const void *b)
{
	const struct hot_place *x = a, *y = b;
	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return x->met > y->met ? -1 : x->met < y->met;
}

static bool is_hot(const struct hotspots *h, uint32_t function)
{
	return share_of_all(h, h->functions[function].direct) > least_share;
}

/* Whether a pair is worth a line. */
static bool is_hot_pair(const struct hotspots *h, const struct query_hot_pair *pair)
{
	const struct hot_function *caller = &h->functions[pair->caller];
	double own = (double)(caller->below + caller->direct);
	double wanted = share_of_all(h, h->functions[pair->allocator].direct) * 1.2;
	return (double)pair->hits / own > (wanted > 0.10 ? wanted : 0.10) &&
	       share_of_all(h, pair->hits) > least_share && own / (double)h->all > least_share;
}

/* The places of a function: 'out' has room for all codes. */
static size_t list_hot_places(const struct hotspots *h, uint32_t function, struct hot_place *out)
{
	size_t count = 0;
	for (uint64_t i = 0; i < h->met; i++) {
		uint64_t code = h->order[i];
		if (h->function_numbers[code] == function && h->samples[code])
			out[count++] = (struct hot_place){h->places[code], h->samples[code], i};
	}
	qsort(out, count, sizeof(*out), compare_hot_places);
	return count;
}

/* The same of its callers, of which there are no more than pairs. */
static size_t list_hot_callers(const struct hotspots *h, uint32_t function, struct hot_caller *out)
{
	size_t count = 0;
	for (uint64_t i = 0; i < h->pairs.count; i++) {
		const struct query_hot_pair *pair = &h->pairs.pairs[i];
		const struct hot_function *caller = &h->functions[pair->caller];
		if (pair->allocator == function && pair->hits && is_hot_pair(h, pair))
			out[count++] =
				(struct hot_caller){{trace_name(h->names, caller->name), pair->hits,
							    caller->below + caller->direct},
					i};
	}
	qsort(out, count, sizeof(*out), compare_hot_callers);
	return count;
}

/* Room for the results, the largest they can be. */
struct hot_result {
	struct hot_row *rows;
	size_t count;
	struct hot_place *places;
	struct hot_caller *callers;
	struct hg_hotspot *hotspots;
	struct hg_hotspot_place *all_places;
	struct hg_hotspot_caller *all_callers;
	size_t place_count, caller_count;
};

/* Functions above the limit that some pair has, as the original's table is walked. */
static enum hg_status list_hot_functions(struct hotspots *h, struct hot_result *r)
{
	if (h->pairs.count)
		qsort(h->pairs.pairs, h->pairs.count, sizeof(*h->pairs.pairs),
			compare_pairs_in_table);
	for (uint64_t i = 0; i < h->function_count; i++)
		h->functions[i].seen = 0;
	r->rows = calloc(h->function_count + 1, sizeof(*r->rows));
	if (!r->rows)
		return base_no_memory(h->error, h->function_count * sizeof(*r->rows));
	for (uint64_t i = 0; i < h->pairs.count; i++) {
		const struct query_hot_pair *pair = &h->pairs.pairs[i];
		struct hot_function *function = &h->functions[pair->allocator];
		if (!pair->hits || function->seen || !is_hot(h, pair->allocator))
			continue;
		function->seen = 1;
		r->rows[r->count] = (struct hot_row){pair->allocator, r->count, function->direct};
		r->count++;
	}
	qsort(r->rows, r->count, sizeof(*r->rows), compare_hot_rows);
	return HG_OK;
}

static void fill_hotspot(const struct hotspots *h, struct hot_result *r, size_t number)
{
	const struct hot_row *row = &r->rows[number];
	const struct hot_function *function = &h->functions[row->function];
	size_t places = list_hot_places(h, row->function, r->places);
	size_t callers = list_hot_callers(h, row->function, r->callers);
	r->hotspots[number] = (struct hg_hotspot){.function = trace_name(h->names, function->name),
		.file = trace_name(h->names, function->file),
		.samples = row->samples,
		.place_count = places,
		.caller_count = callers,
		.places = r->all_places + r->place_count,
		.callers = r->all_callers + r->caller_count};
	for (size_t i = 0; i < places; i++)
		r->all_places[r->place_count++] = r->places[i].place;
	for (size_t i = 0; i < callers; i++)
		r->all_callers[r->caller_count++] = r->callers[i].caller;
}

static enum hg_status make_hotspots(
	struct hotspots *h, struct hot_result *r, struct hg_hotspots *out)
{
	BASE_TRY(list_hot_functions(h, r));
	r->places = calloc(h->met + 1, sizeof(*r->places));
	r->callers = calloc(h->pairs.count + 1, sizeof(*r->callers));
	r->hotspots = calloc(r->count + 1, sizeof(*r->hotspots));
	r->all_places = calloc(h->met + 1, sizeof(*r->all_places));
	r->all_callers = calloc(h->pairs.count + 1, sizeof(*r->all_callers));
	query_keep(out, r->all_places);
	query_keep(out, r->all_callers);
	if (!r->places || !r->callers || !r->hotspots || !r->all_places || !r->all_callers) {
		free(r->hotspots);
		return base_no_memory(h->error, h->met * sizeof(*r->places));
	}
	for (size_t i = 0; i < r->count; i++)
		fill_hotspot(h, r, i);
	out->count = r->count;
	out->samples = h->all;
	out->losses = h->trace->losses;
	return query_keep_rows_of(
		h->error, out, r->hotspots, r->count, sizeof(*r->hotspots), &out->rows);
}

enum hg_status hg_list_hotspots(struct hg_trace *trace, struct hg_hotspots **out)
{
	BASE_TRY(query_trace_begin(trace, (void *)out));
	BASE_TRY(query_answer_of(&trace->session->error, sizeof(**out), out));
	struct hotspots h = {.trace = trace,
		.error = &trace->session->error,
		.names = &trace->names,
		.locations = memtrace_places(trace->reader)};
	struct hot_result result = {0};
	enum hg_status status = count_hotspots(&h);
	if (status == HG_OK)
		status = make_hotspots(&h, &result, *out);
	release_hotspots(&h);
	free(result.rows);
	free(result.places);
	free(result.callers);
	if (status != HG_OK)
		hg_hotspots_release(out);
	return status;
}

void hg_hotspots_release(struct hg_hotspots **hotspots)
{
	query_free(hotspots);
}
