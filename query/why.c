/* Why is it alive: the shortest path to one block, and the merged paths to many. */
#include "base/assert.h"
#include "base/bits.h"
#include "base/hash.h"
#include "base/search.h"
#include "graph/paths.h"
#include "query/shared/result.h"
#include "query/retention/tree.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_PERIOD = 3, LEAST_REPEATED = 3 };

/* The nodes that are asked about. */
struct wanted {
	const hg_node *nodes;
	size_t count;
};

/* Steps drawn together: one row of the answer. */
struct group {
	uint32_t parent; /* group of the holders; GRAPH_NONE for roots */
	uint32_t class;
	uint32_t first; /* number of the first node met */
	uint32_t depth;
	uint32_t location; /* of all of them; 0 if they differ */
	uint64_t nodes, targets, bytes, offheap;
};

struct merger {
	struct hg_snapshot *snapshot;
	const struct graph_paths *paths;
	struct base_arena arena;
	uint64_t *on_path; /* a bit by number: a selected node, or a holder on its path */
	uint32_t *group;   /* these by number, of those on paths */
	uint32_t *class, *location;
	struct query_path_classes classes;
	const char **names; /* by class, kept with the answer */
	struct group *groups;
	uint64_t group_count, group_capacity;
	struct base_map by_holder; /* groups by the group of the holder and class */
	struct hg_path_row *rows;
};

/* The number of a selected node if it is reachable; GRAPH_NONE. */
static uint32_t number_of_wanted(const struct merger *m, hg_node node)
{
	return node < m->snapshot->graph.node_count ? graph_paths_number(m->paths, node)
						    : GRAPH_NONE;
}

/* Marks the selected nodes and, from those met last, their holders. */
static void mark_on_paths(struct merger *m, const struct wanted *wanted, struct hg_why *out)
{
	for (size_t i = 0; i < wanted->count; i++) {
		uint32_t number = number_of_wanted(m, wanted->nodes[i]);
		out->unreachable += number == GRAPH_NONE;
		out->reached += number != GRAPH_NONE;
		if (number != GRAPH_NONE)
			base_bit_set(m->on_path, number);
	}
	base_assert(out->reached + out->unreachable == wanted->count);
	for (uint32_t number = m->paths->count - 1; number > 0; number--) {
		base_assert(m->paths->holder[number] < number);
		if (base_bit(m->on_path, number))
			base_bit_set(m->on_path, m->paths->holder[number]);
	}
}

static enum hg_status classify_on_path(
	struct merger *m, uint32_t rank, const struct snap_cell *cell)
{
	enum hg_confidence confidence;
	uint32_t number = graph_paths_number(m->paths, rank);
	if (number == GRAPH_NONE || !base_bit(m->on_path, number))
		return HG_OK;
	m->location[number] = query_location(&m->snapshot->snap, cell, &confidence);
	return query_path_class_of_block(&m->classes, rank, cell, &m->class[number]);
}

/* Classes of all on paths: one pass over the blocks instead of a look-up for each. */
static enum hg_status fill_path_classes(struct merger *m)
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
			status = classify_on_path(m, rank, &cell);
	}
	snap_walk_release(&walk);
	for (uint64_t i = 0; i < snap->root_count && status == HG_OK; i++) {
		uint32_t number = graph_paths_number(m->paths, snap_root_node(snap, i));
		if (number != GRAPH_NONE && base_bit(m->on_path, number))
			status = query_path_class_of_root(&m->classes, i, &m->class[number]);
	}
	return status;
}

/*
 * The group of a node below a group: that above it which is of its class, as in the retention tree,
 * or a child; looked up after the first time.
 */
static enum hg_status find_group(struct merger *m, uint32_t parent, uint32_t number, uint32_t *out)
{
	uint32_t class = m->class[number], at = parent;
	uint64_t key = (uint64_t)parent << 32 | class, found;
	if (base_map_get(&m->by_holder, key, &found)) {
		*out = (uint32_t)found;
		return HG_OK;
	}
	while (at != GRAPH_NONE && (m->groups[at].class != class || m->groups[at].depth == 0))
		at = m->groups[at].parent;
	uint32_t depth = parent == GRAPH_NONE ? 0 : m->groups[parent].depth + 1;
	if (at == GRAPH_NONE && depth > QUERY_DEEPEST_PATH)
		at = parent;
	if (at == GRAPH_NONE) {
		BASE_TRY(query_grow(m->snapshot, &m->groups, m->group_count, &m->group_capacity,
			sizeof(*m->groups)));
		at = (uint32_t)m->group_count++;
		m->groups[at] = (struct group){.parent = parent,
			.class = class,
			.first = number,
			.depth = depth,
			.location = m->location[number]};
	}
	*out = at;
	return base_map_set(&m->by_holder, key, at, &m->snapshot->session->error);
}

static enum hg_status group_node(struct merger *m, uint32_t number)
{
	uint32_t holder = m->paths->holder[number];
	uint32_t parent = holder == 0 ? GRAPH_NONE : m->group[holder];
	BASE_TRY(find_group(m, parent, number, &m->group[number]));
	base_assert(m->group[number] < m->group_count);
	struct group *group = &m->groups[m->group[number]];
	group->nodes++;
	if (group->location != m->location[number])
		group->location = 0;
	return HG_OK;
}

/* Selected nodes count in their group and in those above it. */
static void sum_groups(struct merger *m, const struct wanted *wanted)
{
	const struct graph *g = &m->snapshot->graph;
	for (size_t i = 0; i < wanted->count; i++) {
		uint32_t number = number_of_wanted(m, wanted->nodes[i]);
		if (number == GRAPH_NONE || number == 0)
			continue;
		struct group *group = &m->groups[m->group[number]];
		group->targets++;
		group->bytes += graph_shallow(g, g->position[wanted->nodes[i]]);
		group->offheap += graph_offheap(g, g->position[wanted->nodes[i]]);
	}
	for (uint64_t i = m->group_count; i-- > 0;) {
		const struct group *group = &m->groups[i];
		if (group->parent == GRAPH_NONE)
			continue;
		base_assert(group->parent < i);
		m->groups[group->parent].targets += group->targets;
		m->groups[group->parent].bytes += group->bytes;
		m->groups[group->parent].offheap += group->offheap;
	}
}

/* Groups by the group of their holders. */
struct ordered {
	uint64_t parent;
	struct group *group;
	enum snap_tier tier; /* of roots: lasting ones come first */
};

static int compare_targets(const void *a, const void *b)
{
	const struct ordered *left = a, *right = b;
	const struct group *x = left->group, *y = right->group;
	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (left->tier != right->tier)
		return left->tier < right->tier ? -1 : 1;
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
		.location = group->location,
		.tag = block.tag,
		.type = m->classes.all[group->class].type,
		.name = m->names[group->class],
		.nodes = group->nodes,
		.targets = group->targets,
		.bytes = group->bytes,
		.offheap_bytes = group->offheap,
	};
}

/*
 * Depth first: the children of a group wait on a stack, the one with most targets on top.  Steps
 * that only lead back to a class above them reach nothing of their own and are no row.
 */
static void add_path_rows(
	struct merger *m, const struct ordered *order, struct group **stack, struct hg_why *out)
{
	uint64_t count = m->group_count, depth = 0;
	uint64_t parent = GRAPH_NONE;
	for (;;) {
		uint64_t first = BASE_FIRST_FROM(order, count, parent, parent);
		uint64_t end = BASE_FIRST_ABOVE(order, count, parent, parent);
		while (end > first)
			if (order[--end].group->targets)
				stack[depth++] = order[end].group;
		base_assert(depth + out->rows_count <= count);
		if (depth == 0)
			return;
		const struct group *group = stack[--depth];
		add_path_row(m, group, out);
		parent = (uint64_t)(group - m->groups);
	}
}

static struct ordered order_group(const struct merger *m, struct group *group)
{
	const struct snap *snap = &m->snapshot->snap;
	struct ordered ordered = {group->parent, group, SNAP_TIER_LASTING};
	if (group->parent == GRAPH_NONE) {
		uint32_t node = graph_paths_node(m->paths, group->first);
		ordered.tier = snap_root_tier(snap, &snap->roots[node - snap->block_count]);
	}
	return ordered;
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
			order[i] = order_group(m, &m->groups[i]);
		qsort(order, count, sizeof(*order), compare_targets);
		base_assert(BASE_IS_SORTED(order, count, parent));
		add_path_rows(m, order, stack, out);
	}
	free(order);
	free(stack);
	BASE_TRY(status);
	return query_keep_rows(
		m->snapshot, out, m->rows, out->rows_count, sizeof(*m->rows), &out->rows);
}

static enum hg_status allocate_merger(struct merger *m)
{
	struct base_arena *arena = &m->arena;
	struct hg_error *error = &m->snapshot->session->error;
	uint64_t count = m->paths->count;
	BASE_TRY(base_arena_zalloc(
		arena, base_bit_words(count), sizeof(uint64_t), (void **)&m->on_path, error));
	BASE_TRY(base_arena_alloc(arena, count, sizeof(uint32_t), (void **)&m->group, error));
	BASE_TRY(base_arena_alloc(arena, count, sizeof(uint32_t), (void **)&m->class, error));
	BASE_TRY(base_arena_zalloc(arena, count, sizeof(uint32_t), (void **)&m->location, error));
	return query_path_classes_init(&m->classes, m->snapshot);
}

/* The names of all classes go with the answer. */
static enum hg_status keep_names(struct merger *m, struct hg_why *out)
{
	size_t length = 1;
	char *text;
	for (uint32_t i = 0; i < m->classes.count; i++)
		length += strlen(m->classes.all[i].name) + 1;
	BASE_TRY(query_alloc(m->snapshot, length, 1, (void **)&text));
	query_keep(out, text);
	BASE_TRY(base_arena_alloc(&m->arena, m->classes.count, sizeof(*m->names),
		(void **)&m->names, &m->snapshot->session->error));
	for (uint32_t i = 0; i < m->classes.count; i++) {
		m->names[i] = text;
		text = stpcpy(text, m->classes.all[i].name) + 1;
	}
	for (size_t i = 0; i < out->steps_count; i++)
		out->steps[i]->name =
			m->names[m->class[graph_paths_number(m->paths, out->steps[i]->node)]];
	return HG_OK;
}

static enum hg_status merge_paths(struct merger *m, const struct wanted *wanted)
{
	for (uint32_t number = 1; number < m->paths->count; number++)
		if (base_bit(m->on_path, number))
			BASE_TRY(group_node(m, number));
	sum_groups(m, wanted);
	return HG_OK;
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
		steps[--at] =
			(struct hg_step){.node = graph_paths_node(paths, n), .field = HG_UNKNOWN};
	for (size_t i = 1; i < out->steps_count; i++)
		steps[i].field = query_field_to(snapshot, steps[i - 1].node, steps[i].node);
	return query_keep_rows(snapshot, out, steps, out->steps_count, sizeof(*steps), &out->steps);
}

/* How often the classes of so many steps from 'first' on come again, one time after the other. */
static size_t count_repeats(
	const struct merger *m, const uint32_t *numbers, size_t first, size_t end, unsigned period)
{
	size_t same = period;
	while (first + same < end &&
		m->class[numbers[first + same]] == m->class[numbers[first + same - period]])
		same++;
	return same / period;
}

/* The run that begins at a step: what repeats itself, if it does so often enough to be one row. */
static struct hg_step_run find_run(
	const struct merger *m, const uint32_t *numbers, size_t first, size_t end)
{
	struct hg_step_run run = {first, 1, 1};
	for (unsigned period = 1; period <= LONGEST_PERIOD; period++) {
		size_t times = count_repeats(m, numbers, first, end, period);
		if (times * period > run.period * run.times && times >= LEAST_REPEATED)
			run = (struct hg_step_run){first, period, times};
	}
	return run;
}

/* The step to the block that is explained stands alone. */
static enum hg_status add_runs(struct merger *m, struct hg_why *out)
{
	uint32_t *numbers;
	uint64_t capacity = 0, count = 0;
	struct hg_step_run *runs = NULL;
	size_t steps = out->steps_count;
	BASE_TRY(base_arena_alloc(&m->arena, steps, sizeof(*numbers), (void **)&numbers,
		&m->snapshot->session->error));
	for (size_t i = 0; i < steps; i++)
		numbers[i] = graph_paths_number(m->paths, out->steps[i]->node);
	enum hg_status status = HG_OK;
	for (size_t i = 0; i < steps && status == HG_OK;) {
		struct hg_step_run run = {i, 1, 1};
		if (i + 1 < steps)
			run = find_run(m, numbers, i, steps - 1);
		status = query_grow(m->snapshot, &runs, count, &capacity, sizeof(*runs));
		if (status == HG_OK)
			runs[count++] = run;
		i += run.period * run.times;
	}
	if (status == HG_OK && !runs)
		status = query_alloc(m->snapshot, 0, sizeof(*runs), (void **)&runs);
	if (status != HG_OK) {
		free(runs);
		return status;
	}
	out->runs_count = count;
	return query_keep_rows(m->snapshot, out, runs, count, sizeof(*runs), &out->runs);
}

/* Slots of the stack and of C code, but for those that hang on blocks. */
static bool is_passing(const struct hg_snapshot *snapshot, hg_node node)
{
	const struct snap *snap = &snapshot->snap;
	const struct snap_root *root = &snap->roots[node - snap->block_count];
	return root->hold == SNAP_HOLD_ALWAYS &&
	       (root->kind == HG_ROOT_STACK || root->kind == HG_ROOT_LOCAL);
}

struct also_held {
	struct hg_also_held *rows;
	uint32_t *classes; /* of the rows */
	uint64_t count, capacity, class_capacity;
	struct base_map by_class;
};

static enum hg_status add_also_held(struct merger *m, hg_node node, struct also_held *also)
{
	uint32_t class;
	uint64_t at = also->count;
	bool is_new;
	struct hg_error *error = &m->snapshot->session->error;
	BASE_TRY(query_path_class_of_root(
		&m->classes, node - m->snapshot->snap.block_count, &class));
	BASE_TRY(query_grow(
		m->snapshot, &also->rows, also->count, &also->capacity, sizeof(*also->rows)));
	BASE_TRY(query_grow(m->snapshot, &also->classes, also->count, &also->class_capacity,
		sizeof(*also->classes)));
	BASE_TRY(base_map_add(&also->by_class, class, &at, &is_new, error));
	if (is_new) {
		also->rows[also->count] = (struct hg_also_held){.node = node};
		also->classes[also->count++] = class;
	}
	also->rows[at].roots++;
	return HG_OK;
}

/* What else leads to the explained block from the stacks, which hold it only for now. */
static enum hg_status find_also_held(struct merger *m, struct hg_why *out, struct also_held *also)
{
	struct hg_snapshot *snapshot = m->snapshot;
	const struct hg_info *info = &snapshot->info;
	uint32_t *roots, count;
	if (out->steps_count == 0 || !(info->roots[HG_ROOT_STACK] + info->roots[HG_ROOT_LOCAL]))
		return HG_OK;
	hg_node target = out->steps[out->steps_count - 1]->node;
	BASE_TRY(graph_paths_roots_to(m->paths, graph_paths_number(m->paths, target), &m->arena,
		&roots, &count, &snapshot->session->error));
	for (uint32_t i = 0; i < count; i++)
		if (roots[i] != out->steps[0]->node && is_passing(snapshot, roots[i]))
			BASE_TRY(add_also_held(m, roots[i], also));
	return HG_OK;
}

static enum hg_status keep_also_held(struct merger *m, struct also_held *also, struct hg_why *out)
{
	enum hg_status status = HG_OK;
	for (uint64_t i = 0; i < also->count; i++) {
		also->rows[i].name = m->names[also->classes[i]];
		out->also_held_roots += also->rows[i].roots;
	}
	if (!also->rows)
		status = query_alloc(m->snapshot, 0, sizeof(*also->rows), (void **)&also->rows);
	out->also_held_count = also->count;
	BASE_TRY(status);
	struct hg_also_held *rows = also->rows;
	also->rows = NULL;
	return query_keep_rows(m->snapshot, out, rows, also->count, sizeof(*rows), &out->also_held);
}

/* Names come when all classes have been met. */
static enum hg_status explain_merged(
	struct merger *m, const struct wanted *wanted, struct also_held *also, struct hg_why *out)
{
	BASE_TRY(allocate_merger(m));
	mark_on_paths(m, wanted, out);
	BASE_TRY(fill_path_classes(m));
	BASE_TRY(merge_paths(m, wanted));
	BASE_TRY(add_steps(m->snapshot, m->paths, largest_wanted(m->snapshot, wanted), out));
	BASE_TRY(add_runs(m, out));
	BASE_TRY(find_also_held(m, out, also));
	BASE_TRY(keep_names(m, out));
	BASE_TRY(keep_also_held(m, also, out));
	return order_rows(m, out);
}

static enum hg_status explain_paths(struct hg_snapshot *snapshot, const struct graph_paths *paths,
	const struct wanted *wanted, struct hg_why *out)
{
	struct merger m = {.snapshot = snapshot, .paths = paths};
	struct also_held also = {0};
	BASE_TRY(base_arena_init(
		&m.arena, &snapshot->session->budget, "merged paths", &snapshot->session->error));
	enum hg_status status = explain_merged(&m, wanted, &also, out);
	base_arena_release(&m.arena);
	free(m.groups);
	base_map_release(&m.by_holder);
	query_path_classes_release(&m.classes);
	free(also.rows);
	free(also.classes);
	base_map_release(&also.by_class);
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
