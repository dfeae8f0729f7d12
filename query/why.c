/* Why is it alive: the shortest path to one block, and the merged paths to many. */
#include "base/assert.h"
#include "base/hash.h"
#include "base/search.h"
#include "graph/paths.h"
#include "query/shared/result.h"

#include <stdlib.h>

/* The nodes that are asked about. */
struct wanted {
	const hg_node *nodes;
	size_t count;
};

/* Steps drawn together: one row of the answer. */
struct group {
	uint32_t parent; /* group of the holders; GRAPH_NONE for roots */
	uint32_t key;
	uint32_t first; /* number of the first node met */
	uint32_t depth;
	uint64_t nodes, targets, bytes, offheap;
};

struct merger {
	struct hg_snapshot *snapshot;
	const struct graph_paths *paths;
	uint32_t *targets; /* by number: selected nodes at or below it in the search tree */
	uint64_t *bytes;
	uint64_t *offheap;        /* NULL if there is no memory outside */
	uint32_t *group;          /* by number */
	uint32_t *key;            /* by node: location << 8 | tag, or a number of 'kinds' */
	struct query_pairs kinds; /* type and location, if types are known */
	struct group *groups;
	uint64_t group_count, group_capacity;
	struct base_map by_holder; /* groups by parent and key */
	struct hg_path_row *rows;
};

/* Blocks are alike if their locations are, and their types; or tags, if there is no type. */
static enum hg_status key_of_cell(
	struct merger *m, uint32_t rank, const struct snap_cell *cell, uint32_t *key)
{
	struct hg_snapshot *snapshot = m->snapshot;
	enum hg_confidence confidence;
	uint32_t location = query_location(&snapshot->snap, cell, &confidence);
	*key = location << 8 | cell->tag;
	if (!snapshot->retype.has_types)
		return HG_OK;
	uint32_t type = query_type(snapshot, rank, cell->tag, &confidence).n;
	return query_pairs_number(&m->kinds, type ? type : UINT32_MAX - cell->tag, location, key,
		&snapshot->session->error);
}

/* Keys of all blocks: one pass instead of a look-up for each node of each path. */
static enum hg_status fill_keys(struct merger *m)
{
	struct snap *snap = &m->snapshot->snap;
	const uint64_t count = snap->block_count;
	struct snap_walk walk;
	struct snap_run run;
	uint32_t rank = 0;
	enum hg_status status = HG_OK;
	BASE_TRY(snap_walk_init(&walk, snap, &m->snapshot->session->error));
	snap_walk_range(&walk, 0, snap->entry_count);
	while (status == HG_OK && snap_walk_next(&walk, &run)) {
		struct snap_scan scan = snap_scan_run(snap, &run);
		struct snap_cell cell;
		for (; status == HG_OK && rank < count && snap_scan_next(&scan, &cell); rank++)
			status = key_of_cell(m, rank, &cell, &m->key[rank]);
	}
	snap_walk_release(&walk);
	return status;
}

/* Marks the selected nodes and adds them up along their paths, last met first. */
static void add_targets(struct merger *m, const struct wanted *wanted, struct hg_why *out)
{
	const struct graph *g = &m->snapshot->graph;
	for (size_t i = 0; i < wanted->count; i++) {
		hg_node node = wanted->nodes[i];
		uint32_t number = node < m->snapshot->graph.node_count
					  ? graph_paths_number(m->paths, node)
					  : GRAPH_NONE;
		if (number == GRAPH_NONE) {
			out->unreachable++;
			continue;
		}
		out->reached++;
		m->targets[number]++;
		m->bytes[number] += graph_shallow(g, g->position[node]);
		if (m->offheap)
			m->offheap[number] += graph_offheap(g, g->position[node]);
	}
	base_assert(out->reached + out->unreachable == wanted->count);
	for (uint32_t number = m->paths->count - 1; number > 0; number--) {
		base_assert(m->paths->holder[number] < number);
		m->targets[m->paths->holder[number]] += m->targets[number];
		m->bytes[m->paths->holder[number]] += m->bytes[number];
		if (m->offheap)
			m->offheap[m->paths->holder[number]] += m->offheap[number];
	}
}

static enum hg_status find_group(
	struct merger *m, uint32_t parent, uint32_t key, uint32_t number, uint32_t *out)
{
	uint64_t at = m->group_count;
	bool is_new;
	BASE_TRY(query_grow(
		m->snapshot, &m->groups, m->group_count, &m->group_capacity, sizeof(*m->groups)));
	BASE_TRY(base_map_add(&m->by_holder, (uint64_t)parent << 32 | key, &at, &is_new,
		&m->snapshot->session->error));
	*out = (uint32_t)at;
	if (!is_new)
		return HG_OK;
	uint32_t depth = parent == GRAPH_NONE ? 0 : m->groups[parent].depth + 1;
	m->groups[m->group_count++] =
		(struct group){.parent = parent, .key = key, .first = number, .depth = depth};
	return HG_OK;
}

/* Puts a node into its group; nodes that repeat their holder's key stay with it. */
static enum hg_status group_node(struct merger *m, uint32_t number)
{
	uint32_t node = graph_paths_node(m->paths, number);
	uint32_t holder = m->paths->holder[number];
	bool is_block = node < m->snapshot->snap.block_count;
	uint32_t parent = holder == 0 ? GRAPH_NONE : m->group[holder];
	uint32_t key = is_block ? m->key[node] : node;
	bool repeats = is_block && parent != GRAPH_NONE && m->groups[parent].key == key &&
		       m->groups[parent].parent != GRAPH_NONE;
	if (repeats)
		m->group[number] = parent;
	else
		BASE_TRY(find_group(m, parent, key, number, &m->group[number]));
	base_assert(m->group[number] < m->group_count);
	struct group *group = &m->groups[m->group[number]];
	group->nodes++;
	if (!repeats) {
		group->targets += m->targets[number];
		group->bytes += m->bytes[number];
		group->offheap += m->offheap ? m->offheap[number] : 0;
	}
	return HG_OK;
}

/* Groups by the group of their holders. */
struct ordered {
	uint64_t parent;
	struct group *group;
};

static int compare_targets(const void *a, const void *b)
{
	const struct ordered *left = a, *right = b;
	const struct group *x = left->group, *y = right->group;
	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->targets != y->targets)
		return x->targets > y->targets ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

static void add_path_row(struct merger *m, const struct group *group, struct hg_why *out)
{
	struct hg_block block;
	hg_node node = graph_paths_node(m->paths, group->first);
	query_block(m->snapshot, node, &block);
	m->rows[out->rows_count++] = (struct hg_path_row){
		.node = node,
		.depth = group->depth,
		.location = block.location,
		.tag = block.tag,
		.type = block.type,
		.nodes = group->nodes,
		.targets = group->targets,
		.bytes = group->bytes,
		.offheap_bytes = group->offheap,
	};
}

/* Depth first: the children of a group wait on a stack, the one with most targets on top. */
static void add_path_rows(
	struct merger *m, const struct ordered *order, struct group **stack, struct hg_why *out)
{
	uint64_t count = m->group_count, depth = 0;
	uint64_t parent = GRAPH_NONE;
	for (;;) {
		uint64_t first = BASE_FIRST_FROM(order, count, parent, parent);
		uint64_t end = BASE_FIRST_ABOVE(order, count, parent, parent);
		while (end > first)
			stack[depth++] = order[--end].group;
		base_assert(depth + out->rows_count <= count);
		if (depth == 0)
			return;
		const struct group *group = stack[--depth];
		add_path_row(m, group, out);
		parent = (uint64_t)(group - m->groups);
	}
}

static enum hg_status order_rows(struct merger *m, struct hg_why *out)
{
	uint64_t count = m->group_count;
	struct ordered *order;
	struct group **stack = NULL;
	BASE_TRY(query_alloc(m->snapshot, count, sizeof(*order), (void **)&order));
	enum hg_status status = query_alloc(m->snapshot, count, sizeof(*stack), (void **)&stack);
	if (status == HG_OK)
		status = query_alloc(m->snapshot, count, sizeof(*m->rows), (void **)&m->rows);
	if (status == HG_OK) {
		for (uint64_t i = 0; i < count; i++)
			order[i] = (struct ordered){m->groups[i].parent, &m->groups[i]};
		qsort(order, count, sizeof(*order), compare_targets);
		base_assert(BASE_IS_SORTED(order, count, parent));
		add_path_rows(m, order, stack, out);
		base_assert(out->rows_count == count);
	}
	free(order);
	free(stack);
	BASE_TRY(status);
	return query_keep_rows(
		m->snapshot, out, m->rows, out->rows_count, sizeof(*m->rows), &out->rows);
}

static enum hg_status allocate_merger(struct merger *m, struct base_arena *arena)
{
	struct hg_error *error = &m->snapshot->session->error;
	uint64_t count = m->paths->count;
	BASE_TRY(base_arena_zalloc(arena, count, sizeof(uint32_t), (void **)&m->targets, error));
	BASE_TRY(base_arena_zalloc(arena, count, sizeof(uint64_t), (void **)&m->bytes, error));
	if (m->snapshot->graph.offheap)
		BASE_TRY(base_arena_zalloc(
			arena, count, sizeof(uint64_t), (void **)&m->offheap, error));
	BASE_TRY(base_arena_alloc(arena, count, sizeof(uint32_t), (void **)&m->group, error));
	return base_arena_alloc(
		arena, m->snapshot->snap.block_count, sizeof(uint32_t), (void **)&m->key, error);
}

static enum hg_status merge_paths(struct merger *m, const struct wanted *wanted, struct hg_why *out)
{
	BASE_TRY(fill_keys(m));
	add_targets(m, wanted, out);
	base_assert(m->targets[0] == out->reached);
	for (uint32_t number = 1; number < m->paths->count; number++)
		if (m->targets[number])
			BASE_TRY(group_node(m, number));
	return order_rows(m, out);
}

/* The selected node that retains most; the first of equals. */
static hg_node largest_wanted(struct hg_snapshot *snapshot, const struct wanted *wanted)
{
	const struct graph *g = &snapshot->graph;
	struct graph_position best = {GRAPH_NONE};
	hg_node node = HG_NO_NODE;
	for (size_t i = 0; i < wanted->count; i++) {
		struct graph_position position = query_position(snapshot, wanted->nodes[i]);
		if (!graph_reaches(position))
			continue;
		if (!graph_reaches(best) || graph_retained(g, position) > graph_retained(g, best)) {
			best = position;
			node = wanted->nodes[i];
		}
	}
	return node;
}

static enum hg_status add_steps(struct hg_snapshot *snapshot, const struct graph_paths *paths,
	hg_node target, struct hg_why *out)
{
	uint32_t number = target == HG_NO_NODE ? 0 : graph_paths_number(paths, target);
	for (uint32_t n = number; n != 0; n = paths->holder[n])
		out->steps_count++;
	struct hg_step *steps;
	BASE_TRY(query_alloc(snapshot, out->steps_count, sizeof(*steps), (void **)&steps));
	size_t at = out->steps_count;
	base_assert(at < paths->count);
	for (uint32_t n = number; n != 0; n = paths->holder[n])
		steps[--at] = (struct hg_step){graph_paths_node(paths, n), HG_UNKNOWN};
	for (size_t i = 1; i < out->steps_count; i++)
		steps[i].field = query_field_to(snapshot, steps[i - 1].node, steps[i].node);
	return query_keep_rows(snapshot, out, steps, out->steps_count, sizeof(*steps), &out->steps);
}

static enum hg_status explain_paths(struct hg_snapshot *snapshot, const struct graph_paths *paths,
	const struct wanted *wanted, struct hg_why *out)
{
	struct merger m = {.snapshot = snapshot, .paths = paths};
	struct base_arena arena;
	BASE_TRY(base_arena_init(
		&arena, &snapshot->session->budget, "merged paths", &snapshot->session->error));
	enum hg_status status = allocate_merger(&m, &arena);
	if (status == HG_OK)
		status = merge_paths(&m, wanted, out);
	if (status == HG_OK)
		status = add_steps(snapshot, paths, largest_wanted(snapshot, wanted), out);
	base_arena_release(&arena);
	free(m.groups);
	base_map_release(&m.by_holder);
	query_pairs_release(&m.kinds);
	return status;
}

static enum hg_status find_paths(
	struct hg_snapshot *snapshot, const struct wanted *wanted, struct hg_why *out)
{
	struct graph_paths paths;
	out->selected = wanted->count;
	if (!wanted->nodes && wanted->count)
		return base_fail(&snapshot->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"no nodes are given");
	BASE_TRY(graph_paths_open(&paths, &snapshot->graph, &snapshot->session->error));
	enum hg_status status = explain_paths(snapshot, &paths, wanted, out);
	graph_paths_close(&paths);
	return status;
}

enum hg_status hg_explain_nodes(
	struct hg_snapshot *snapshot, const hg_node *nodes, size_t count, struct hg_why **out)
{
	struct wanted wanted = {nodes, count};
	BASE_TRY(query_answer(snapshot, sizeof(**out), out));
	enum hg_status status = find_paths(snapshot, &wanted, *out);
	if (status != HG_OK)
		query_free(out);
	return status;
}

void hg_why_release(struct hg_why **why)
{
	query_free(why);
}
