/* Rows by name, and their numbers as runs: most paths of a program do not change. */
#include "query/retention/series.h"

#include "base/assert.h"
#include "base/grow.h"
#include "base/session.h"

#include <stdlib.h>
#include <string.h>

enum hg_status query_series_keep(struct query_series *series, const char *string, const char **out)
{
	if (!*string) {
		*out = "";
		return HG_OK;
	}
	return base_pool_string(&series->pool, string, strlen(string), out, series->error);
}

static uint64_t hash_of_row(uint32_t parent, const char *kind, const char *name)
{
	const struct base_secret *secret = base_process_secret();
	uint64_t hash = base_hash_bytes(secret, name, strlen(name));
	hash = base_hash_join(secret, hash, base_hash_bytes(secret, kind, strlen(kind)));
	return base_hash_join(secret, hash, parent);
}

static bool is_row(
	const struct query_series_row *row, uint32_t parent, const char *kind, const char *name)
{
	return row->parent == parent && strcmp(row->own_name, name) == 0 &&
	       strcmp(row->shown.kind, kind) == 0;
}

enum hg_status query_series_find(struct query_series *series, uint32_t parent, const char *kind,
	const char *name, uint32_t *out)
{
	struct hg_error *error = series->error;
	uint64_t first = series->row_count;
	bool is_new;
	BASE_TRY(base_map_add(
		&series->by_name, hash_of_row(parent, kind, name), &first, &is_new, error));
	for (uint32_t i = (uint32_t)first; !is_new && i != QUERY_NO_ROW; i = series->rows[i].next) {
		if (is_row(&series->rows[i], parent, kind, name)) {
			*out = i;
			return HG_OK;
		}
	}
	if (series->row_count == QUERY_NO_ROW - 1)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET, "too many rows");
	BASE_TRY(base_grow(&series->rows, series->row_count, &series->row_capacity,
		sizeof(*series->rows), error));
	struct query_series_row *row = &series->rows[series->row_count];
	*row = (struct query_series_row){.parent = parent,
		.next = QUERY_NO_ROW,
		.made_at = "",
		.defined_at = "",
		.shown = {.kind = "",
			.name = "",
			.made_at = "",
			.defined_at = "",
			.held_by = "",
			.part_of = QUERY_NO_ROW}};
	BASE_TRY(query_series_keep(series, name, &row->own_name));
	BASE_TRY(query_series_keep(series, kind, &row->shown.kind));
	row->shown.name = row->own_name;
	if (!is_new) {
		row->next = series->rows[first].next;
		series->rows[first].next = series->row_count;
	}
	*out = series->row_count++;
	return HG_OK;
}

static void add_measure(struct hg_measure *to, const struct hg_measure *from)
{
	to->blocks += from->blocks;
	to->bytes += from->bytes;
	to->retained_bytes += from->retained_bytes;
	to->offheap_bytes += from->offheap_bytes;
	to->retained_offheap_bytes += from->retained_offheap_bytes;
}

/* From one point on: most rows never have another one. */
static enum hg_status grow_points(struct query_series_row *row, struct hg_error *error)
{
	if (row->point_capacity || row->points)
		return base_grow(&row->points, row->point_count, &row->point_capacity,
			sizeof(*row->points), error);
	row->points = malloc(sizeof(*row->points));
	if (!row->points)
		return base_no_memory(error, sizeof(*row->points));
	row->point_capacity = 1;
	return HG_OK;
}

/* A new point of the addition that is going on, unless the last one is that. */
static enum hg_status begin_point(struct query_series *series, struct query_series_row *row)
{
	uint32_t moment = series->moment_count - 1;
	base_assert(series->moment_count > 0);
	if (row->point_count && row->points[row->point_count - 1].moment == moment)
		return HG_OK;
	BASE_TRY(grow_points(row, series->error));
	row->points[row->point_count++] = (struct query_point){.moment = moment};
	return HG_OK;
}

enum hg_status query_series_add(
	struct query_series *series, uint32_t row, const struct hg_measure *measure)
{
	base_assert(row < series->row_count);
	BASE_TRY(begin_point(series, &series->rows[row]));
	struct query_series_row *at = &series->rows[row];
	add_measure(&at->points[at->point_count - 1].measure, measure);
	return HG_OK;
}

/* The point before the last one says the same: the last one is no change. */
static void drop_repeated(struct query_series_row *row)
{
	const struct query_point *points = row->points;
	uint32_t count = row->point_count;
	static const struct hg_measure nothing;
	const struct hg_measure *before = count > 1 ? &points[count - 2].measure : &nothing;
	if (count && memcmp(before, &points[count - 1].measure, sizeof(*before)) == 0)
		row->point_count--;
}

enum hg_status query_series_end_moment(struct query_series *series)
{
	uint32_t moment = series->moment_count - 1;
	for (uint32_t i = 0; i < series->row_count; i++) {
		struct query_series_row *row = &series->rows[i];
		bool is_met =
			row->point_count && row->points[row->point_count - 1].moment == moment;
		if (!is_met && row->point_count)
			BASE_TRY(begin_point(series, row));
		drop_repeated(row);
	}
	return HG_OK;
}

bool query_series_has_changed(const struct query_series_row *row)
{
	return row->point_count > 1 || (row->point_count && row->points[0].moment);
}

enum hg_status query_series_hold(struct query_series *series, uint32_t row, const char *holders)
{
	const char **held_by = &series->rows[row].shown.held_by;
	return strcmp(holders, *held_by) == 0 ? HG_OK : query_series_keep(series, holders, held_by);
}

enum hg_status query_series_share(struct query_series *series, uint32_t shared, uint32_t holder)
{
	uint64_t number = series->sharing_count;
	bool is_new;
	BASE_TRY(base_map_add(&series->sharing_numbers, (uint64_t)shared << 32 | holder, &number,
		&is_new, series->error));
	if (!is_new)
		return HG_OK;
	BASE_TRY(base_grow(&series->sharings, series->sharing_count, &series->sharing_capacity,
		sizeof(*series->sharings), series->error));
	series->sharings[series->sharing_count++] = (struct hg_series_sharing){shared, holder};
	return HG_OK;
}

enum hg_status query_series_describe(struct query_series *series, struct query_series_row *row,
	const char *made_at, const char *defined_at)
{
	if (strcmp(made_at, row->made_at) != 0)
		BASE_TRY(query_series_keep(series, made_at, &row->made_at));
	if (strcmp(defined_at, row->defined_at) != 0)
		BASE_TRY(query_series_keep(series, defined_at, &row->defined_at));
	if (query_series_has_changed(row)) {
		row->shown.made_at = row->made_at;
		row->shown.defined_at = row->defined_at;
	}
	return HG_OK;
}

void query_series_expand(const struct query_series *series, uint32_t row, struct hg_measure *points)
{
	const struct query_series_row *at = &series->rows[row];
	struct hg_measure now = {0};
	uint32_t next = 0;
	for (uint32_t i = 0; i < series->moment_count; i++) {
		if (next < at->point_count && at->points[next].moment == i)
			now = at->points[next++].measure;
		points[i] = now;
	}
	base_assert(next == at->point_count);
}

void query_series_weigh(const struct hg_series *series, struct hg_measure *measure)
{
	measure->weight = base_weigh(
		series->session->weight, measure->retained_bytes, measure->retained_offheap_bytes);
}

void query_series_read(const struct hg_series *series, uint32_t row, struct hg_measure *points)
{
	uint32_t count = series->all.moment_count;
	query_series_expand(&series->all, row, series->scratch);
	for (uint32_t i = 0; i < count; i++)
		points[i] = series->scratch[series->moments[i].added];
	for (uint32_t i = 0; i < count; i++)
		query_series_weigh(series, &points[i]);
}

void query_series_release(struct query_series *series)
{
	for (uint32_t i = 0; i < series->row_count; i++)
		free(series->rows[i].points);
	free(series->rows);
	free(series->sharings);
	base_map_release(&series->sharing_numbers);
	base_map_release(&series->by_name);
	base_pool_release(&series->pool);
	*series = (struct query_series){0};
}
