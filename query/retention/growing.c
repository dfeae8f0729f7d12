/* Of all that was added to a series: its order, its growth, and the order of its rows. */
#include "query/retention/growing.h"

#include "query/retention/judging.h"
#include "query/retention/moved.h"
#include "query/retention/path_text.h"

#include "base/assert.h"
#include "base/session.h"

#include <stdlib.h>
#include <string.h>

/* Time first, if all have one; then the number of the dump, if all are of one process. */
static int compare_moments(const void *a, const void *b)
{
	const struct hg_series_moment *x = a, *y = b;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->pid == y->pid && x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return (x->added > y->added) - (x->added < y->added);
}

static void sort_moments(struct hg_series *series)
{
	uint32_t count = series->all.moment_count;
	bool all_timed = true, one_process = true;
	for (uint32_t i = 0; i < count; i++) {
		all_timed &= series->moments[i].time_ns != HG_UNKNOWN;
		one_process &= series->moments[i].pid == series->moments[0].pid;
	}
	if (series->options.keep_order || count == 0 || (!all_timed && !one_process))
		return;
	/* Of some the time is known, of others not: only numbers go together. */
	for (uint32_t i = 0; i < count && !all_timed; i++)
		if (series->moments[i].time_ns != HG_UNKNOWN)
			return;
	qsort(series->moments, count, sizeof(*series->moments), compare_moments);
	for (uint32_t i = 0; i < count; i++)
		series->is_sorted |= series->moments[i].added != i;
}

static void measure_row(struct hg_series *series, uint32_t number, struct hg_measure *points)
{
	struct hg_series_row *row = &series->all.rows[number].shown;
	uint32_t count = series->all.moment_count;
	query_series_read(series, number, points);
	row->number = number;
	row->first = points[0];
	row->last = points[count - 1];
	row->steps_up = 0;
	/* The blocks that a root points to are as many as its slots. */
	bool by_root = series->options.by_key && series->options.key == HG_BY_ROOT;
	for (uint32_t i = 1; i < count; i++) {
		row->steps_up += by_root ? points[i].weight > points[i - 1].weight
					 : points[i].blocks > points[i - 1].blocks;
		row->changed |= memcmp(&points[i], &points[i - 1], sizeof(*points)) != 0;
	}
}

/*
 * Of paths own bytes add up to what the roots retain; classes overlap, and only the totals of the
 * snapshots tell.
 */
static void sum_row(struct hg_series *series, uint32_t number, const struct hg_measure *points)
{
	const struct hg_series_row *row = &series->all.rows[number].shown;
	for (uint32_t i = 0; i < series->all.moment_count && !row->is_memprof; i++) {
		struct hg_measure *total = &series->totals[i];
		total->blocks += points[i].blocks;
		total->bytes += points[i].bytes;
		total->offheap_bytes += points[i].offheap_bytes;
	}
}

static void complete_totals(struct hg_series *series)
{
	for (uint32_t i = 0; i < series->all.moment_count; i++) {
		const struct hg_series_moment *moment = &series->moments[i];
		struct hg_measure *total = &series->totals[i];
		if (series->options.by_key)
			*total = (struct hg_measure){.blocks = moment->reachable_blocks,
				.bytes = moment->reachable_bytes,
				.offheap_bytes = moment->offheap_bytes};
		total->retained_bytes = total->bytes;
		total->retained_offheap_bytes = total->offheap_bytes;
		query_series_weigh(series, total);
	}
}

/* The names from the root on, written from the last one back. */
static enum hg_status name_path(struct hg_series *series, uint32_t number)
{
	struct query_series *all = &series->all;
	const struct query_series_row *rows = all->rows;
	size_t joint = strlen(QUERY_PATH_JOINT), length = 0;
	char *path;
	for (uint32_t i = number; rows[i].parent != QUERY_NO_ROW; i = rows[i].parent)
		length += query_path_name(rows[i].own_name, NULL, 0) + joint;
	length -= joint;
	BASE_TRY(base_pool_alloc(&all->pool, length + 1, 1, (void **)&path, all->error));
	for (uint32_t i = number; rows[i].parent != QUERY_NO_ROW; i = rows[i].parent) {
		size_t part = query_path_name(rows[i].own_name, NULL, 0);
		char after = path[length];
		length -= part;
		query_path_name(rows[i].own_name, path + length, part + 1);
		path[length + part] = after;
		if (length) {
			length -= joint;
			memcpy(path + length, QUERY_PATH_JOINT, joint);
		}
	}
	base_assert(length == 0);
	all->rows[number].shown.name = path;
	return HG_OK;
}

static int compare_shown_rows(const void *a, const void *b, void *data)
{
	const struct query_series_row *rows = data;
	const struct hg_series_row *x = &rows[*(const uint32_t *)a].shown;
	const struct hg_series_row *y = &rows[*(const uint32_t *)b].shown;
	int64_t left = query_growth_of(&x->first, &x->last),
		right = query_growth_of(&y->first, &y->last);
	uint64_t by_left = left < 0 ? -(uint64_t)left : (uint64_t)left;
	uint64_t by_right = right < 0 ? -(uint64_t)right : (uint64_t)right;
	if (x->grows != y->grows)
		return x->grows ? -1 : 1;
	if (by_left != by_right)
		return by_left > by_right ? -1 : 1;
	int order = strcmp(x->kind, y->kind);
	return order ? order : strcmp(x->name, y->name);
}

/* Rows of which something changed, or all of them; but not the one of all roots. */
static enum hg_status order_series(struct hg_series *series)
{
	struct query_series *all = &series->all;
	bool by_path = !series->options.by_key;
	series->order = calloc(all->row_count + 1, sizeof(*series->order));
	if (!series->order)
		return base_no_memory(all->error, all->row_count * sizeof(*series->order));
	for (uint32_t i = 0; i < all->row_count; i++) {
		bool is_top = by_path && all->rows[i].parent == QUERY_NO_ROW;
		if ((!all->rows[i].shown.changed && !series->options.unchanged) || is_top)
			continue;
		if (by_path)
			BASE_TRY(name_path(series, i));
		series->order[series->shown_count++] = i;
	}
	if (series->shown_count)
		qsort_r(series->order, series->shown_count, sizeof(*series->order),
			compare_shown_rows, all->rows);
	return HG_OK;
}

enum hg_status query_series_judge(struct hg_series *series)
{
	uint32_t count = series->all.moment_count;
	struct hg_measure *points = calloc(count + 1, sizeof(*points));
	series->scratch = calloc(count + 1, sizeof(*series->scratch));
	series->totals = calloc(count + 1, sizeof(*series->totals));
	if (!points || !series->scratch || !series->totals) {
		free(points);
		return base_no_memory(series->all.error, count * sizeof(*points));
	}
	sort_moments(series);
	for (uint32_t i = 0; i < series->all.row_count && count; i++) {
		if (series->all.rows[i].shown.depth > 1)
			series->all.rows[i].shown.held_by =
				series->all.rows[series->all.rows[i].parent].shown.held_by;
		measure_row(series, i, points);
		sum_row(series, i, points);
	}
	free(points);
	complete_totals(series);
	BASE_TRY(query_find_moved(series));
	BASE_TRY(query_judge_rows(series));
	return order_series(series);
}
