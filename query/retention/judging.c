/*
 * Lasting paths first: what frames hold is of the moment.  Then of what all shares are, which
 * depends on what grows, and last the shares.
 */
#include "query/retention/judging.h"

#include "base/session.h"

#include <stdlib.h>

enum { LEAST_MOMENTS = 3, LEAST_SHARE = 100, WHOLE = 10000, MOST_COPIED = 16, FEW = 16 };

struct judging {
	struct hg_series *series;
	uint32_t *below;  /* how many growing rows hang below each, that one not counted */
	int64_t *counted; /* growth of each growing row, with that of its holders */
	struct hg_measure *points, *others;
};

/* Ten-thousandths of 'whole', rounded to zero; both may be negative. */
static int64_t signed_share(int64_t part, int64_t whole)
{
	__extension__ __int128 scaled = part;
	scaled *= WHOLE;
	return whole ? (int64_t)(scaled / whole) : 0;
}

/* Numbers of a baseline are anything: a sum that is too large is the largest. */
static int64_t add_growth(int64_t x, int64_t y)
{
	int64_t sum;
	if (__builtin_add_overflow(x, y, &sum))
		return x < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

/* What the row grew by, and what frames held of it. */
static int64_t growth_of_row(const struct query_series_row *row)
{
	return add_growth(query_growth_of(&row->shown.first, &row->shown.last), row->moved);
}

/* What a row's own blocks grew by, as it is weighed. */
static int64_t own_growth(const struct hg_series *series, const struct hg_series_row *row)
{
	enum hg_weight weight = series->session->weight;
	return (int64_t)(base_weigh(weight, row->last.bytes, row->last.offheap_bytes) -
			 base_weigh(weight, row->first.bytes, row->first.offheap_bytes));
}

/* The nearest row above whose own blocks can grow: roots within a path have none. */
static const struct hg_series_row *counted_parent(const struct hg_series *series, uint32_t number)
{
	const struct query_series_row *rows = series->all.rows;
	uint32_t parent = rows[number].parent;
	while (parent != QUERY_NO_ROW && rows[parent].is_root && rows[parent].shown.depth > 1)
		parent = rows[parent].parent;
	return parent == QUERY_NO_ROW ? NULL : &rows[parent].shown;
}

static bool row_grows(const struct hg_series *series, uint32_t number, int64_t whole)
{
	const struct hg_series_row *row = &series->all.rows[number].shown;
	const struct hg_series_row *parent = counted_parent(series, number);
	uint32_t steps = series->all.moment_count - 1;
	int64_t own = growth_of_row(&series->all.rows[number]);
	return series->all.moment_count >= LEAST_MOMENTS && row->steps_up == steps &&
	       (!parent || parent->steps_up < steps) && !row->is_memprof &&
	       own >= HG_LEAST_GROWTH && (whole <= 0 || signed_share(own, whole) >= LEAST_SHARE);
}

/* What grows within a path that grows is part of that, also where the steps between do not. */
static bool is_in_growing(const struct hg_series *series, uint32_t number)
{
	const struct query_series_row *rows = series->all.rows;
	uint32_t at = rows[number].parent;
	while (at != QUERY_NO_ROW && !rows[at].shown.grows)
		at = rows[at].parent;
	return at != QUERY_NO_ROW;
}

/* Both have as many times more blocks in each snapshot, but for few. */
static bool are_in_step(const struct hg_measure *x, const struct hg_measure *y, uint32_t moments)
{
	__extension__ typedef __int128 wide;
	wide all_x = x[moments - 1].blocks, all_y = y[moments - 1].blocks;
	for (uint32_t i = 0; i + 1 < moments; i++) {
		wide apart = x[i].blocks * all_y - y[i].blocks * all_x;
		if ((apart < 0 ? -apart : apart) * FEW > all_x * all_y)
			return false;
	}
	return true;
}

/*
 * What a frame holds may be made from what leaks, as a copy of a list, or the text of a page that
 * tells all of it, in each snapshot: it then grows as that grows, with as many blocks for each
 * block of that.  It may be heavier than that, as a record becomes a list of pairs of names and
 * values, but not without limit: what is, leaks from a frame.
 */
static bool is_made_of_growing(const struct judging *j, uint32_t number)
{
	const struct query_series *all = &j->series->all;
	int64_t own = growth_of_row(&all->rows[number]);
	query_series_read(j->series, number, j->points);
	for (uint32_t i = 0; i < all->row_count; i++) {
		const struct query_series_row *row = &all->rows[i];
		if (!row->shown.grows || row->passes || own / MOST_COPIED > growth_of_row(row))
			continue;
		query_series_read(j->series, i, j->others);
		if (are_in_step(j->points, j->others, all->moment_count))
			return true;
	}
	return false;
}

/* Marks what grows of lasting paths or of the others; parents come before what is below them. */
static bool mark_growing(const struct judging *j, int64_t whole, bool passing)
{
	struct query_series_row *rows = j->series->all.rows;
	bool any = false;
	for (uint32_t i = 0; i < j->series->all.row_count; i++) {
		if (rows[i].passes != passing)
			continue;
		rows[i].shown.grows = row_grows(j->series, i, whole) &&
				      !is_in_growing(j->series, i) &&
				      !(passing && is_made_of_growing(j, i));
		any |= rows[i].shown.grows;
	}
	return any;
}

static void count_growing(const struct judging *j)
{
	const struct query_series_row *rows = j->series->all.rows;
	for (uint32_t i = 0; i < j->series->all.row_count; i++)
		j->below[i] = 0;
	for (uint32_t i = j->series->all.row_count; i-- > 0;)
		if (rows[i].parent != QUERY_NO_ROW)
			j->below[rows[i].parent] += j->below[i] + rows[i].shown.grows;
}

/*
 * An array that is made larger for its elements is no more blocks, but grows with them: what holds
 * nothing else that grows has its own growth counted with that.
 */
static int64_t growth_with_holders(const struct judging *j, uint32_t number)
{
	const struct query_series_row *rows = j->series->all.rows;
	int64_t growth = growth_of_row(&rows[number]);
	for (uint32_t at = rows[number].parent; at != QUERY_NO_ROW && j->below[at] == 1;
		at = rows[at].parent)
		if (rows[at].shown.depth > 0)
			growth = add_growth(growth, own_growth(j->series, &rows[at].shown));
	return growth;
}

struct growth {
	int64_t named; /* of what grows */
	int64_t moved; /* of that by what frames held */
	int64_t risen; /* of all paths of which the own blocks came to more */
};

static struct growth sum_growth(const struct judging *j, bool with_passing)
{
	const struct query_series_row *rows = j->series->all.rows;
	struct growth sum = {0};
	count_growing(j);
	for (uint32_t i = 0; i < j->series->all.row_count; i++) {
		const struct query_series_row *row = &rows[i];
		int64_t own = own_growth(j->series, &row->shown);
		if (own > 0 && !row->shown.is_memprof && (with_passing || !row->passes))
			sum.risen = add_growth(sum.risen, own);
		if (!row->shown.grows)
			continue;
		j->counted[i] = growth_with_holders(j, i);
		sum.named = add_growth(sum.named, j->counted[i]);
		sum.moved = add_growth(sum.moved, row->moved);
	}
	return sum;
}

/*
 * Finds what grows where all grew by 'growth', and of what shares are: of that, unless what grows
 * came to more, as something else became smaller, a cache that was flushed.  Then it is what all
 * came to that is more than it was.  By other keys what rows retain overlaps.
 */
static int64_t settle(const struct judging *j, int64_t growth, bool with_passing, int64_t *named)
{
	bool by_path = !j->series->options.by_key;
	int64_t whole = growth;
	for (unsigned i = 0; i < 2; i++) {
		struct query_series *all = &j->series->all;
		for (uint32_t k = 0; k < all->row_count; k++)
			all->rows[k].shown.grows = false;
		if (!by_path && growth <= 0)
			break;
		mark_growing(j, whole, false);
		if (with_passing)
			mark_growing(j, whole, true);
		struct growth sum = sum_growth(j, with_passing);
		int64_t moved = with_passing ? 0 : sum.moved;
		*named = sum.named;
		whole = add_growth(growth, moved);
		if (by_path && sum.named > 0 && sum.named > whole) {
			whole = add_growth(sum.risen, moved > 0 ? moved : 0);
			whole = sum.named > whole ? sum.named : whole;
		}
	}
	return whole;
}

static void share_rows(const struct judging *j, int64_t whole)
{
	struct query_series *all = &j->series->all;
	for (uint32_t i = 0; i < all->row_count; i++) {
		struct hg_series_row *row = &all->rows[i].shown;
		int64_t own = row->grows ? j->counted[i] : query_growth_of(&row->first, &row->last);
		row->growth_share = row->is_memprof ? 0 : signed_share(own, whole);
	}
}

/*
 * What is held by frames alone is of the moment, as the copy of a list that a function makes just
 * then, however heavy: it is left out where lasting paths that grow have most of what else grows,
 * unless below a frame something grows at each step by itself.
 */
static void judge_series(const struct judging *j, int64_t growth, int64_t lasting)
{
	int64_t named = 0;
	int64_t whole = settle(j, lasting, false, &named);
	bool leaves_frames = named > 0 && named > whole / 2;
	if (leaves_frames && mark_growing(j, growth, true))
		leaves_frames = false;
	if (!leaves_frames)
		whole = settle(j, growth, true, &named);
	share_rows(j, whole);
}

enum hg_status query_judge_rows(struct hg_series *series)
{
	uint32_t moments = series->all.moment_count, count = series->all.row_count;
	int64_t growth =
		moments ? query_growth_of(&series->totals[0], &series->totals[moments - 1]) : 0;
	uint64_t lasting = (uint64_t)growth;
	for (uint32_t i = 0; i < count; i++) {
		const struct query_series_row *row = &series->all.rows[i];
		if (row->passes && row->shown.depth == 1)
			lasting -= (uint64_t)query_growth_of(&row->shown.first, &row->shown.last);
	}
	struct judging j = {.series = series,
		.below = calloc((uint64_t)count + 1, sizeof(*j.below)),
		.counted = calloc((uint64_t)count + 1, sizeof(*j.counted)),
		.points = calloc((uint64_t)moments + 1, sizeof(*j.points)),
		.others = calloc((uint64_t)moments + 1, sizeof(*j.others))};
	enum hg_status status = HG_OK;
	if (j.below && j.counted && j.points && j.others)
		judge_series(&j, growth, (int64_t)lasting);
	else
		status = base_no_memory(
			series->all.error, count * (sizeof(*j.below) + sizeof(*j.counted)));
	free(j.below);
	free(j.counted);
	free(j.points);
	free(j.others);
	return status;
}
