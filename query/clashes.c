/*
 * Shape clashes: where types led to blocks that no value of them can be.  Those alike are one row.
 */
#include "query/shared/result.h"

#include "base/assert.h"

#include <stdlib.h>

static int compare_clash_ranks(const void *a, const void *b)
{
	const struct retype_clash *x = a, *y = b;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

#define ORDER(x, y, member)                                                                        \
	if ((x)->member != (y)->member)                                                            \
	return (x)->member < (y)->member ? -1 : 1

static int compare_clash_kinds(const void *a, const void *b)
{
	const struct hg_clash *x = a, *y = b;
	ORDER(x, y, type);
	ORDER(x, y, holder);
	ORDER(x, y, location);
	ORDER(x, y, found);
	ORDER(x, y, tag);
	ORDER(x, y, words);
	ORDER(x, y, address);
	return 0;
}

static bool same_clash_kind(const struct hg_clash *x, const struct hg_clash *y)
{
	return x->type == y->type && x->holder == y->holder && x->location == y->location &&
	       x->found == y->found && x->tag == y->tag && x->words == y->words;
}

static int compare_clash_counts(const void *a, const void *b)
{
	const struct hg_clash *x = a, *y = b;
	if (x->clashes != y->clashes)
		return x->clashes > y->clashes ? -1 : 1;
	ORDER(x, y, address);
	return compare_clash_kinds(a, b);
}

static uint32_t type_of_rank(struct hg_snapshot *snapshot, uint32_t rank)
{
	struct snap_cell cell;
	enum hg_confidence confidence;
	if (rank == RETYPE_NO_HOLDER ||
		!snap_block(&snapshot->lookup, (struct snap_rank){rank}, &cell))
		return 0;
	return retype_of(&snapshot->retype, rank, cell.tag, &confidence).n;
}

static enum hg_status describe_clash(
	struct hg_snapshot *snapshot, const struct retype_clash *clash, struct hg_clash *out)
{
	struct snap_cell cell;
	enum hg_confidence confidence;
	if (!snap_block(&snapshot->lookup, (struct snap_rank){clash->rank}, &cell))
		return base_corrupt(
			&snapshot->session->error, HG_NO_OFFSET, "changed while it was read");
	*out = (struct hg_clash){.type = clash->type,
		.found = retype_of(&snapshot->retype, clash->rank, cell.tag, &confidence).n,
		.location = query_location(&snapshot->snap, &cell, &confidence),
		.words = cell.wosize,
		.tag = cell.tag,
		.clashes = clash->count,
		.address = snap_block_of(cell.address).a};
	out->holder = type_of_rank(snapshot, clash->holder);
	return HG_OK;
}

static uint64_t sum_of_clashes(const struct hg_clash *rows, uint64_t count)
{
	uint64_t clashes = 0;
	for (uint64_t i = 0; i < count; i++) {
		base_assert(i == 0 || compare_clash_counts(&rows[i - 1], &rows[i]) < 0);
		clashes += rows[i].clashes;
	}
	return clashes;
}

static void merge_clashes(struct hg_clash *rows, uint64_t count, struct hg_clashes *out)
{
	if (count)
		qsort(rows, count, sizeof(*rows), compare_clash_kinds);
	for (uint64_t i = 0; i < count; i++) {
		out->clashes += rows[i].clashes;
		if (out->count && same_clash_kind(&rows[out->count - 1], &rows[i]))
			rows[out->count - 1].clashes += rows[i].clashes;
		else
			rows[out->count++] = rows[i];
	}
	if (out->count)
		qsort(rows, out->count, sizeof(*rows), compare_clash_counts);
	base_assert(sum_of_clashes(rows, out->count) == out->clashes);
}

static enum hg_status list_clashes(struct hg_snapshot *snapshot, struct hg_clashes *out)
{
	struct retype *retype = &snapshot->retype;
	uint64_t count = retype->clash_count;
	struct hg_clash *rows;
	BASE_TRY(query_alloc(snapshot, count, sizeof(*rows), (void **)&rows));
	if (count)
		qsort(retype->clashes, count, sizeof(*retype->clashes), compare_clash_ranks);
	for (uint64_t i = 0; i < count; i++) {
		enum hg_status status = describe_clash(snapshot, &retype->clashes[i], &rows[i]);
		if (status != HG_OK) {
			free(rows);
			return status;
		}
	}
	merge_clashes(rows, count, out);
	base_assert(out->count <= count && out->clashes >= out->count);
	return query_keep_rows(snapshot, out, rows, out->count, sizeof(*rows), &out->rows);
}

enum hg_status hg_list_clashes(struct hg_snapshot *snapshot, struct hg_clashes **out)
{
	BASE_TRY(query_answer(snapshot, sizeof(**out), out));
	enum hg_status status = list_clashes(snapshot, *out);
	if (status != HG_OK)
		query_free(out);
	return status;
}

void hg_clashes_release(struct hg_clashes **clashes)
{
	query_free(clashes);
}
