/*
 * Places of allocation over all snapshots.  What a place has in a snapshot is kept only where it
 * has something, so that there is no more of it than of entries in the file.
 */
#include "query/spacetime/spacetime.h"

#include "query/spacetime/site_rows.h"

#include "query/shared/result.h"

#include "base/grow.h"

#include "heapgraph.h"

#include <string.h>

enum { LEAST_STEPS = 2, LEAST_PART = 100, WHOLE_GROWTH = 10000, TREND_WORD_BYTES = 8 };

struct trend_series {
	struct hg_trace *trace;
	struct hg_error *error;
	enum hg_spacetime_count count;
	struct query_site_rows keys;
	struct trend_place {
		uint64_t points; /* that it has */
		uint64_t last;   /* of them, by number */
		struct hg_spacetime_trend_row shown;
	} * places; /* of each row of the keys */
	uint64_t place_count, place_capacity;
	/* In the order of snapshots. */
	struct trend_point {
		uint64_t row;
		struct hg_spacetime_trend_point shown;
	} * points;
	uint64_t point_count, point_capacity;
	struct hg_spacetime_trend_moment *moments;
	struct hg_spacetime_trend_event *events;
	uint64_t *ordinals; /* of readable snapshots: how many are in front of each */
	uint64_t readable;
};

static uint64_t counted_of(
	const struct trend_series *t, uint64_t blocks, uint64_t words, uint64_t allocated)
{
	return t->count == HG_SPACETIME_LIVE     ? words
	       : t->count == HG_SPACETIME_BLOCKS ? blocks
						 : allocated;
}

static uint64_t counted_of_point(
	const struct trend_series *t, const struct hg_spacetime_trend_point *point)
{
	return counted_of(t, point->blocks, point->words, point->allocated);
}

/* What the place of an annotation has in this snapshot, which is the latest. */
static enum hg_status find_trend_point(struct trend_series *t, uint32_t annotation,
	uint64_t snapshot, struct hg_spacetime_trend_point **point)
{
	uint64_t row;
	BASE_TRY(query_site_row_of(&t->keys, annotation, &row));
	while (t->place_count < t->keys.count) {
		BASE_TRY(base_grow(&t->places, t->place_count, &t->place_capacity,
			sizeof(*t->places), t->error));
		t->places[t->place_count++] = (struct trend_place){0};
	}
	struct trend_place *place = &t->places[row];
	if (!place->points || t->points[place->last].shown.snapshot != snapshot) {
		BASE_TRY(base_grow(&t->points, t->point_count, &t->point_capacity,
			sizeof(*t->points), t->error));
		place->points++;
		place->last = t->point_count;
		t->points[t->point_count++] =
			(struct trend_point){.row = row, .shown = {.snapshot = snapshot}};
	}
	*point = &t->points[place->last].shown;
	return HG_OK;
}

static uint64_t more_than_none(int64_t number)
{
	return number > 0 ? (uint64_t)number : 0;
}

static enum hg_status add_snapshot_to_trend(
	struct trend_series *t, uint64_t number, const struct spacetime_snapshot *snapshot)
{
	struct hg_spacetime_trend_moment *moment = &t->moments[number];
	struct hg_spacetime_trend_point *point;
	moment->readable = true;
	moment->unknown = more_than_none(snapshot->scanned - snapshot->annotated);
	t->ordinals[number] = t->readable++;
	for (uint64_t i = 0; i < snapshot->entry_count; i++) {
		const struct spacetime_entry *entry = &snapshot->entries[i];
		if (entry->blocks <= 0 && entry->words <= 0)
			continue;
		BASE_TRY(find_trend_point(t, entry->annotation, number, &point));
		point->blocks += more_than_none(entry->blocks);
		point->words += more_than_none(entry->words);
		moment->blocks += more_than_none(entry->blocks);
		moment->words += more_than_none(entry->words);
	}
	for (uint64_t i = 0; i < snapshot->total_count; i++) {
		const struct spacetime_total *total = &snapshot->totals[i];
		if (total->words <= 0)
			continue;
		BASE_TRY(find_trend_point(t, total->annotation, number, &point));
		point->allocated += more_than_none(total->words);
		moment->allocated += more_than_none(total->words);
	}
	return HG_OK;
}

static enum hg_status read_moments_of_trend(struct trend_series *t)
{
	const struct spacetime_series *series = &t->trace->series;
	uint64_t snapshots = 0, events = 0;
	for (uint64_t i = 0; i < series->moment_count; i++) {
		const struct spacetime_moment *moment = &series->moments[i];
		struct spacetime_snapshot snapshot;
		if (moment->is_event) {
			t->events[events++] = (struct hg_spacetime_trend_event){
				moment->name, moment->time, snapshots};
			continue;
		}
		t->moments[snapshots].time = moment->time;
		enum hg_status status =
			spacetime_read_snapshot(series, moment, &snapshot, t->error);
		if (status == HG_OK)
			status = add_snapshot_to_trend(t, snapshots, &snapshot);
		else
			status = query_spacetime_skip(
				t->trace, status, moment->offset, "a snapshot that cannot be read");
		spacetime_snapshot_release(&snapshot);
		BASE_TRY(status);
		snapshots++;
	}
	return HG_OK;
}

/* Of all points, in the order of rows: each row gets its own. */
static void spread_points(struct trend_series *t, struct hg_spacetime_trend_point *points)
{
	uint64_t before = 0;
	for (uint64_t i = 0; i < t->place_count; i++) {
		t->places[i].shown.points = points + before;
		before += t->places[i].points;
		t->places[i].points = 0;
	}
	for (uint64_t i = 0; i < t->point_count; i++) {
		struct trend_place *place = &t->places[t->points[i].row];
		points[(uint64_t)(place->shown.points - points) + place->points++] =
			t->points[i].shown;
	}
}

/* In a snapshot that has nothing of a place it is 0. */
static void follow_place(const struct trend_series *t, struct trend_place *place, uint64_t number)
{
	struct hg_spacetime_trend_row *row = &place->shown;
	uint64_t before = 0, after = 0; /* of the latest point, and the snapshot that follows it */
	row->location = query_site_location(&t->keys, number);
	row->in_c = t->keys.rows[number].in_c;
	row->c_function = query_site_function(&t->keys, number);
	row->point_count = place->points;
	for (uint64_t i = 0; i < row->point_count; i++) {
		uint64_t ordinal = t->ordinals[row->points[i].snapshot];
		uint64_t now = counted_of_point(t, &row->points[i]);
		row->steps_up += ordinal && now > (ordinal == after ? before : 0);
		row->first = ordinal ? row->first : now;
		row->last = ordinal + 1 == t->readable ? now : 0;
		row->most = now > row->most ? now : row->most;
		before = now;
		after = ordinal + 1;
	}
}

/* Ten-thousandths of the whole, rounded to zero. */
static int64_t share_of_growth(const struct hg_spacetime_trend_row *row, uint64_t whole)
{
	__extension__ __int128 change = (__int128)row->last - row->first;
	change *= WHOLE_GROWTH;
	return whole ? (int64_t)(change / whole) : 0;
}

static bool steps_always_up(const struct trend_series *t, const struct hg_spacetime_trend_row *row)
{
	uint64_t unit = t->count == HG_SPACETIME_BLOCKS ? HG_LEAST_GROWTH : TREND_WORD_BYTES;
	return t->readable > LEAST_STEPS && row->steps_up + 1 == t->readable &&
	       row->last > row->first && row->last - row->first >= HG_LEAST_GROWTH / unit;
}

/* The growth of all; or where others shrank by more, of those alone that grew. */
static uint64_t find_whole_growth(
	const struct trend_series *t, const struct hg_spacetime_trend *trend)
{
	uint64_t whole = trend->last > trend->first ? trend->last - trend->first : 0;
	uint64_t growing = 0, grown = 0;
	for (uint64_t i = 0; i < t->place_count; i++) {
		const struct hg_spacetime_trend_row *row = &t->places[i].shown;
		uint64_t change = row->last > row->first ? row->last - row->first : 0;
		grown += change;
		growing += steps_always_up(t, row) ? change : 0;
	}
	return whole < growing || !whole ? grown : whole;
}

static int compare_trend_rows(const void *a, const void *b)
{
	const struct hg_spacetime_trend_row *x = a, *y = b;
	uint64_t change = x->last > x->first ? x->last - x->first : x->first - x->last;
	uint64_t other = y->last > y->first ? y->last - y->first : y->first - y->last;
	if (x->grows != y->grows)
		return x->grows ? -1 : 1;
	if (change != other)
		return change < other ? 1 : -1;
	if (!change && !x->steps_up != !y->steps_up)
		return x->steps_up ? -1 : 1;
	if (x->most != y->most)
		return x->most < y->most ? 1 : -1;
	int order = strcmp(x->location, y->location);
	if (!order)
		order = strcmp(x->c_function, y->c_function);
	return order ? order : x->in_c - y->in_c;
}

static void judge_growth(struct trend_series *t, struct hg_spacetime_trend *trend)
{
	const struct hg_spacetime_trend_moment *moment = t->moments;
	for (uint64_t i = 0; i < trend->moment_count; i++, moment++) {
		uint64_t now = counted_of(t, moment->blocks, moment->words, moment->allocated);
		if (moment->readable && !t->ordinals[i])
			trend->first = now;
		trend->last = moment->readable ? now : trend->last;
	}
	for (uint64_t i = 0; i < t->place_count; i++)
		follow_place(t, &t->places[i], i);
	uint64_t whole = find_whole_growth(t, trend);
	for (uint64_t i = 0; i < t->place_count; i++) {
		struct hg_spacetime_trend_row *row = &t->places[i].shown;
		row->growth_share = share_of_growth(row, whole);
		row->grows =
			steps_always_up(t, row) && row->growth_share >= WHOLE_GROWTH / LEAST_PART;
	}
}

static enum hg_status make_trend_rows(struct trend_series *t, struct hg_spacetime_trend *trend)
{
	struct hg_spacetime_trend_point *points = calloc(t->point_count + 1, sizeof(*points));
	struct hg_spacetime_trend_row *rows = calloc(t->place_count + 1, sizeof(*rows));
	if (!points || !rows) {
		free(points);
		free(rows);
		return base_no_memory(t->error, t->point_count * sizeof(*points));
	}
	query_keep(trend, points);
	spread_points(t, points);
	trend->readable = t->readable;
	judge_growth(t, trend);
	for (uint64_t i = 0; i < t->place_count; i++)
		if (t->places[i].points)
			rows[trend->count++] = t->places[i].shown;
	if (trend->count)
		qsort(rows, trend->count, sizeof(*rows), compare_trend_rows);
	return query_keep_rows_of(t->error, trend, rows, trend->count, sizeof(*rows), &trend->rows);
}

static enum hg_status fill_trend(struct trend_series *t, struct hg_spacetime_trend *trend)
{
	trend->moment_count = t->trace->series.snapshot_count;
	trend->event_count = t->trace->series.event_count;
	t->moments = calloc(trend->moment_count + 1, sizeof(*t->moments));
	t->events = calloc(trend->event_count + 1, sizeof(*t->events));
	t->ordinals = calloc(trend->moment_count + 1, sizeof(*t->ordinals));
	if (!t->moments || !t->events || !t->ordinals)
		return base_no_memory(t->error, trend->moment_count * sizeof(*t->moments));
	BASE_TRY(query_site_rows_init(&t->keys, t->trace));
	BASE_TRY(read_moments_of_trend(t));
	BASE_TRY(make_trend_rows(t, trend));
	struct hg_spacetime_trend_moment *moments = t->moments;
	struct hg_spacetime_trend_event *events = t->events;
	t->moments = NULL;
	BASE_TRY(query_keep_rows_of(
		t->error, trend, moments, trend->moment_count, sizeof(*moments), &trend->moments));
	t->events = NULL;
	BASE_TRY(query_keep_rows_of(
		t->error, trend, events, trend->event_count, sizeof(*events), &trend->events));
	return query_spacetime_end(t->trace, &trend->losses);
}

enum hg_status hg_list_spacetime_trend(
	struct hg_trace *trace, enum hg_spacetime_count count, struct hg_spacetime_trend **out)
{
	BASE_TRY(query_spacetime_begin(trace, (void *)out));
	struct trend_series t = {.trace = trace, .error = &trace->session->error, .count = count};
	if (count != HG_SPACETIME_ALLOCATED && count != HG_SPACETIME_LIVE &&
		count != HG_SPACETIME_BLOCKS)
		return base_fail(t.error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"places have bytes allocated, bytes alive and blocks, but no calls");
	BASE_TRY(query_answer_of(t.error, sizeof(**out), out));
	enum hg_status status = fill_trend(&t, *out);
	query_site_rows_release(&t.keys);
	free(t.places);
	free(t.points);
	free(t.moments);
	free(t.events);
	free(t.ordinals);
	if (status != HG_OK)
		hg_spacetime_trend_release(out);
	return status == HG_OK ? HG_OK : query_trace_failed(trace, status);
}

void hg_spacetime_trend_release(struct hg_spacetime_trend **trend)
{
	query_free(trend);
}
