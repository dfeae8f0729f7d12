/* Who shares what in the retention tree: pointers that are no dominance, from row to row. */
#include "query/retention/view.h"

#include "base/assert.h"
#include "base/search.h"
#include "query/shared/result.h"

#include <stdlib.h>

/* Nodes are numbered in the order met, rows in that of the tree. */
static enum hg_status find_cross_edges(struct hg_retention *r)
{
	if (r->has_edges)
		return HG_OK;
	BASE_TRY(graph_count_cross(&r->snapshot->graph, r->tree.of_position, &r->edges,
		&r->edge_count, &r->snapshot->session->error));
	for (uint64_t i = 0; i < r->edge_count; i++) {
		r->edges[i].from = r->row_of[r->edges[i].from];
		r->edges[i].to = r->row_of[r->edges[i].to];
	}
	if (r->edge_count)
		qsort(r->edges, r->edge_count, sizeof(*r->edges), graph_compare_cross);
	r->has_edges = true;
	return HG_OK;
}

enum hg_status query_retention_answer(struct hg_retention *retention, void *out, size_t size)
{
	if (!retention) {
		if (out)
			*(void **)out = NULL;
		return HG_ERROR_USAGE;
	}
	return query_answer(retention->snapshot, size, out);
}

static enum hg_status keep_edges(struct hg_snapshot *snapshot, const struct graph_cross *edges,
	uint64_t count, struct hg_cross_edges *out)
{
	struct hg_cross_edge *rows;
	BASE_TRY(query_alloc(snapshot, count, sizeof(*rows), (void **)&rows));
	for (uint64_t i = 0; i < count; i++)
		rows[i] = (struct hg_cross_edge){edges[i].from, edges[i].to, edges[i].pointers};
	out->count = count;
	return query_keep_rows(snapshot, out, rows, count, sizeof(*rows), &out->rows);
}

enum hg_status hg_list_cross_edges(struct hg_retention *retention, struct hg_cross_edges **out)
{
	BASE_TRY(query_retention_answer(retention, out, sizeof(**out)));
	enum hg_status status = find_cross_edges(retention);
	if (status == HG_OK)
		status = keep_edges(
			retention->snapshot, retention->edges, retention->edge_count, *out);
	if (status != HG_OK)
		query_free(out);
	return status;
}

/* The row of depth 1 above a row, or that row itself. */
static uint32_t holder_above(const struct hg_retention *r, uint32_t row)
{
	while (r->rows[row].depth > 1)
		row = r->rows[row].parent;
	return row;
}

uint32_t query_retention_end(const struct hg_retention *retention, uint32_t row)
{
	uint32_t end = row + 1;
	while (end < retention->tree.count &&
		retention->rows[end].depth > retention->rows[row].depth)
		end++;
	return end;
}

/* The holders that last, or those that pass; how many there are. */
static uint32_t add_sharers(const struct hg_retention *r, uint32_t row, const uint64_t *pointers,
	bool passing, struct graph_cross *holders)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < r->tree.count; i++) {
		const struct query_path_class *class =
			&r->tree.classes.all[query_class_of_row(r, i)];
		if (pointers[i] && query_path_class_passes(r->snapshot, class) == passing)
			holders[count++] = (struct graph_cross){i, row, pointers[i]};
	}
	if (count)
		qsort(holders, count, sizeof(*holders), graph_compare_cross);
	return count;
}

/* Adds up pointers by their holder; 'pointers' has a zero for each row. */
static enum hg_status sum_sharers(
	struct hg_retention *r, uint32_t row, uint64_t *pointers, struct hg_cross_edges *out)
{
	uint32_t end = query_retention_end(r, row), count = 0;
	uint64_t first = BASE_FIRST_FROM(r->edges, r->edge_count, to, row);
	struct graph_cross *holders;
	for (uint64_t i = first; i < r->edge_count && r->edges[i].to < end; i++) {
		uint32_t from = r->edges[i].from;
		if (from >= row && from < end)
			continue;
		uint32_t holder = holder_above(r, from);
		count += pointers[holder] == 0;
		pointers[holder] += r->edges[i].pointers;
	}
	BASE_TRY(query_alloc(r->snapshot, count, sizeof(*holders), (void **)&holders));
	uint32_t found = add_sharers(r, row, pointers, false, holders);
	found += add_sharers(r, row, pointers, true, holders + found);
	base_assert(found == count);
	enum hg_status status = keep_edges(r->snapshot, holders, found, out);
	free(holders);
	return status;
}

static enum hg_status list_sharers(struct hg_retention *r, size_t row, struct hg_cross_edges *out)
{
	uint64_t *pointers;
	if (row >= r->tree.count)
		return base_fail(&r->snapshot->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"there is no row %zu", row);
	BASE_TRY(find_cross_edges(r));
	BASE_TRY(query_alloc(r->snapshot, r->tree.count, sizeof(*pointers), (void **)&pointers));
	enum hg_status status = sum_sharers(r, (uint32_t)row, pointers, out);
	free(pointers);
	return status;
}

enum hg_status hg_list_sharers(
	struct hg_retention *retention, size_t row, struct hg_cross_edges **out)
{
	BASE_TRY(query_retention_answer(retention, out, sizeof(**out)));
	enum hg_status status = list_sharers(retention, row, *out);
	if (status != HG_OK)
		query_free(out);
	return status;
}

void hg_cross_edges_release(struct hg_cross_edges **edges)
{
	query_free(edges);
}
