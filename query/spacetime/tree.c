/* The tree of calls of a series: a node for each path of places. */
#include "query/spacetime/spacetime.h"

#include "query/shared/result.h"
#include "query/spacetime/points.h"
#include "query/trace/preorder.h"

#include "base/grow.h"

struct call_tree {
	struct hg_trace *trace;
	struct hg_error *error;
	struct query_spacetime_places names;
	struct spacetime_walk walk;
	uint32_t *node_of; /* of frames of the walk */
	uint64_t frame_count, frame_capacity;
	struct hg_trace_node *nodes;
	uint32_t *places; /* of nodes */
	uint64_t count, capacity, place_capacity;
	struct base_map children;      /* by node and place */
	struct base_map by_annotation; /* a node */
};

static enum hg_status add_call_node(struct call_tree *tree, uint32_t parent, uint32_t place)
{
	if (tree->count == UINT32_MAX)
		return base_fail(tree->error, HG_ERROR_LIMIT, HG_NO_OFFSET, "too many calls");
	BASE_TRY(base_grow(&tree->places, tree->count, &tree->place_capacity, sizeof(*tree->places),
		tree->error));
	BASE_TRY(base_grow(
		&tree->nodes, tree->count, &tree->capacity, sizeof(*tree->nodes), tree->error));
	tree->places[tree->count] = place;
	tree->nodes[tree->count] = (struct hg_trace_node){.parent = parent,
		.depth = tree->count ? tree->nodes[parent].depth + 1 : 0,
		.name = tree->count ? trace_name(&tree->trace->names, place) : ""};
	tree->count++;
	return HG_OK;
}

static bool is_place_on_path(const struct call_tree *tree, uint32_t node, uint32_t place)
{
	for (; node; node = tree->nodes[node].parent)
		if (tree->places[node] == place)
			return true;
	return false;
}

static enum hg_status enter_place_of_call(struct call_tree *tree, uint32_t *node, uint32_t place)
{
	uint64_t child = tree->count;
	bool added;
	if (is_place_on_path(tree, *node, place))
		return HG_OK;
	BASE_TRY(base_map_add(
		&tree->children, (uint64_t)*node << 32 | place, &child, &added, tree->error));
	if (added)
		BASE_TRY(add_call_node(tree, *node, place));
	*node = (uint32_t)child;
	return HG_OK;
}

/* All places of a return address, the outermost first. */
static enum hg_status enter_address(struct call_tree *tree, uint32_t *node, uint64_t pc)
{
	const struct spacetime_tables *tables = &tree->names.tables;
	uint32_t frame, place;
	if (!base_map_number(&tables->frame_of, pc, &frame))
		return HG_OK;
	const struct spacetime_span *span = &tables->frames[frame];
	for (uint32_t i = span->count; i-- > 0;) {
		if (!tables->locations[span->first + i].known)
			continue;
		BASE_TRY(query_spacetime_name(&tree->names, span->first + i, &place));
		BASE_TRY(enter_place_of_call(tree, node, place));
	}
	return HG_OK;
}

/* Of all frames that the walk has made. */
static enum hg_status find_nodes_of_frames(struct call_tree *tree)
{
	while (tree->frame_count < tree->walk.frame_count) {
		const struct spacetime_frame *frame = &tree->walk.frames[tree->frame_count];
		uint32_t node = tree->frame_count ? tree->node_of[frame->caller] : 0;
		if (tree->frame_count && !frame->in_c)
			BASE_TRY(enter_address(tree, &node, frame->pc));
		BASE_TRY(base_grow(&tree->node_of, tree->frame_count, &tree->frame_capacity,
			sizeof(*tree->node_of), tree->error));
		tree->node_of[tree->frame_count++] = node;
	}
	return HG_OK;
}

static enum hg_status add_point_to_tree(void *data, const struct spacetime_step *step)
{
	struct call_tree *tree = data;
	bool in_c = step->kind == SPACETIME_C_ALLOCATES;
	if (step->kind != SPACETIME_ALLOCATES && !in_c)
		return HG_OK;
	BASE_TRY(find_nodes_of_frames(tree));
	uint32_t node = tree->node_of[step->caller];
	if (!in_c)
		BASE_TRY(enter_address(tree, &node, step->pc));
	tree->nodes[node].own.samples += step->words > 0 ? (uint64_t)step->words : 0;
	return base_map_set(&tree->by_annotation, step->annotation, node, tree->error);
}

static enum hg_status add_snapshot_to_tree(
	struct call_tree *tree, const struct spacetime_moment *moment)
{
	struct spacetime_snapshot snapshot;
	enum hg_status status =
		spacetime_read_snapshot(&tree->trace->series, moment, &snapshot, tree->error);
	for (uint64_t i = 0; status == HG_OK && i < snapshot.entry_count; i++) {
		const struct spacetime_entry *entry = &snapshot.entries[i];
		uint32_t node = 0;
		base_map_number(&tree->by_annotation, entry->annotation, &node);
		tree->nodes[node].own.live += entry->words > 0 ? (uint64_t)entry->words : 0;
		tree->nodes[node].own.peak += entry->blocks > 0 ? (uint64_t)entry->blocks : 0;
	}
	spacetime_snapshot_release(&snapshot);
	return query_spacetime_skip(
		tree->trace, status, moment->offset, "a snapshot that cannot be read");
}

static enum hg_status fill_call_tree(struct call_tree *tree,
	const struct hg_spacetime_choice *choice, enum hg_trace_order order,
	struct hg_trace_tree *out)
{
	const struct spacetime_moment *moment;
	uint64_t number;
	BASE_TRY(query_spacetime_choose(tree->trace, choice, &moment, &number));
	BASE_TRY(add_call_node(tree, 0, QUERY_NO_PLACE));
	BASE_TRY(query_spacetime_places_init(&tree->names, tree->trace));
	BASE_TRY(spacetime_walk_init(
		&tree->walk, &tree->names.tables, add_point_to_tree, tree, tree->error));
	BASE_TRY(query_spacetime_walk_all(tree->trace, &tree->walk));
	if (moment)
		BASE_TRY(add_snapshot_to_tree(tree, moment));
	for (uint64_t i = 0; i < tree->count; i++)
		tree->nodes[i].total = tree->nodes[i].own;
	for (uint64_t i = tree->count; i-- > 1;)
		query_add_amounts(&tree->nodes[tree->nodes[i].parent].total, &tree->nodes[i].total);
	out->all_samples = tree->nodes[0].total.samples;
	struct hg_trace_node *nodes = tree->nodes;
	tree->nodes = NULL;
	BASE_TRY(query_make_trace_tree(tree->error, nodes, tree->count, order, out));
	return query_spacetime_end(tree->trace, &out->losses);
}

enum hg_status hg_list_spacetime_calls(struct hg_trace *trace,
	const struct hg_spacetime_choice *choice, enum hg_trace_order order,
	struct hg_trace_tree **out)
{
	BASE_TRY(query_spacetime_begin(trace, (void *)out));
	struct call_tree tree = {.trace = trace, .error = &trace->session->error};
	if (!choice || (order != HG_TRACE_BY_SAMPLES && order != HG_TRACE_BY_NAME))
		return base_fail(tree.error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"no snapshot chosen, or no such order of calls");
	if (!trace->series.complete)
		return query_trace_failed(
			trace, base_fail(tree.error, HG_ERROR_INPUT, trace->series.lost_offset,
				       "the series has no calls: %s", trace->series.lost));
	BASE_TRY(query_answer_of(tree.error, sizeof(**out), out));
	enum hg_status status = fill_call_tree(&tree, choice, order, *out);
	spacetime_walk_release(&tree.walk);
	query_spacetime_places_release(&tree.names);
	base_map_release(&tree.children);
	base_map_release(&tree.by_annotation);
	free(tree.node_of);
	free(tree.nodes);
	free(tree.places);
	if (status != HG_OK)
		hg_trace_tree_release(out);
	return status == HG_OK ? HG_OK : query_trace_failed(trace, status);
}
