/*
 * Pairs of growing rows first, as sets with one row for each; then who stands for each set, and
 * what else became larger for it.
 */
#include "query/retention/joining.h"

#include "base/session.h"

#include <stdlib.h>
#include <string.h>

/* More that grow are no leak, but a program that has not settled. */
enum { MOST_JOINED = 256 };

/* Which part of all may be more or less. */
enum { FEW = 16 };

struct joining {
	const struct hg_series *series;
	const struct query_series_row *rows;
	uint32_t *leaders; /* while sets are made: towards the one row for all of a set */
	uint32_t growing[MOST_JOINED];
	bool has_values[MOST_JOINED]; /* anything but strings and numbers below it became more */
	uint32_t count;
	uint64_t *blocks; /* of each growing row in each snapshot */
};

__extension__ typedef __int128 wide;

static bool is_near(wide x, wide y, wide all)
{
	return (x < y ? y - x : x - y) * FEW <= all;
}

/* Both grow by the same part of their growth in each step, but for so many moments. */
static bool are_in_step_within(
	const uint64_t *x, const uint64_t *y, uint32_t first, uint32_t last, uint32_t but)
{
	wide all_x = (wide)x[last] - x[first], all_y = (wide)y[last] - y[first];
	if (all_x <= 0 || all_y <= 0)
		return false;
	for (uint32_t i = first + 1; i < last; i++) {
		wide part_x = (wide)x[i] - x[first], part_y = (wide)y[i] - y[first];
		if (!is_near(part_x * all_y, part_y * all_x, all_x * all_y) && but-- == 0)
			return false;
	}
	return true;
}

/* Of four snapshots or more all but one will do: in that a frame may hold a part for a moment. */
static bool are_in_step(const uint64_t *x, const uint64_t *y, uint32_t moments)
{
	uint32_t last = moments - 1;
	if (moments <= QUERY_LEAST_MOMENTS)
		return are_in_step_within(x, y, 0, last, 0);
	return are_in_step_within(x, y, 0, last, 1) || are_in_step_within(x, y, 1, last, 0) ||
	       are_in_step_within(x, y, 0, last - 1, 0);
}

static bool begins_with(const char *name, const char *start)
{
	return strncmp(name, start, strlen(start)) == 0;
}

/* Strings and numbers, which go from hand to hand. */
static bool is_plain(const char *name)
{
	static const char *const plain[] = {
		"string", "bytes", "float", "int32", "int64", "nativeint"};
	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
		if (strcmp(name, plain[i]) == 0)
			return true;
	return begins_with(name, "tag 25");
}

static bool is_below(const struct joining *j, uint32_t row, uint32_t above)
{
	while (row != QUERY_NO_ROW && row != above)
		row = j->rows[row].parent;
	return row == above;
}

/* The one that grows of a row and those above it, or no row. */
static uint32_t growing_above(const struct joining *j, uint32_t row)
{
	while (row != QUERY_NO_ROW && !j->rows[row].shown.grows)
		row = j->rows[row].parent;
	return row;
}

static uint32_t set_of(const struct joining *j, uint32_t row)
{
	while (j->leaders[row] != row)
		row = j->leaders[row];
	return row;
}

static uint32_t index_of(const struct joining *j, uint32_t row)
{
	uint32_t i = 0;
	while (j->growing[i] != row)
		i++;
	return i;
}

static const uint64_t *blocks_of(const struct joining *j, uint32_t row)
{
	return &j->blocks[(size_t)index_of(j, row) * j->series->all.moment_count];
}

static bool has_values(const struct joining *j, uint32_t row)
{
	return j->has_values[index_of(j, row)];
}

/* The growing row that holds what a growing one has, in step with it; or no row. */
static uint32_t holder_in_step(const struct joining *j, const struct hg_series_sharing *sharing)
{
	uint32_t shared = sharing->shared, moments = j->series->all.moment_count;
	if (!j->rows[shared].shown.grows)
		return QUERY_NO_ROW;
	uint32_t holder = growing_above(j, sharing->holder);
	if (holder == QUERY_NO_ROW || holder == shared ||
		!are_in_step(blocks_of(j, shared), blocks_of(j, holder), moments))
		return QUERY_NO_ROW;
	return holder;
}

/* Of those that lead to a row themselves, how many have values of their own. */
static uint32_t count_with_values(const struct joining *j, uint32_t shared)
{
	const struct query_series *all = &j->series->all;
	uint32_t count = 0;
	for (uint64_t i = 0; i < all->sharing_count; i++) {
		const struct hg_series_sharing *sharing = &all->sharings[i];
		if (sharing->shared == shared && holder_in_step(j, sharing) == sharing->holder)
			count += has_values(j, sharing->holder);
	}
	return count;
}

/*
 * Strings and numbers also two leaks have in common, as the log and the cache of a server the path
 * that was asked for: these make one leak only of what leads to them itself, cells of a list or a
 * table, and if no two of these have values of their own.
 */
static bool are_one_leak(
	const struct joining *j, const struct hg_series_sharing *sharing, uint32_t holder)
{
	if (!is_plain(j->rows[sharing->shared].own_name))
		return true;
	return holder == sharing->holder &&
	       (!has_values(j, holder) || count_with_values(j, sharing->shared) == 1);
}

static void join_pairs(const struct joining *j)
{
	const struct query_series *all = &j->series->all;
	for (uint64_t i = 0; i < all->sharing_count; i++) {
		const struct hg_series_sharing *sharing = &all->sharings[i];
		uint32_t holder = holder_in_step(j, sharing);
		if (holder != QUERY_NO_ROW && are_one_leak(j, sharing, holder))
			j->leaders[set_of(j, sharing->shared)] = set_of(j, holder);
	}
}

static bool leads(const struct joining *j, uint32_t row, uint32_t other)
{
	const struct query_series_row *x = &j->rows[row], *y = &j->rows[other];
	bool plain = is_plain(x->own_name), other_plain = is_plain(y->own_name);
	if (plain != other_plain)
		return other_plain;
	int64_t left = query_growth_of_row(x), right = query_growth_of_row(y);
	if (left != right)
		return left > right;
	int order = strcmp(x->own_name, y->own_name);
	return order < 0 || (order == 0 && row < other);
}

static bool is_alone(const struct joining *j, uint32_t row)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < j->count; i++)
		count += set_of(j, j->growing[i]) == set_of(j, row);
	return count == 1;
}

/* What two leaks have in common is told with the one that grew most: it is no leak by itself. */
static void join_common(const struct joining *j)
{
	const struct query_series *all = &j->series->all;
	for (uint32_t i = 0; i < j->count; i++) {
		uint32_t row = j->growing[i], best = QUERY_NO_ROW;
		if (!is_plain(j->rows[row].own_name) || !is_alone(j, row))
			continue;
		for (uint64_t k = 0; k < all->sharing_count; k++) {
			if (all->sharings[k].shared != row)
				continue;
			uint32_t holder = holder_in_step(j, &all->sharings[k]);
			if (holder != QUERY_NO_ROW &&
				(best == QUERY_NO_ROW || leads(j, holder, best)))
				best = holder;
		}
		if (best != QUERY_NO_ROW)
			j->leaders[set_of(j, row)] = set_of(j, best);
	}
}

static bool leads_to_growing(const struct joining *j, uint32_t row)
{
	for (uint32_t i = 0; i < j->count; i++)
		if (is_below(j, j->growing[i], row))
			return true;
	return false;
}

/*
 * An array that was made larger for values which something else holds, too, is no more blocks, and
 * nothing that grows hangs below it.
 */
static bool is_larger_array(const struct joining *j, const struct hg_series_sharing *sharing)
{
	const struct query_series_row *row = &j->rows[sharing->holder];
	const struct hg_measure *first = &row->shown.first, *last = &row->shown.last;
	return j->rows[sharing->shared].shown.grows &&
	       row->passes == j->rows[sharing->shared].passes && first->blocks == last->blocks &&
	       last->bytes > first->bytes && growing_above(j, sharing->holder) == QUERY_NO_ROW &&
	       !leads_to_growing(j, sharing->holder);
}

static void join_arrays(const struct joining *j)
{
	const struct query_series *all = &j->series->all;
	for (uint64_t i = 0; i < all->sharing_count; i++) {
		uint32_t array = all->sharings[i].holder;
		if (!is_larger_array(j, &all->sharings[i]))
			continue;
		uint32_t leader = j->leaders[all->sharings[i].shared], other = j->leaders[array];
		if (other == QUERY_NO_ROW || (other != leader && leads(j, leader, other)))
			j->leaders[array] = leader;
	}
}

/* All of a set are made to lead to the one that stands for it. */
static void choose_leaders(const struct joining *j)
{
	uint32_t sets[MOST_JOINED], best[MOST_JOINED];
	for (uint32_t i = 0; i < j->count; i++)
		sets[i] = set_of(j, j->growing[i]);
	for (uint32_t i = 0; i < j->count; i++) {
		best[i] = j->growing[i];
		for (uint32_t k = 0; k < j->count; k++)
			if (sets[k] == sets[i] && leads(j, j->growing[k], best[i]))
				best[i] = j->growing[k];
	}
	for (uint32_t i = 0; i < j->count; i++)
		j->leaders[j->growing[i]] = best[i];
}

/* What growing rows have in each snapshot. */
static enum hg_status read_blocks(struct joining *j)
{
	uint32_t moments = j->series->all.moment_count;
	struct hg_measure *points = calloc(moments, sizeof(*points));
	j->blocks = calloc((size_t)j->count * moments, sizeof(*j->blocks));
	if (!points || !j->blocks) {
		free(points);
		return base_no_memory(j->series->all.error,
			moments * (sizeof(*points) + j->count * sizeof(*j->blocks)));
	}
	for (uint32_t i = 0; i < j->count; i++) {
		query_series_read(j->series, j->growing[i], points);
		for (uint32_t k = 0; k < moments; k++)
			j->blocks[(size_t)i * moments + k] = points[k].blocks;
	}
	free(points);
	return HG_OK;
}

static void find_values(struct joining *j)
{
	for (uint32_t i = 1; i < j->series->all.row_count; i++) {
		const struct hg_series_row *row = &j->rows[i].shown;
		uint32_t above = growing_above(j, j->rows[i].parent);
		if (above != QUERY_NO_ROW && row->last.bytes > row->first.bytes &&
			!is_plain(j->rows[i].own_name))
			j->has_values[index_of(j, above)] = true;
	}
}

enum hg_status query_join_growing(const struct hg_series *series, uint32_t *leaders)
{
	struct joining j = {.series = series, .rows = series->all.rows, .leaders = leaders};
	uint32_t growing = 0;
	for (uint32_t i = 0; i < series->all.row_count; i++) {
		leaders[i] = j.rows[i].shown.grows ? i : QUERY_NO_ROW;
		if (!j.rows[i].shown.grows)
			continue;
		if (growing < MOST_JOINED)
			j.growing[growing] = i;
		growing++;
	}
	if (series->options.by_key || growing == 0 || growing > MOST_JOINED)
		return HG_OK;
	j.count = growing;
	enum hg_status status = read_blocks(&j);
	if (status == HG_OK) {
		find_values(&j);
		join_pairs(&j);
		join_common(&j);
		choose_leaders(&j);
		join_arrays(&j);
	}
	free(j.blocks);
	return status;
}
