/* How large blocks are: every size, histograms, and moments of all and of parts of the run. */
#include "query/trace/trace.h"

#include "query/statistics/distribution.h"
#include "query/statistics/lives.h"

#include "query/shared/result.h"

#include <stdlib.h>
#include <string.h>

/*
 * The list of what begins, in the order of time, is cut at every bound that a part has: at halves,
 * at tenths, and 100 from both ends.
 */
enum { MOST_BOUNDS = 2 + 10 + 2, MOST_PARTS = 4 + 2 + 10, LEFT_OUT = 100 };

struct sizes {
	struct hg_trace *trace;
	struct hg_error *error;
	struct query_lives lives;
	bool as_notebooks;
	struct base_arena arena;
	struct sizes_object {
		uint64_t length;
		uint32_t samples;
		bool external;
	} * objects;

	struct sizes_piece {
		uint64_t end; /* ticks below it */
		struct query_values values;
		uint64_t from_us, to_us;
	} pieces[MOST_BOUNDS];
	size_t piece_count;
	struct query_values all;
	struct query_values every; /* all allocations, as_notebooks */

	struct hg_trace_part parts[MOST_PARTS];
	size_t part_count;
};

static int64_t size_of_length(uint64_t length)
{
	return length < INT64_MAX ? (int64_t)length : INT64_MAX;
}

/* Adds a bound to the sorted ones, unless it is there. */
static void bound_sizes(struct sizes *s, uint64_t end)
{
	size_t at = 0;
	while (at < s->piece_count && s->pieces[at].end < end)
		at++;
	if (!end || end > s->lives.count || (at < s->piece_count && s->pieces[at].end == end))
		return;
	memmove(&s->pieces[at + 1], &s->pieces[at], (s->piece_count - at) * sizeof(*s->pieces));
	s->pieces[at] = (struct sizes_piece){.end = end, .from_us = UINT64_MAX};
	s->piece_count++;
}

/* What all but the last of 'parts' parts of the list have. */
static uint64_t size_of_part(const struct sizes *s, uint64_t parts)
{
	return (s->lives.count + parts - 1) / parts;
}

static void bound_all_sizes(struct sizes *s)
{
	static const uint64_t parts[] = {2, 10};
	uint64_t count = s->lives.count;
	bound_sizes(s, count);
	for (size_t i = 0; i < 2; i++)
		for (uint64_t j = 1; j < parts[i]; j++)
			bound_sizes(s, j * size_of_part(s, parts[i]));
	if (count > 2 * LEFT_OUT) {
		bound_sizes(s, LEFT_OUT);
		bound_sizes(s, count - LEFT_OUT);
	}
}

static enum hg_status add_size(struct sizes *s, const struct query_life *life)
{
	const struct sizes_object *object = &s->objects[life->object];
	const struct query_weight weight =
		query_weight_of(object->samples, object->length, object->external);
	struct sizes_piece *piece = s->pieces;
	while (piece + 1 < s->pieces + s->piece_count && life->tick >= piece->end)
		piece++;
	piece->from_us = life->time < piece->from_us ? life->time : piece->from_us;
	piece->to_us = life->time > piece->to_us ? life->time : piece->to_us;
	return query_values_add(&piece->values, size_of_length(object->length), &weight, s->error);
}

static enum hg_status follow_sizes(struct sizes *s, struct hg_trace_losses *losses)
{
	struct query_life life;
	BASE_TRY(query_lives_begin(&s->lives));
	while (query_lives_next(&s->lives, &life)) {
		if (life.met) {
			struct sizes_object *object = &s->objects[life.object];
			*object = (struct sizes_object){life.met->length,
				(uint32_t)life.met->samples, life.met->source == MEMTRACE_EXTERNAL};
			const struct query_weight weight =
				query_weight_of(object->samples, object->length, object->external);
			if (s->as_notebooks)
				BASE_TRY(query_values_add(&s->every, size_of_length(object->length),
					&weight, s->error));
		}
		if (life.begins && s->piece_count)
			BASE_TRY(add_size(s, &life));
	}
	BASE_TRY(query_lives_end(&s->lives, losses));
	for (size_t i = 0; i < s->piece_count; i++) {
		struct query_values *values = &s->pieces[i].values;
		for (uint64_t j = 0; j < values->count; j++)
			BASE_TRY(query_values_add(
				&s->all, values->rows[j].value, &values->rows[j].weight, s->error));
		query_values_sort(values);
	}
	query_values_sort(&s->all);
	query_values_sort(&s->every);
	return HG_OK;
}

/* Where the values above a bound begin. */
static uint64_t first_size_above(const struct query_values *values, int64_t bound)
{
	uint64_t i = 0;
	while (i < values->count && values->rows[i].value <= bound)
		i++;
	return i;
}

/* The moments of values of several lists, those above a bound. */
static void find_size_moments(struct sizes *s, const char *name,
	const struct query_values *const *lists, size_t count, int64_t above)
{
	struct query_moments sums = {0}, moments = {0};
	for (int pass = 0; pass < 2; pass++) {
		struct query_moments *m = pass ? &moments : &sums;
		for (size_t i = 0; i < count; i++)
			for (uint64_t j = first_size_above(lists[i], above); j < lists[i]->count;
				j++)
				query_moments_add(
					m, lists[i]->rows[j].value, &lists[i]->rows[j].weight);
		if (!pass && sums.weight.events)
			moments.shift = sums.by[HG_TRACE_WEIGH_EVENTS].sum / sums.weight.events;
	}
	struct hg_trace_part *part = &s->parts[s->part_count++];
	*part = (struct hg_trace_part){.name = name};
	query_moments_end(&moments, s->trace->header.rate, part);
}

/* The part between two ticks, of those at which the list is cut. */
static void find_part_of_sizes(
	struct sizes *s, const char *name, uint64_t from, uint64_t to, int64_t above)
{
	const struct query_values *lists[MOST_BOUNDS];
	uint64_t from_us = UINT64_MAX, to_us = 0, begin = 0;
	size_t count = 0;
	for (size_t i = 0; i < s->piece_count; begin = s->pieces[i++].end) {
		const struct sizes_piece *piece = &s->pieces[i];
		if (begin < from || piece->end > to)
			continue;
		lists[count++] = &piece->values;
		from_us = piece->from_us < from_us ? piece->from_us : from_us;
		to_us = piece->to_us > to_us ? piece->to_us : to_us;
	}
	find_size_moments(s, name, lists, count, above);
	if (s->parts[s->part_count - 1].events) {
		s->parts[s->part_count - 1].from_us = from_us;
		s->parts[s->part_count - 1].to_us = to_us;
	}
}

static void find_parts_of_sizes(struct sizes *s)
{
	static const char *const halves[] = {"1/2", "2/2"};
	static const char *const tenths[] = {
		"1/10", "2/10", "3/10", "4/10", "5/10", "6/10", "7/10", "8/10", "9/10", "10/10"};
	const struct {
		uint64_t parts;
		const char *const *names;
	} cuts[] = {{2, halves}, {10, tenths}};
	const struct query_values *every = &s->every;
	uint64_t count = s->lives.count, ends = count > 2 * LEFT_OUT ? LEFT_OUT : count;
	find_part_of_sizes(s, "all", 0, count, -1);
	find_part_of_sizes(s, "middle", ends, count - ends, -1);
	find_part_of_sizes(s, "above_256", 0, count, 256);
	for (size_t i = 0; i < 2; i++) {
		uint64_t size = size_of_part(s, cuts[i].parts);
		for (uint64_t j = 0; j < cuts[i].parts && j * size < count; j++) {
			uint64_t end = (j + 1) * size;
			find_part_of_sizes(
				s, cuts[i].names[j], j * size, end < count ? end : count, -1);
		}
	}
	if (s->as_notebooks)
		find_size_moments(s, "every", &every, 1, -1);
}

static enum hg_status make_size_histogram(
	const struct sizes *s, const struct query_values *values, struct query_histogram *h)
{
	uint64_t first = h->of_range ? first_size_above(values, h->low) : 0;
	h->as_notebooks = s->as_notebooks;
	if (h->of_range && first < values->count)
		h->low = values->rows[first].value;
	if (h->of_range || h->powers)
		h->high = values->count ? values->rows[values->count - 1].value : 0;
	if ((h->of_range || h->powers) && first == values->count)
		return HG_OK;
	BASE_TRY(query_histogram_init(h, s->error));
	for (uint64_t i = 0; i < values->count; i++)
		query_histogram_add(h, values->rows[i].value, &values->rows[i].weight, 0);
	return HG_OK;
}

/* Those of the newest notebook, then those of the older ones, which count all allocations. */
static enum hg_status make_size_histograms(struct sizes *s, struct hg_trace_distribution *out)
{
	struct query_histogram histograms[] = {
		{.name = "powers", .powers = true},
		{.name = "to_32", .high = 32, .count = 32},
		{.name = "to_256", .low = 32, .high = 256, .count = 100},
		{.name = "to_10000", .low = 256, .high = 10000, .count = 100},
		{.name = "above_10000", .low = 10000, .count = 100, .of_range = true},
		{.name = "in_8", .low = -1, .count = 8, .of_range = true},
		{.name = "in_1000", .low = -1, .count = 1000, .of_range = true},
		{.name = "to_100", .high = 100, .count = 100},
		{.name = "to_9000", .high = 9000, .count = 100},
	};
	enum { COUNT = sizeof(histograms) / sizeof(*histograms), OLDER = 5 };
	enum hg_status status = HG_OK;
	size_t first = s->as_notebooks ? 1 : 0;
	for (size_t i = first; i < COUNT && status == HG_OK; i++)
		status = make_size_histogram(
			s, i >= OLDER && s->as_notebooks ? &s->every : &s->all, &histograms[i]);
	for (size_t i = first; i < COUNT; i++)
		if (!histograms[i].bins)
			histograms[i].count = 0;
	if (status == HG_OK)
		status = query_keep_histograms(
			out, histograms + first, COUNT - first, s->trace->header.rate, s->error);
	for (size_t i = 0; i < COUNT; i++)
		free(histograms[i].bins);
	return status;
}

/* As notebooks, all sizes that there are, with those of what counts. */
static enum hg_status make_size_rows(struct sizes *s, struct hg_trace_distribution *out)
{
	const struct query_values *values = s->as_notebooks ? &s->every : &s->all;
	struct hg_trace_value *rows = calloc(values->count + 1, sizeof(*rows));
	if (!rows)
		return base_no_memory(s->error, values->count * sizeof(*rows));
	for (uint64_t i = 0, j = 0; i < values->count; i++) {
		rows[i].value = values->rows[i].value;
		if (s->as_notebooks)
			rows[i].every = values->rows[i].weight.events;
		if (j < s->all.count && s->all.rows[j].value == rows[i].value)
			rows[i].counts =
				query_counts_of(&s->all.rows[j++].weight, s->trace->header.rate);
	}
	out->value_count = values->count;
	return query_keep_rows_of(s->error, out, rows, values->count, sizeof(*rows), &out->values);
}

static enum hg_status make_size_parts(struct sizes *s, struct hg_trace_distribution *out)
{
	struct query_weight all = {0};
	struct hg_trace_part *parts = calloc(MOST_PARTS, sizeof(*parts));
	if (!parts)
		return base_no_memory(s->error, MOST_PARTS * sizeof(*parts));
	find_parts_of_sizes(s);
	memcpy(parts, s->parts, s->part_count * sizeof(*parts));
	for (uint64_t i = 0; i < s->all.count; i++)
		query_add_weight(&all, &s->all.rows[i].weight);
	out->counts = query_counts_of(&all, s->trace->header.rate);
	out->part_count = s->part_count;
	return query_keep_rows_of(s->error, out, parts, s->part_count, sizeof(*parts), &out->parts);
}

static enum hg_status fill_sizes(struct sizes *s, struct hg_trace_distribution *out)
{
	struct hg_trace *trace = s->trace;
	void *objects;
	BASE_TRY(query_lives_init(&s->lives, trace, false, s->as_notebooks));
	BASE_TRY(base_arena_init(
		&s->arena, &trace->session->budget, "sizes of the trace", s->error));
	BASE_TRY(base_arena_zalloc(&s->arena, memtrace_objects(trace->reader), sizeof(*s->objects),
		&objects, s->error));
	s->objects = objects;
	bound_all_sizes(s);
	BASE_TRY(follow_sizes(s, &out->losses));
	BASE_TRY(make_size_parts(s, out));
	BASE_TRY(make_size_rows(s, out));
	return make_size_histograms(s, out);
}

enum hg_status hg_list_trace_sizes(struct hg_trace *trace,
	const struct hg_trace_statistics_options *options, struct hg_trace_distribution **out)
{
	struct sizes s = {.trace = trace};
	BASE_TRY(query_distribution_begin(trace, options, out, &s.as_notebooks));
	s.error = &trace->session->error;
	enum hg_status status = fill_sizes(&s, *out);
	query_lives_release(&s.lives);
	base_arena_release(&s.arena);
	for (size_t i = 0; i < MOST_BOUNDS; i++)
		query_values_release(&s.pieces[i].values);
	query_values_release(&s.all);
	query_values_release(&s.every);
	if (status != HG_OK)
		hg_trace_distribution_release(out);
	return status;
}
