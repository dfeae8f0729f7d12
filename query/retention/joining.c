/* Pairs of growing rows first, as sets with one row for each; then who stands for each set. */
#include "query/retention/joining.h"

#include "base/session.h"

#include <stdlib.h>
#include <string.h>

/* More that grow are no leak, but a program that has not settled. */
enum { MOST_JOINED = 256 };

/* Blocks of one for a block of the other; and which part of all that may be more or less. */
enum { MOST_FOR_ONE = 4, FEW = 16 };

struct joining {
	const struct hg_series *series;
	const struct query_series_row *rows;
	uint32_t *leaders; /* while sets are made: towards the one row for all of a set */
	uint32_t growing[MOST_JOINED];
	uint32_t count;
	uint64_t *blocks; /* of each growing row in each snapshot */
};

__extension__ typedef __int128 wide;

static bool is_near(wide x, wide y, wide all)
{
	return (x < y ? y - x : x - y) * FEW <= all;
}

/* Whether of one thing there are a few for each of the other, and if so always as many. */
static bool are_few_for_one(wide x, wide y)
{
	wide more = x > y ? x : y, less = x > y ? y : x;
	wide for_one = less > 0 ? (more + less / 2) / less : 0;
	return less > 0 && for_one <= MOST_FOR_ONE && is_near(more, for_one * less, more);
}

/* Both grow by the same part of their growth in each step, but for so many moments. */
static bool are_in_step_within(
	const uint64_t *x, const uint64_t *y, uint32_t first, uint32_t last, uint32_t but)
{
	wide all_x = (wide)x[last] - x[first], all_y = (wide)y[last] - y[first];
	if (all_x <= 0 || all_y <= 0 || !are_few_for_one(all_x, all_y))
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

/* The one that grows of a row and those above it, or no row. */
static uint32_t growing_above(const struct joining *j, uint32_t row)
{
	while (row != QUERY_NO_ROW && !j->rows[row].shown.grows)
		row = j->rows[row].parent;
	return row;
}

/*
 * The growing row that holds blocks of a growing one, or no row.  Strings and numbers also two
 * leaks have in common, as the log and the cache of a server the path that was asked for: they must
 * be what the cells of a list or a table lead to themselves.
 */
static uint32_t growing_holder(const struct joining *j, const struct hg_series_sharing *sharing)
{
	if (!j->rows[sharing->shared].shown.grows)
		return QUERY_NO_ROW;
	uint32_t holder = growing_above(j, sharing->holder);
	bool is_direct = holder == sharing->holder;
	if (holder == sharing->shared ||
		(!is_direct && is_plain(j->rows[sharing->shared].own_name)))
		return QUERY_NO_ROW;
	return holder;
}

static uint32_t set_of(const struct joining *j, uint32_t row)
{
	while (j->leaders[row] != row)
		row = j->leaders[row];
	return row;
}

static const uint64_t *blocks_of(const struct joining *j, uint32_t row)
{
	uint32_t i = 0;
	while (j->growing[i] != row)
		i++;
	return &j->blocks[(size_t)i * j->series->all.moment_count];
}

static void join_pairs(const struct joining *j)
{
	const struct query_series *all = &j->series->all;
	for (uint64_t i = 0; i < all->sharing_count; i++) {
		uint32_t shared = all->sharings[i].shared;
		uint32_t holder = growing_holder(j, &all->sharings[i]);
		if (holder != QUERY_NO_ROW &&
			are_in_step(blocks_of(j, shared), blocks_of(j, holder), all->moment_count))
			j->leaders[set_of(j, shared)] = set_of(j, holder);
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
	if (series->options.by_key || growing < 2 || growing > MOST_JOINED)
		return HG_OK;
	j.count = growing;
	enum hg_status status = read_blocks(&j);
	if (status == HG_OK) {
		join_pairs(&j);
		choose_leaders(&j);
	}
	free(j.blocks);
	return status;
}
