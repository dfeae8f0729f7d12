/* Blocks below passing roots by kind, summed in each snapshot, and looked up for each path. */
#include "query/retention/moved.h"

#include "base/grow.h"
#include "base/session.h"

#include <stdlib.h>
#include <string.h>

/* Blocks of one size by the last word of their type, "" if it is not known; or of any type. */
static const char any_type[] = "*";

struct frame_row {
	uint64_t size; /* of each block in bytes */
	const char *type;
	uint32_t row;
};

/* Of a kind in a snapshot. */
struct moved_sum {
	uint64_t blocks, weight;
};

struct moved {
	struct hg_series *series;
	struct frame_row *rows; /* sorted by size and type; each under its type and under any */
	uint64_t count, capacity;
	struct moved_sum *sums; /* by the first row of a kind and by moment */
	struct hg_measure *points;
};

/* Types may be known there by less: "(_, _) Hashtbl.t" for "(int, string) Hashtbl.t". */
static const char *constructor_of(const char *name)
{
	if (strncmp(name, "tag ", 4) == 0)
		return "";
	const char *last = strrchr(name, ' ');
	return last ? last + 1 : name;
}

/* The size that all blocks of a row have in all snapshots, or 0. */
static uint64_t size_of_blocks(const struct query_series_row *row)
{
	uint64_t size = 0;
	for (uint32_t i = 0; i < row->point_count; i++) {
		const struct hg_measure *m = &row->points[i].measure;
		if (!m->blocks)
			continue;
		if (m->bytes % m->blocks || (size && m->bytes / m->blocks != size))
			return 0;
		size = m->bytes / m->blocks;
	}
	return size;
}

static bool holds_much(const struct query_series_row *row)
{
	for (uint32_t i = 0; i < row->point_count; i++)
		if (row->points[i].measure.retained_bytes +
				row->points[i].measure.retained_offheap_bytes >=
			HG_LEAST_GROWTH)
			return true;
	return false;
}

/* Of the row or of one above it the blocks grow at every step. */
static bool is_steady(const struct hg_series *series, uint32_t number)
{
	const struct query_series_row *rows = series->all.rows;
	while (number != QUERY_NO_ROW && rows[number].shown.steps_up + 1 < series->all.moment_count)
		number = rows[number].parent;
	return number != QUERY_NO_ROW;
}

static enum hg_status add_frame_row(struct moved *m, struct frame_row row)
{
	BASE_TRY(base_grow(
		&m->rows, m->count, &m->capacity, sizeof(*m->rows), m->series->all.error));
	m->rows[m->count++] = row;
	return HG_OK;
}

static enum hg_status list_frame_rows(struct moved *m)
{
	const struct query_series *all = &m->series->all;
	for (uint32_t i = 0; i < all->row_count; i++) {
		const struct query_series_row *row = &all->rows[i];
		if (!row->passes || row->is_root || !row->shown.changed || !holds_much(row))
			continue;
		uint64_t size = size_of_blocks(row);
		if (!size || is_steady(m->series, i))
			continue;
		BASE_TRY(add_frame_row(
			m, (struct frame_row){size, constructor_of(row->own_name), i}));
		BASE_TRY(add_frame_row(m, (struct frame_row){size, any_type, i}));
	}
	return HG_OK;
}

static int compare_kinds(const struct frame_row *x, const struct frame_row *y)
{
	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return strcmp(x->type, y->type);
}

static int compare_frame_rows(const void *a, const void *b)
{
	const struct frame_row *x = a, *y = b;
	int order = compare_kinds(x, y);
	return order ? order : (x->row > y->row) - (x->row < y->row);
}

/* Whether what the row retains is counted with blocks of the same size above it. */
static bool is_below_same_size(const struct query_series_row *rows, uint32_t number, uint64_t size)
{
	uint32_t at = rows[number].parent;
	while (at != QUERY_NO_ROW && (rows[at].is_root || size_of_blocks(&rows[at]) != size))
		at = rows[at].parent;
	return at != QUERY_NO_ROW;
}

/* The sums of a kind, or NULL. */
static struct moved_sum *sums_of(const struct moved *m, uint64_t size, const char *type)
{
	const struct frame_row wanted = {size, type, 0};
	uint64_t low = 0, high = m->count;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		if (compare_kinds(&m->rows[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == m->count || compare_kinds(&m->rows[low], &wanted) != 0)
		return NULL;
	return &m->sums[low * m->series->all.moment_count];
}

static enum hg_status sum_kinds(struct moved *m)
{
	uint32_t moments = m->series->all.moment_count;
	m->points = calloc(moments, sizeof(*m->points));
	m->sums = m->points ? calloc(m->count * moments, sizeof(*m->sums)) : NULL;
	if (!m->sums)
		return base_no_memory(m->series->all.error, m->count * moments * sizeof(*m->sums));
	qsort(m->rows, m->count, sizeof(*m->rows), compare_frame_rows);
	struct moved_sum *sums = m->sums;
	for (uint64_t i = 0; i < m->count; i++) {
		const struct frame_row *row = &m->rows[i];
		bool is_inner = is_below_same_size(m->series->all.rows, row->row, row->size);
		if (i && compare_kinds(row, row - 1) != 0)
			sums = &m->sums[i * moments];
		query_series_read(m->series, row->row, m->points);
		for (uint32_t k = 0; k < moments; k++) {
			sums[k].blocks += m->points[k].blocks;
			sums[k].weight += is_inner ? 0 : m->points[k].weight;
		}
	}
	return HG_OK;
}

/* Adds what frames hold to the points of a row: whether that are more blocks in each snapshot. */
static bool grows_together(const struct moved *m, const struct moved_sum *by_type,
	const struct moved_sum *untyped, int64_t *growth)
{
	uint32_t moments = m->series->all.moment_count;
	uint64_t before = 0, weight = 0, first = 0;
	for (uint32_t i = 0; i < moments; i++) {
		uint64_t blocks = m->points[i].blocks + (by_type ? by_type[i].blocks : 0) +
				  (untyped ? untyped[i].blocks : 0);
		if (i && blocks <= before)
			return false;
		before = blocks;
		weight = (by_type ? by_type[i].weight : 0) + (untyped ? untyped[i].weight : 0);
		first = i ? first : weight;
	}
	*growth = (int64_t)(weight - first);
	return true;
}

static void judge_moved(const struct moved *m, uint32_t number)
{
	struct query_series_row *row = &m->series->all.rows[number];
	uint32_t steps = m->series->all.moment_count - 1;
	if (row->passes || row->is_root || row->shown.is_memprof || row->shown.steps_up == 0 ||
		row->shown.steps_up == steps)
		return;
	const char *type = constructor_of(row->own_name);
	uint64_t size = size_of_blocks(row);
	const struct moved_sum *by_type = sums_of(m, size, *type ? type : any_type);
	const struct moved_sum *untyped = *type ? sums_of(m, size, "") : NULL;
	if (!by_type && !untyped)
		return;
	query_series_read(m->series, number, m->points);
	if (grows_together(m, by_type, untyped, &row->moved))
		row->shown.steps_up = steps;
}

enum hg_status query_find_moved(struct hg_series *series)
{
	struct moved m = {.series = series};
	if (series->options.by_key || series->all.moment_count < QUERY_LEAST_MOMENTS)
		return HG_OK;
	enum hg_status status = list_frame_rows(&m);
	if (status == HG_OK && m.count)
		status = sum_kinds(&m);
	for (uint32_t i = 0; status == HG_OK && m.count && i < series->all.row_count; i++)
		judge_moved(&m, i);
	free(m.rows);
	free(m.sums);
	free(m.points);
	return status;
}
