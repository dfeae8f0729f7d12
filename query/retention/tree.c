/* The retention tree: first a class for every live node, then, in the same array, its tree node. */
#include "query/retention/tree.h"

#include "base/assert.h"
#include "base/bits.h"
#include "query/shared/memprof.h"

#include <stdlib.h>
#include <string.h>

struct grower {
	struct query_retention *retention;
	struct hg_snapshot *snapshot;
	const struct graph *graph;
	const uint64_t *selected;
	bool in_series;
	struct hg_error *error;
	struct query_recent recent; /* of by_class */
	uint32_t deeper;            /* the class of what lies deeper than paths go: 0 */
};

/* Classes of live blocks that wait for being written where their positions are. */
enum { BATCH = 256 };
struct batch {
	unsigned count;
	uint32_t position[BATCH], class[BATCH];
};

/* Nothing but misses of the cache, as many at a time as the machine has room for. */
static void write_batch(struct batch *batch, uint32_t *of_position)
{
	for (unsigned i = 0; i < batch->count; i++)
		of_position[batch->position[i]] = batch->class[i];
	batch->count = 0;
}

static enum hg_status classify_run(
	struct grower *g, const struct snap_run *run, uint32_t *rank, struct batch *batch)
{
	const struct snap *snap = &g->snapshot->snap;
	const struct graph_position *position = g->graph->position;
	struct snap_scan scan = snap_scan_run(snap, run);
	struct snap_cell cell;
	for (; *rank < snap->block_count && snap_scan_next(&scan, &cell); ++*rank) {
		if (!graph_reaches(position[*rank]))
			continue;
		batch->position[batch->count] = position[*rank].n;
		BASE_TRY(query_path_class_of_block(
			&g->retention->classes, *rank, &cell, &batch->class[batch->count++]));
		if (batch->count == BATCH)
			write_batch(batch, g->retention->of_position);
	}
	return HG_OK;
}

/* Blocks in order of addresses. */
static enum hg_status classify_live_blocks(struct grower *g)
{
	struct snap *snap = &g->snapshot->snap;
	struct batch batch = {0};
	uint32_t rank = 0;
	struct snap_walk walk;
	struct snap_run run;
	enum hg_status status = HG_OK;
	BASE_TRY(snap_walk_init(&walk, snap, g->error));
	snap_walk_range(&walk, 0, snap->entry_count);
	while (status == HG_OK && snap_walk_next(&walk, &run))
		status = classify_run(g, &run, &rank, &batch);
	write_batch(&batch, g->retention->of_position);
	snap_walk_release(&walk);
	return status;
}

static enum hg_status classify_live_roots(struct grower *g)
{
	const struct snap *snap = &g->snapshot->snap;
	for (uint64_t i = 0; i < snap->root_count; i++) {
		struct graph_position p = g->graph->position[snap_root_node(snap, i)];
		if (graph_reaches(p))
			BASE_TRY(query_path_class_of_root(
				&g->retention->classes, i, &g->retention->of_position[p.n]));
	}
	return HG_OK;
}

static enum hg_status add_tree_node(
	struct grower *g, uint32_t parent, uint32_t class, uint32_t *out)
{
	struct query_retention *r = g->retention;
	BASE_TRY(query_grow(g->snapshot, &r->nodes, r->count, &r->capacity, sizeof(*r->nodes)));
	r->nodes[r->count] = (struct query_retention_node){
		.parent = parent,
		.class = class,
		.depth = r->count ? r->nodes[parent].depth + 1 : 0,
		.last_class = QUERY_NO_CLASS,
		.first_child = QUERY_NO_CLASS,
		.next_sibling = QUERY_NO_CLASS,
		.largest = GRAPH_NONE,
		.first = GRAPH_NONE,
		.any = GRAPH_NONE,
	};
	if (r->count) {
		r->nodes[r->count].next_sibling = r->nodes[parent].first_child;
		r->nodes[parent].first_child = r->count;
	}
	*out = r->count++;
	return HG_OK;
}

/* The node of this class on the path to a node, that one included; QUERY_NO_CLASS if none is. */
static uint32_t find_on_path(const struct query_retention *r, uint32_t node, uint32_t class)
{
	for (; node != 0; node = r->nodes[node].parent)
		if (r->nodes[node].class == class)
			return node;
	return QUERY_NO_CLASS;
}

/* Where blocks of a class belong that a block of some node dominates. */
static enum hg_status find_tree_node(
	struct grower *g, uint32_t above, uint32_t class, uint32_t *out)
{
	struct query_retention *r = g->retention;
	uint64_t key = (uint64_t)above << 32 | class;
	if (query_recent_get(&g->recent, key, out))
		return HG_OK;
	if (!base_map_number(&r->by_class, key, out)) {
		*out = find_on_path(r, above, class);
		if (*out == QUERY_NO_CLASS && r->nodes[above].depth >= QUERY_DEEPEST_PATH)
			*out = r->nodes[above].class == g->deeper ? above : QUERY_NO_CLASS;
		if (*out == QUERY_NO_CLASS) {
			bool deep = r->nodes[above].depth + 1 >= QUERY_DEEPEST_PATH;
			BASE_TRY(add_tree_node(g, above, deep ? g->deeper : class, out));
		}
		BASE_TRY(base_map_set(&r->by_class, key, *out, g->error));
	}
	base_assert(*out < r->count);
	query_recent_set(&g->recent, key, *out);
	r->nodes[above].last_class = class;
	r->nodes[above].last_child = *out;
	return HG_OK;
}

/* One of them, whichever it is, in every run of the program: the one with the smallest hash. */
static inline uint32_t hash_position(uint32_t position)
{
	return (position + 1) * UINT32_C(0x9e3779b1) ^ position >> 15;
}

static inline void add_example(
	struct query_retention_node *node, uint32_t position, uint64_t retained)
{
	uint32_t hash = hash_position(position);
	if (node->first == GRAPH_NONE) {
		node->first = position;
		node->any_hash = UINT32_MAX;
	}
	if (node->largest == GRAPH_NONE || retained > node->largest_bytes) {
		node->largest = position;
		node->largest_bytes = retained;
	}
	if (node->any == GRAPH_NONE || hash < node->any_hash) {
		node->any = position;
		node->any_hash = hash;
	}
}

static inline void add_to_node(struct grower *g, uint32_t number, struct graph_position p)
{
	struct query_retention *r = g->retention;
	struct query_retention_node *node = &r->nodes[number];
	const struct graph *graph = g->graph;
	uint64_t retained = graph_retained(graph, p);
	node->blocks += !r->classes.all[node->class].is_root;
	node->bytes += graph_shallow(graph, p);
	if (graph->offheap) {
		node->offheap += graph->offheap[p.n + 1] - graph->offheap[p.n];
		retained += graph->offheap[p.n + graph->extent[p.n]] - graph->offheap[p.n];
	}
	add_example(node, p.n, retained);
}

/* The node that a live one belongs to: below, or at, that of its immediate dominator. */
static inline enum hg_status place_position(struct grower *g, uint32_t p)
{
	struct query_retention *r = g->retention;
	uint32_t class = r->of_position[p], above = r->of_position[g->graph->idom[p].n], node;
	if (g->selected && above == QUERY_NO_CLASS) {
		r->of_position[p] = QUERY_NO_CLASS;
		if (!base_bit(g->selected, p))
			return HG_OK;
		above = 0;
	}
	if (r->nodes[above].last_class == class)
		node = r->nodes[above].last_child;
	else
		BASE_TRY(find_tree_node(g, above, class, &node));
	r->of_position[p] = node;
	add_to_node(g, node, (struct graph_position){p});
	return HG_OK;
}

/* Dominators come before what they dominate, in positions as in nodes. */
static enum hg_status place_positions(struct grower *g)
{
	struct query_retention *r = g->retention;
	uint32_t top;
	BASE_TRY(add_tree_node(g, 0, g->deeper, &top));
	r->of_position[0] = g->selected && !base_bit(g->selected, 0) ? QUERY_NO_CLASS : 0;
	for (uint32_t p = 1; p < g->graph->live_count; p++)
		BASE_TRY(place_position(g, p));
	return HG_OK;
}

static void sum_retained(struct query_retention *r)
{
	for (uint32_t i = r->count; i-- > 0;) {
		struct query_retention_node *node = &r->nodes[i];
		node->retained += node->bytes;
		node->retained_offheap += node->offheap;
		if (i == 0)
			break;
		base_assert(node->parent < i);
		r->nodes[node->parent].retained += node->retained;
		r->nodes[node->parent].retained_offheap += node->retained_offheap;
	}
}

static enum hg_status grow_retention(struct grower *g)
{
	struct query_retention *r = g->retention;
	struct hg_session *session = g->snapshot->session;
	BASE_TRY(base_progress(session, "merging", 0, 0));
	BASE_TRY(base_arena_zalloc(&r->arena, g->graph->live_count, sizeof(*r->of_position),
		(void **)&r->of_position, g->error));
	BASE_TRY(query_path_classes_init(&r->classes, g->snapshot));
	r->classes.in_series = g->in_series;
	BASE_TRY(query_path_class_named(&r->classes, "(deeper)", &g->deeper));
	/* Blocks of a file that has changed meanwhile may be missing: they are of class 0. */
	base_assert(g->deeper == 0);
	BASE_TRY(classify_live_blocks(g));
	BASE_TRY(classify_live_roots(g));
	BASE_TRY(place_positions(g));
	sum_retained(r);
	BASE_TRY(query_sampled_init(&r->sampled, g->snapshot, r->of_position));
	base_assert(g->selected || r->nodes[0].retained == g->graph->bytes[g->graph->live_count]);
	return HG_OK;
}

enum hg_status query_retention_open(struct query_retention *retention, struct hg_snapshot *snapshot,
	const uint64_t *selected, bool in_series)
{
	*retention = (struct query_retention){0};
	struct grower g = {.retention = retention,
		.snapshot = snapshot,
		.graph = &snapshot->graph,
		.selected = selected,
		.in_series = in_series,
		.error = &snapshot->session->error};
	BASE_TRY(base_arena_init(
		&retention->arena, &snapshot->session->budget, "retention tree", g.error));
	enum hg_status status = grow_retention(&g);
	if (status != HG_OK)
		query_retention_close(retention);
	return status;
}

void query_retention_close(struct query_retention *retention)
{
	query_path_classes_release(&retention->classes);
	query_sampled_release(&retention->sampled);
	base_pool_release(&retention->held_names);
	free(retention->held);
	free(retention->sharings);
	free(retention->nodes);
	base_map_release(&retention->by_class);
	base_arena_release(&retention->arena);
	*retention = (struct query_retention){0};
}

const char *query_retention_name(const struct query_retention *retention, uint32_t node)
{
	base_assert(node < retention->count);
	return node ? retention->classes.all[retention->nodes[node].class].name : "all roots";
}

bool query_retention_is_memprof(const struct query_retention *retention, uint32_t node)
{
	for (; node; node = retention->nodes[node].parent) {
		const struct query_path_class *class =
			&retention->classes.all[retention->nodes[node].class];
		bool is_record = strcmp(class->name, QUERY_MEMPROF_TYPE) == 0;
		if (is_record || (class->is_root && class->kind == HG_ROOT_MEMPROF))
			return true;
	}
	return false;
}
