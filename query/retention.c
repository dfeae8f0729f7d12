/* The retention tree in the order in which it is shown, and who shares what in it. */
#include "query/retention/made_at.h"
#include "query/retention/view.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/search.h"
#include "query/shared/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A node in the order of rows: those of one parent together. */
struct ordered_node {
	uint32_t parent, node;
	uint64_t weight;
	const char *name;
};

static int compare_ordered_nodes(const void *a, const void *b)
{
	const struct ordered_node *x = a, *y = b;
	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	int order = strcmp(x->name, y->name);
	return order ? order : (x->node > y->node) - (x->node < y->node);
}

static struct ordered_node order_node(const struct hg_retention *r, uint32_t node)
{
	const struct query_retention_node *n = &r->tree.nodes[node];
	return (struct ordered_node){node ? n->parent : QUERY_NO_CLASS, node,
		base_weigh(r->snapshot->session->weight, n->retained, n->retained_offheap),
		query_retention_name(&r->tree, node)};
}

static hg_node example_node(const struct hg_retention *r, uint32_t position)
{
	return position == GRAPH_NONE ? HG_NO_NODE : r->snapshot->graph.node[position];
}

static void fill_retention_row(struct hg_retention *r, uint32_t row, uint32_t node)
{
	const struct query_retention_node *n = &r->tree.nodes[node];
	const struct query_path_class *class = &r->tree.classes.all[n->class];
	r->row_of[node] = row;
	r->node_of[row] = node;
	r->rows[row] = (struct hg_retention_row){
		.parent = r->row_of[n->parent],
		.depth = n->depth,
		.name = query_retention_name(&r->tree, node),
		.type = node ? class->type : 0,
		.is_root = node && class->is_root,
		.is_memprof = query_retention_is_memprof(&r->tree, node),
		.kind = class->kind,
		.blocks = n->blocks,
		.bytes = n->bytes,
		.offheap_bytes = n->offheap,
		.retained_bytes = n->retained,
		.retained_offheap_bytes = n->retained_offheap,
		.weight =
			base_weigh(r->snapshot->session->weight, n->retained, n->retained_offheap),
		.largest = example_node(r, n->largest),
		.first = example_node(r, n->first),
		.any = example_node(r, n->any),
	};
	if (row)
		r->rows[r->rows[row].parent].children++;
}

/* Depth first: children wait on a stack, the first of them on top. */
static void fill_retention_rows(
	struct hg_retention *r, const struct ordered_node *order, uint32_t *stack)
{
	uint64_t depth = 0;
	uint32_t row = 0;
	stack[depth++] = 0;
	while (depth) {
		uint32_t node = stack[--depth];
		fill_retention_row(r, row++, node);
		uint64_t first = BASE_FIRST_FROM(order, r->tree.count, parent, node);
		uint64_t end = BASE_FIRST_ABOVE(order, r->tree.count, parent, node);
		while (end > first)
			stack[depth++] = order[--end].node;
		base_assert(depth + row <= r->tree.count);
	}
	base_assert(row == r->tree.count);
}

static enum hg_status order_retention(struct hg_retention *r)
{
	struct ordered_node *order = NULL;
	uint32_t *stack = NULL;
	uint32_t count = r->tree.count;
	enum hg_status status = query_alloc(r->snapshot, count, sizeof(*order), (void **)&order);
	if (status == HG_OK)
		status = query_alloc(r->snapshot, count, sizeof(*stack), (void **)&stack);
	if (status == HG_OK) {
		for (uint32_t i = 0; i < count; i++)
			order[i] = order_node(r, i);
		qsort(order, count, sizeof(*order), compare_ordered_nodes);
		fill_retention_rows(r, order, stack);
	}
	free(order);
	free(stack);
	return status;
}

/* A bit for each position that the pattern selects. */
static enum hg_status select_positions(
	struct hg_snapshot *snapshot, const char *pattern, uint64_t **out)
{
	struct hg_selection *selection;
	const struct graph *g = &snapshot->graph;
	BASE_TRY(hg_select(snapshot, pattern, &selection));
	enum hg_status status =
		query_alloc(snapshot, base_bit_words(g->live_count), sizeof(**out), (void **)out);
	bool found = false;
	for (size_t i = 0; status == HG_OK && i < selection->count; i++) {
		struct graph_position p = query_position(snapshot, selection->nodes[i]);
		if (graph_reaches(p))
			base_bit_set(*out, p.n);
		found |= graph_reaches(p);
	}
	if (status == HG_OK && selection->count == 0)
		status = query_nothing_matches(snapshot, pattern);
	else if (status == HG_OK && !found)
		status = base_fail(&snapshot->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"nothing that matches '%.200s' is reachable", pattern);
	hg_selection_release(&selection);
	return status;
}

static enum hg_status fill_retention(
	struct hg_retention *r, const struct hg_retention_options *options)
{
	struct hg_snapshot *snapshot = r->snapshot;
	uint64_t *selected = NULL;
	enum hg_status status = HG_OK;
	if (options->from)
		status = select_positions(snapshot, options->from, &selected);
	if (status == HG_OK)
		status = query_retention_open(&r->tree, snapshot, selected, false);
	free(selected);
	BASE_TRY(status);
	uint32_t count = r->tree.count;
	BASE_TRY(graph_nodes(&snapshot->graph, &snapshot->session->error));
	BASE_TRY(query_alloc(snapshot, count, sizeof(*r->rows), (void **)&r->rows));
	BASE_TRY(query_alloc(snapshot, count, sizeof(*r->row_of), (void **)&r->row_of));
	BASE_TRY(query_alloc(snapshot, count, sizeof(*r->node_of), (void **)&r->node_of));
	return order_retention(r);
}

enum hg_status hg_retention_open(struct hg_snapshot *snapshot,
	const struct hg_retention_options *options, struct hg_retention **out)
{
	struct hg_retention_options known = {.from = NULL};
	struct hg_retention *r;
	if (!out)
		return query_no_place(snapshot);
	*out = NULL;
	BASE_TRY(query_begin(snapshot));
	if (options)
		memcpy(&known, options,
			options->size < sizeof(known) ? options->size : sizeof(known));
	BASE_TRY(query_alloc(snapshot, 1, sizeof(*r), (void **)&r));
	r->snapshot = snapshot;
	enum hg_status status = fill_retention(r, &known);
	if (status == HG_OK)
		*out = r;
	else
		hg_retention_close(r);
	return status;
}

void hg_retention_close(struct hg_retention *retention)
{
	if (!retention)
		return;
	query_retention_close(&retention->tree);
	free(retention->rows);
	free(retention->row_of);
	free(retention->node_of);
	free(retention->edges);
	free(retention);
}

size_t hg_retention_count(const struct hg_retention *retention)
{
	return retention ? retention->tree.count : 0;
}

const struct hg_retention_row *hg_retention_at(const struct hg_retention *retention, size_t row)
{
	return row < hg_retention_count(retention) ? &retention->rows[row] : NULL;
}

size_t hg_retention_path(
	const struct hg_retention *retention, size_t row, char *buffer, size_t size)
{
	uint32_t path[QUERY_DEEPEST_PATH + 1], depth = 0;
	size_t length = 0;
	size = query_room(buffer, size);
	if (size)
		buffer[0] = '\0';
	if (row >= hg_retention_count(retention))
		return 0;
	for (uint32_t at = (uint32_t)row; at != 0; at = retention->rows[at].parent)
		path[depth++] = at;
	if (depth == 0)
		return query_path_name(retention->rows[0].name, buffer, size);
	while (depth-- > 0) {
		char *rest = length < size ? buffer + length : NULL;
		length += query_path_name(
			retention->rows[path[depth]].name, rest, rest ? size - length : 0);
		rest = length < size ? buffer + length : NULL;
		if (depth)
			length += (size_t)snprintf(
				rest, rest ? size - length : 0, "%s", QUERY_PATH_JOINT);
	}
	return length;
}

size_t hg_retention_made_at(
	const struct hg_retention *retention, size_t row, char *buffer, size_t size)
{
	char lines[QUERY_LONGEST_MADE_AT] = "";
	if (row < hg_retention_count(retention))
		query_made_at(retention->snapshot, &retention->tree, retention->node_of[row], lines,
			sizeof(lines));
	return (size_t)snprintf(buffer, query_room(buffer, size), "%s", lines);
}

size_t hg_retention_defined_at(
	const struct hg_retention *retention, size_t row, char *buffer, size_t size)
{
	char lines[QUERY_LONGEST_MADE_AT] = "";
	if (row < hg_retention_count(retention))
		query_defined_at(retention->snapshot, &retention->tree, retention->node_of[row],
			lines, sizeof(lines));
	return (size_t)snprintf(buffer, query_room(buffer, size), "%s", lines);
}
