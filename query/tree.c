/* The dominator tree, pruned. */
#include "query/shared/children.h"
#include "query/shared/result.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

struct pending {
	struct graph_position position;
	uint32_t depth;
};

struct planter {
	struct hg_snapshot *snapshot;
	struct hg_tree_options options;
	struct hg_tree_row *rows;
	uint64_t row_count, row_capacity;
	struct pending *stack;
	uint64_t depth, stack_capacity;
};

static enum hg_status push_node(struct planter *p, struct graph_position position, uint32_t depth)
{
	BASE_TRY(query_grow(
		p->snapshot, &p->stack, p->depth, &p->stack_capacity, sizeof(*p->stack)));
	p->stack[p->depth++] = (struct pending){position, depth};
	return HG_OK;
}

static enum hg_status plant_row(struct planter *p, struct pending at)
{
	struct query_children children;
	const struct hg_tree_options *o = &p->options;
	base_assert(at.position.n < p->snapshot->graph.live_count);
	bool bottom = o->max_depth && at.depth >= o->max_depth;
	BASE_TRY(query_grow(
		p->snapshot, &p->rows, p->row_count, &p->row_capacity, sizeof(*p->rows)));
	BASE_TRY(query_children_open(&children, p->snapshot, at.position, o->max_children,
		bottom ? UINT64_MAX : o->min_bytes));
	base_assert(children.shown <= children.total);
	base_assert(children.hidden_bytes <= graph_retained(&p->snapshot->graph, at.position));
	p->rows[p->row_count++] = (struct hg_tree_row){
		.node = query_node(p->snapshot, at.position),
		.depth = at.depth,
		.children = children.total,
		.hidden_children = children.total - children.shown,
		.hidden_bytes = children.hidden_bytes,
	};
	enum hg_status status = HG_OK;
	for (uint64_t i = children.shown; i-- > 0 && status == HG_OK;)
		status = push_node(p, children.positions[i], at.depth + 1);
	query_children_release(&children);
	return status;
}

static enum hg_status plant_all(
	struct hg_snapshot *snapshot, const struct hg_tree_options *options, struct hg_tree *out)
{
	struct planter p = {.snapshot = snapshot, .options = {.from = HG_NO_NODE}};
	if (options)
		memcpy(&p.options, options,
			options->size < sizeof(p.options) ? options->size : sizeof(p.options));
	BASE_TRY(graph_nodes(&snapshot->graph, &snapshot->session->error));
	struct graph_position top = {0};
	if (p.options.from != HG_NO_NODE)
		top = query_position(snapshot, p.options.from);
	if (!graph_reaches(top))
		return base_fail(&snapshot->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"the block is not reachable, so it is not in the dominator tree");
	enum hg_status status = push_node(&p, top, 0);
	while (status == HG_OK && p.depth)
		status = plant_row(&p, p.stack[--p.depth]);
	free(p.stack);
	out->count = p.row_count;
	if (status == HG_OK)
		return query_keep_rows(
			snapshot, out, p.rows, p.row_count, sizeof(*p.rows), &out->rows);
	free(p.rows);
	return status;
}

enum hg_status hg_list_tree(
	struct hg_snapshot *snapshot, const struct hg_tree_options *options, struct hg_tree **out)
{
	BASE_TRY(query_answer(snapshot, sizeof(**out), out));
	enum hg_status status = plant_all(snapshot, options, *out);
	if (status != HG_OK)
		query_free(out);
	return status;
}

void hg_tree_release(struct hg_tree **tree)
{
	query_free(tree);
}
