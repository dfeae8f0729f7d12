/* What is alive over time, by place of allocation. */
#include "query/trace/trace.h"

#include "query/trace/alive.h"
#include "query/trace/course.h"
#include "query/trace/pass.h"
#include "query/trace/place_text.h"

#include "base/grow.h"
#include "base/search.h"
#include "query/shared/result.h"

#include <stdlib.h>
#include <string.h>

/*
 * Changes of what codes have alive, each between one point and the next: events of several domains
 * are not in the order of time, so that they are summed when all are known.
 */
struct bands {
	struct hg_trace *trace;
	struct hg_error *error;
	struct query_pass pass;
	struct query_alive alive;        /* a group is a band */
	struct hg_trace_moment *moments; /* of all that is allocated, whatever the filter says */
	uint64_t point_count;

	struct trace_names names; /* of bands, which have their numbers */
	uint32_t *band_of;        /* of each code, + 1; 0: not known yet */
	uint64_t code_count, code_capacity;

	struct band_change {
		uint64_t samples; /* what is gone wraps around */
		uint32_t band, point;
	} * changes;
	uint64_t change_count, change_capacity;
	struct base_map places; /* of changes, by both */

	struct band_order {
		uint64_t area; /* sum of what is alive at all points */
		uint32_t band;
	} * order;
};

/* The band of a code's innermost location; several codes may be of one. */
static enum hg_status find_band(struct bands *b, uint32_t code, uint32_t *band)
{
	const struct memtrace_locations *locations = memtrace_places(b->trace->reader);
	while (b->code_count <= code) {
		BASE_TRY(base_grow(&b->band_of, b->code_count, &b->code_capacity,
			sizeof(*b->band_of), b->error));
		b->band_of[b->code_count++] = 0;
	}
	*band = b->band_of[code] - 1;
	if (b->band_of[code])
		return HG_OK;
	char *text = code ? query_place_text(locations, code, locations->codes[code].count - 1)
			  : strdup("");
	if (!text)
		return base_no_memory(b->error, 64);
	enum hg_status status = trace_names_add(&b->names, text, strlen(text), band, b->error);
	free(text);
	b->band_of[code] = *band + 1;
	return status;
}

static enum hg_status add_band_change(
	struct bands *b, uint64_t time, uint32_t band, uint64_t samples)
{
	uint64_t point = BASE_FIRST_FROM(b->moments, b->point_count, time_us, time);
	uint64_t place = b->change_count;
	bool added;
	if (!samples)
		return HG_OK;
	/* The end is the time of the last event in the file, and not always the latest. */
	if (point == b->point_count)
		point--;
	BASE_TRY(base_map_add(&b->places, point << 32 | band, &place, &added, b->error));
	if (added) {
		BASE_TRY(base_grow(&b->changes, b->change_count, &b->change_capacity,
			sizeof(*b->changes), b->error));
		b->changes[b->change_count++] =
			(struct band_change){.band = band, .point = (uint32_t)point};
	}
	b->changes[place].samples += samples;
	return HG_OK;
}

static enum hg_status follow_band_event(struct bands *b, const struct memtrace_event *event)
{
	uint32_t band = b->alive.groups_of[event->object];
	if (event->kind == MEMTRACE_ALLOCATION) {
		uint32_t code =
			event->depth && !event->truncated ? event->stack[event->depth - 1] : 0;
		BASE_TRY(find_band(b, query_hides_code(b->trace, code) ? 0 : code, &band));
	}
	uint64_t before = b->alive.totals.live;
	BASE_TRY(query_alive_add(&b->alive, event, band, b->error));
	return add_band_change(b, event->time, band, b->alive.totals.live - before);
}

static int compare_band_changes(const void *a, const void *b)
{
	const struct band_change *x = a, *y = b;
	if (x->band != y->band)
		return x->band < y->band ? -1 : 1;
	return x->point < y->point ? -1 : x->point > y->point;
}

static int compare_band_order(const void *a, const void *b, void *data)
{
	const struct band_order *x = a, *y = b;
	const struct bands *bands = data;
	if (x->area != y->area)
		return x->area < y->area ? 1 : -1;
	return strcmp(trace_name(&bands->names, x->band), trace_name(&bands->names, y->band));
}

/* The changes become what is alive, which lasts up to the next one of the band. */
static enum hg_status order_bands(struct bands *b)
{
	uint64_t count = b->names.count, alive = 0;
	b->order = calloc(count + 1, sizeof(*b->order));
	if (!b->order)
		return base_no_memory(b->error, count * sizeof(*b->order));
	if (b->change_count)
		qsort(b->changes, b->change_count, sizeof(*b->changes), compare_band_changes);
	for (uint64_t i = 0; i < count; i++)
		b->order[i].band = (uint32_t)i;
	for (uint64_t i = 0; i < b->change_count; i++) {
		struct band_change *change = &b->changes[i];
		bool is_last = i + 1 == b->change_count || b->changes[i + 1].band != change->band;
		uint64_t until = is_last ? b->point_count : b->changes[i + 1].point;
		alive = change->samples += alive;
		b->order[change->band].area += alive * (until - change->point);
		alive = is_last ? 0 : alive;
	}
	if (count)
		qsort_r(b->order, count, sizeof(*b->order), compare_band_order, b);
	return HG_OK;
}

/* What is alive of each row: of the first bands, and behind them of all others. */
static void sum_up_rows(const struct bands *b, const uint32_t *row_of, uint64_t *alive)
{
	for (uint64_t i = 0; i < b->change_count; i++) {
		const struct band_change *change = &b->changes[i];
		bool is_last = i + 1 == b->change_count || b->changes[i + 1].band != change->band;
		uint64_t until = is_last ? b->point_count : b->changes[i + 1].point;
		for (uint64_t point = change->point; point < until; point++)
			alive[row_of[change->band] * b->point_count + point] += change->samples;
	}
}

/* 'alive' is of each row and point; the names get to where they last. */
static enum hg_status fill_band_rows(struct bands *b, struct hg_trace_band *rows, uint64_t count,
	uint64_t own, const uint64_t *alive)
{
	struct trace_names *names = &b->trace->names;
	for (uint64_t i = 0; i < count; i++) {
		const char *name = i < own ? trace_name(&b->names, b->order[i].band) : "";
		uint32_t number;
		BASE_TRY(trace_names_add(names, name, strlen(name), &number, b->error));
		rows[i] = (struct hg_trace_band){
			trace_name(names, number), i == own, alive + i * b->point_count};
	}
	return HG_OK;
}

static enum hg_status make_bands(struct bands *b, uint64_t most, struct hg_trace_bands *out)
{
	uint64_t all = b->names.count, own = most && most < all ? most : all;
	uint64_t count = own + (own < all);
	struct hg_trace_band *rows = calloc(count + 1, sizeof(*rows));
	uint64_t *alive = calloc((count + 1) * b->point_count, sizeof(*alive));
	uint32_t *row_of = calloc(all + 1, sizeof(*row_of));
	query_keep(out, alive);
	enum hg_status status = rows && alive && row_of ? fill_band_rows(b, rows, count, own, alive)
							: base_no_memory(b->error,
								  (count + 1) * b->point_count * 8);
	if (status == HG_OK) {
		for (uint64_t i = 0; i < all; i++)
			row_of[b->order[i].band] = (uint32_t)(i < own ? i : own);
		sum_up_rows(b, row_of, alive);
	}
	free(row_of);
	if (status != HG_OK) {
		free(rows);
		return status;
	}
	out->count = count;
	return query_keep_rows_of(b->error, out, rows, count, sizeof(*rows), &out->rows);
}

static enum hg_status follow_bands(struct bands *b, struct hg_trace_bands *out)
{
	struct memtrace_event event;
	BASE_TRY(query_pass_begin(&b->pass, b->trace, &b->trace->filter));
	BASE_TRY(query_alive_init(&b->alive, b->trace, &b->trace->filter, false));
	while (query_pass_next(&b->pass, &event))
		BASE_TRY(follow_band_event(b, &event));
	BASE_TRY(query_pass_end(&b->pass, b->alive.unknown, &out->losses));
	out->peak = b->alive.totals.peak;
	out->peak_us = b->alive.peak_time;
	return order_bands(b);
}

/* What is alive of all rows together is what is alive at all, if there is no filter. */
static enum hg_status fill_band_points(struct bands *b, struct hg_trace_bands *out)
{
	struct hg_trace_course all;
	uint64_t count = b->point_count;
	uint64_t *points = calloc(2 * count, sizeof(*points));
	if (!points)
		return base_no_memory(b->error, 2 * count * sizeof(*points));
	query_keep(out, points);
	if (b->trace->filter.set)
		BASE_TRY(query_follow_course(b->trace, NULL, b->moments, count, &all));
	for (uint64_t i = 0; i < count; i++) {
		points[i] = b->moments[i].time_us;
		points[count + i] = b->moments[i].live;
		for (size_t row = 0; row < out->count && !b->trace->filter.set; row++)
			points[count + i] += out->rows[row]->alive[i];
	}
	out->point_count = count;
	out->times_us = points;
	out->all = points + count;
	return HG_OK;
}

static enum hg_status fill_bands(struct bands *b, uint64_t most, struct hg_trace_bands *out)
{
	BASE_TRY(query_begin_course(b->trace, b->point_count, &b->moments));
	BASE_TRY(follow_bands(b, out));
	BASE_TRY(make_bands(b, most, out));
	return fill_band_points(b, out);
}

enum hg_status hg_list_trace_bands(
	struct hg_trace *trace, uint64_t points, uint64_t most, struct hg_trace_bands **out)
{
	enum { MOST_POINTS = 10000 };
	BASE_TRY(query_trace_begin(trace, (void *)out));
	struct bands b = {.trace = trace, .error = &trace->session->error, .point_count = points};
	if (!points || points > MOST_POINTS)
		return base_fail(b.error, HG_ERROR_USAGE, HG_NO_OFFSET, "bands have 1 to %d points",
			MOST_POINTS);
	BASE_TRY(query_answer_of(b.error, sizeof(**out), out));
	enum hg_status status = fill_bands(&b, most, *out);
	query_pass_release(&b.pass);
	query_alive_release(&b.alive);
	trace_names_release(&b.names);
	base_map_release(&b.places);
	free(b.moments);
	free(b.band_of);
	free(b.changes);
	free(b.order);
	if (status != HG_OK)
		hg_trace_bands_release(out);
	return status;
}

void hg_trace_bands_release(struct hg_trace_bands **bands)
{
	query_free(bands);
}
