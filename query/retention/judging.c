/*
 * Lasting paths first: what frames hold is of the moment.  Then of what all shares are, which
 * depends on what grows, and last the shares.
 */
#include "query/retention/judging.h"

#include "query/retention/joining.h"

#include "base/session.h"

#include <stdlib.h>

enum { LEAST_SHARE = 100, WHOLE = 10000, MOST_COPIED = 16, FEW = 16 };

struct judging {
	struct hg_series *series;
	uint32_t *below;   /* how many growing rows hang below each, that one not counted */
	uint32_t *leaders; /* of joining.h; of what growing rows hang below that of all these */
	int64_t *counted;  /* growth of each growing row, with that of what holds it alone */
	int64_t *joined;   /* by leader: of all that it stands for, with what holds only these */
	struct hg_measure *points, *others;
};

/* Ten-thousandths of 'whole', rounded to zero; both may be negative. */
static int64_t signed_share(int64_t part, int64_t whole)
{
	__extension__ __int128 scaled = part;
	scaled *= WHOLE;
	return whole ? (int64_t)(scaled / whole) : 0;
}

/* What a row's own blocks grew by, as it is weighed; 0 if they came to less. */
static int64_t own_growth(const struct hg_series *series, const struct hg_series_row *row)
{
	enum hg_weight weight = series->session->weight;
	uint64_t first = base_weigh(weight, row->first.bytes, row->first.offheap_bytes);
	uint64_t last = base_weigh(weight, row->last.bytes, row->last.offheap_bytes);
	return last > first ? (int64_t)(last - first) : 0;
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
	int64_t own = query_growth_of_row(&series->all.rows[number]);
	return series->all.moment_count >= QUERY_LEAST_MOMENTS && row->steps_up == steps &&
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
static bool are_in_proportion(
	const struct hg_measure *x, const struct hg_measure *y, uint32_t moments)
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
	int64_t own = query_growth_of_row(&all->rows[number]);
	query_series_read(j->series, number, j->points);
	for (uint32_t i = 0; i < all->row_count; i++) {
		const struct query_series_row *row = &all->rows[i];
		if (!row->shown.grows || row->passes ||
			own / MOST_COPIED > query_growth_of_row(row))
			continue;
		query_series_read(j->series, i, j->others);
		if (are_in_proportion(j->points, j->others, all->moment_count))
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

/* Of rows that do not grow, the leader of all that grow below, if it is the same of all. */
static enum hg_status count_growing(const struct judging *j)
{
	const struct query_series_row *rows = j->series->all.rows;
	uint32_t count = j->series->all.row_count;
	BASE_TRY(query_join_growing(j->series, j->leaders));
	for (uint32_t i = 0; i < count; i++)
		j->below[i] = 0;
	for (uint32_t i = count; i-- > 0;) {
		uint32_t parent = rows[i].parent, here = j->below[i] + rows[i].shown.grows;
		if (parent == QUERY_NO_ROW || here == 0)
			continue;
		if (j->below[parent] == 0)
			j->leaders[parent] = j->leaders[i];
		else if (j->leaders[parent] != j->leaders[i])
			j->leaders[parent] = QUERY_NO_ROW;
		j->below[parent] += here;
	}
	return HG_OK;
}

/*
 * An array that is made larger for its elements is no more blocks, but grows with them: what holds
 * nothing else that grows has its own growth counted with that.
 */
static int64_t growth_with_holders(const struct judging *j, uint32_t number)
{
	const struct query_series_row *rows = j->series->all.rows;
	int64_t growth = query_growth_of_row(&rows[number]);
	for (uint32_t at = rows[number].parent; at != QUERY_NO_ROW && j->below[at] == 1;
		at = rows[at].parent)
		if (rows[at].shown.depth > 0)
			growth = query_add_growth(growth, own_growth(j->series, &rows[at].shown));
	return growth;
}

struct growth {
	int64_t named; /* of what grows */
	int64_t moved; /* of that by what frames held */
	int64_t risen; /* of all paths of which the own blocks came to more */
};

/* Each growing row's own, and what each leader stands for. */
static void count_shares(const struct judging *j)
{
	const struct query_series_row *rows = j->series->all.rows;
	uint32_t count = j->series->all.row_count;
	for (uint32_t i = 0; i < count; i++)
		j->joined[i] = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t leader = j->leaders[i];
		bool grows = rows[i].shown.grows;
		/* What one alone hangs below is counted with that. */
		if (leader == QUERY_NO_ROW ||
			(!grows && (j->below[i] == 1 || !rows[i].shown.depth)))
			continue;
		if (grows)
			j->counted[i] = growth_with_holders(j, i);
		j->joined[leader] = query_add_growth(j->joined[leader],
			grows ? j->counted[i] : own_growth(j->series, &rows[i].shown));
	}
}

static enum hg_status sum_growth(const struct judging *j, bool with_passing, struct growth *sum)
{
	const struct query_series_row *rows = j->series->all.rows;
	*sum = (struct growth){0};
	BASE_TRY(count_growing(j));
	count_shares(j);
	for (uint32_t i = 0; i < j->series->all.row_count; i++) {
		const struct query_series_row *row = &rows[i];
		int64_t own = own_growth(j->series, &row->shown);
		if (!row->shown.is_memprof && (with_passing || !row->passes))
			sum->risen = query_add_growth(sum->risen, own);
		if (!row->shown.grows)
			continue;
		sum->named = query_add_growth(sum->named, j->joined[i]);
		sum->moved = query_add_growth(sum->moved, row->moved);
	}
	return HG_OK;
}

/*
 * Finds what grows where all grew by 'growth', and of what shares are: of that, unless what grows
 * came to more, as something else became smaller, a cache that was flushed.  Then it is what all
 * came to that is more than it was.  By other keys what rows retain overlaps.
 */
static enum hg_status settle(
	const struct judging *j, int64_t growth, bool with_passing, int64_t *named, int64_t *out)
{
	bool by_path = !j->series->options.by_key;
	int64_t whole = growth;
	*named = 0;
	for (unsigned i = 0; i < 2; i++) {
		struct query_series *all = &j->series->all;
		struct growth sum;
		for (uint32_t k = 0; k < all->row_count; k++)
			all->rows[k].shown.grows = false;
		if (!by_path && growth <= 0)
			break;
		mark_growing(j, whole, false);
		if (with_passing)
			mark_growing(j, whole, true);
		BASE_TRY(sum_growth(j, with_passing, &sum));
		int64_t moved = with_passing ? 0 : sum.moved;
		*named = sum.named;
		whole = query_add_growth(growth, moved);
		if (by_path && sum.named > 0 && sum.named > whole) {
			whole = query_add_growth(sum.risen, moved > 0 ? moved : 0);
			whole = sum.named > whole ? sum.named : whole;
		}
	}
	*out = whole;
	return HG_OK;
}

/* What is told with another row has the share that it would have alone. */
static void share_rows(const struct judging *j, int64_t whole)
{
	struct query_series *all = &j->series->all;
	for (uint32_t i = 0; i < all->row_count; i++) {
		struct hg_series_row *row = &all->rows[i].shown;
		int64_t growth = query_growth_of(&row->first, &row->last);
		bool leads = row->grows && j->leaders[i] == i;
		bool is_array = !row->grows && !j->below[i] && j->leaders[i] != QUERY_NO_ROW;
		if (is_array)
			j->counted[i] = own_growth(j->series, row);
		if (row->grows || is_array) {
			row->alone_share = signed_share(j->counted[i], whole);
			row->part_of = leads ? QUERY_NO_ROW : j->leaders[i];
			growth = leads ? j->joined[i] : j->counted[i];
		}
		row->grows = leads;
		row->growth_share = row->is_memprof ? 0 : signed_share(growth, whole);
	}
}

/*
 * What is held by frames alone is of the moment, as the copy of a list that a function makes just
 * then, however heavy: it is left out where lasting paths that grow have most of what else grows,
 * unless below a frame something grows at each step by itself.
 */
static enum hg_status judge_series(const struct judging *j, int64_t growth, int64_t lasting)
{
	int64_t named, whole;
	for (uint32_t i = 0; i < j->series->all.row_count; i++)
		j->leaders[i] = QUERY_NO_ROW;
	BASE_TRY(settle(j, lasting, false, &named, &whole));
	bool leaves_frames = named > 0 && named > whole / 2;
	if (leaves_frames && mark_growing(j, growth, true))
		leaves_frames = false;
	if (!leaves_frames)
		BASE_TRY(settle(j, growth, true, &named, &whole));
	share_rows(j, whole);
	return HG_OK;
}

/* What the roots that last came to retain. */
static int64_t lasting_growth(const struct hg_series *series, int64_t growth)
{
	uint64_t lasting = (uint64_t)growth;
	for (uint32_t i = 0; i < series->all.row_count; i++) {
		const struct query_series_row *row = &series->all.rows[i];
		if (row->passes && row->shown.depth == 1)
			lasting -= (uint64_t)query_growth_of(&row->shown.first, &row->shown.last);
	}
	return (int64_t)lasting;
}

enum hg_status query_judge_rows(struct hg_series *series)
{
	uint32_t moments = series->all.moment_count;
	size_t count = (size_t)series->all.row_count + 1;
	int64_t growth =
		moments ? query_growth_of(&series->totals[0], &series->totals[moments - 1]) : 0;
	struct judging j = {.series = series,
		.below = calloc(count, sizeof(*j.below)),
		.leaders = calloc(count, sizeof(*j.leaders)),
		.counted = calloc(count, sizeof(*j.counted)),
		.joined = calloc(count, sizeof(*j.joined)),
		.points = calloc((size_t)moments + 1, sizeof(*j.points)),
		.others = calloc((size_t)moments + 1, sizeof(*j.others))};
	enum hg_status status;
	if (j.below && j.leaders && j.counted && j.joined && j.points && j.others)
		status = judge_series(&j, growth, lasting_growth(series, growth));
	else
		status = base_no_memory(
			series->all.error, count * (2 * sizeof(*j.below) + 2 * sizeof(*j.counted)));
	free(j.below);
	free(j.leaders);
	free(j.counted);
	free(j.joined);
	free(j.points);
	free(j.others);
	return status;
}
