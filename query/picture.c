/*
 * The part of the dominator tree worth drawing: the nodes that retain most, which form a subtree
 * because a dominator retains at least what its children do; the rest folded below its parent; and
 * the references among the nodes drawn.
 */
#include "query/shared/children.h"
#include "query/shared/result.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 80, LONG_RUN = 100 };

/* A node that may still be drawn: child of one that is. */
struct candidate {
	struct graph_position position;
	uint32_t parent; /* in the nodes drawn */
	uint32_t run;    /* holders in a row, each of which is mostly this */
};

struct painter {
	struct hg_snapshot *snapshot;
	uint32_t max_nodes;
	uint64_t min_bytes;
	struct hg_picture_node *nodes;
	uint64_t node_count, node_capacity;
	struct hg_picture_edge *edges;
	uint64_t edge_count, edge_capacity;
	struct graph_position *positions; /* of the nodes drawn */
	struct candidate *heap;           /* the largest on top */
	uint64_t heap_count, heap_capacity;
};

/*
 * A list is a run of nodes that each retain most of what the one before does: it must not take the
 * places of all that retains less than its end.
 */
static bool is_larger(const struct painter *p, const struct candidate *a, const struct candidate *b)
{
	if ((a->run > LONG_RUN) != (b->run > LONG_RUN))
		return b->run > LONG_RUN;
	return query_by_retained(p->snapshot, a->position, b->position) < 0;
}

static void swap_candidates(struct candidate *a, struct candidate *b)
{
	struct candidate other = *a;
	*a = *b;
	*b = other;
}

static enum hg_status offer_node(struct painter *p, struct graph_position position,
	const struct candidate *holder, uint32_t parent)
{
	const struct graph *g = &p->snapshot->graph;
	bool most = holder &&
		    graph_retained(g, position) >= graph_retained(g, holder->position) / 10 * 7;
	uint32_t run = most ? holder->run + 1 : 0;
	BASE_TRY(query_grow(
		p->snapshot, &p->heap, p->heap_count, &p->heap_capacity, sizeof(*p->heap)));
	uint64_t at = p->heap_count++;
	p->heap[at] = (struct candidate){position, parent, run};
	for (; at > 0 && is_larger(p, &p->heap[at], &p->heap[(at - 1) / 2]); at = (at - 1) / 2)
		swap_candidates(&p->heap[at], &p->heap[(at - 1) / 2]);
	return HG_OK;
}

static struct candidate take_largest(struct painter *p)
{
	base_assert(p->heap_count > 0);
	struct candidate top = p->heap[0];
	p->heap[0] = p->heap[--p->heap_count];
	for (uint64_t at = 0;;) {
		uint64_t best = at;
		for (uint64_t child = 2 * at + 1; child <= 2 * at + 2; child++)
			if (child < p->heap_count && is_larger(p, &p->heap[child], &p->heap[best]))
				best = child;
		if (best == at)
			return top;
		swap_candidates(&p->heap[at], &p->heap[best]);
		at = best;
	}
}

static enum hg_status add_edge(struct painter *p, uint32_t from, uint32_t to,
	enum hg_picture_edge_kind kind, uint64_t field)
{
	base_assert(from < p->node_count && to < p->node_count);
	BASE_TRY(query_grow(
		p->snapshot, &p->edges, p->edge_count, &p->edge_capacity, sizeof(*p->edges)));
	p->edges[p->edge_count++] = (struct hg_picture_edge){from, to, kind, field};
	return HG_OK;
}

static enum hg_status add_node(struct painter *p, const struct hg_picture_node *node)
{
	BASE_TRY(query_grow(
		p->snapshot, &p->nodes, p->node_count, &p->node_capacity, sizeof(*p->nodes)));
	p->nodes[p->node_count++] = *node;
	return HG_OK;
}

/* Draws a node and offers its children. */
static enum hg_status draw_node(struct painter *p, struct candidate c)
{
	const struct graph *g = &p->snapshot->graph;
	struct hg_block block;
	struct query_children children;
	uint32_t self = (uint32_t)p->node_count;
	hg_node node = query_node(p->snapshot, c.position);
	query_block(p->snapshot, node, &block);
	base_assert(self < p->max_nodes && c.position.n < g->live_count);
	p->positions[self] = c.position;
	BASE_TRY(add_node(p, &(struct hg_picture_node){.node = node,
				     .bytes = block.bytes,
				     .retained_bytes = graph_retained(g, c.position),
				     .location = block.location,
				     .type = block.type}));
	BASE_TRY(query_children_open(
		&children, p->snapshot, c.position, p->max_nodes, p->min_bytes));
	enum hg_status status = HG_OK;
	for (uint64_t i = 0; i < children.shown && status == HG_OK; i++)
		status = offer_node(p, children.positions[i], &c, self);
	query_children_release(&children);
	return status;
}

/* The location or type that retains most among nodes folded below one parent. */
struct tally {
	uint32_t key;
	uint64_t bytes;
};

static int compare_keys(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;
	return (x->key > y->key) - (x->key < y->key);
}

/* 0 if none has at least half of 'whole'. */
static uint32_t find_main_key(struct tally *tallies, uint64_t count, uint64_t whole)
{
	uint32_t best = 0;
	uint64_t best_bytes = 0, sum = 0;
	qsort(tallies, count, sizeof(*tallies), compare_keys);
	for (uint64_t i = 0; i < count; i++) {
		sum += tallies[i].bytes;
		bool last = i + 1 == count || tallies[i + 1].key != tallies[i].key;
		if (last && sum > best_bytes) {
			best = tallies[i].key;
			best_bytes = sum;
		}
		if (last)
			sum = 0;
	}
	return 2 * best_bytes >= whole ? best : 0;
}

static bool is_drawn(const struct painter *p, uint32_t nodes, struct graph_position position)
{
	for (uint32_t i = 0; i < nodes; i++)
		if (p->positions[i].n == position.n)
			return true;
	return false;
}

/* Locations and types are looked up for so many folded nodes at most: a label needs no more. */
enum { MOST_TALLIES = 4096 };

/* Folds the children of a drawn node that are not drawn themselves. */
static enum hg_status fold_children(struct painter *p, uint32_t self, uint32_t nodes)
{
	const struct graph *g = &p->snapshot->graph;
	struct graph_position top = p->positions[self];
	struct hg_picture_node group = {.node = HG_NO_NODE};
	struct tally *locations, *types;
	uint64_t tallied = 0;
	BASE_TRY(query_alloc(
		p->snapshot, 2 * MOST_TALLIES, sizeof(*locations), (void **)&locations));
	types = locations + MOST_TALLIES;
	for (struct graph_position c = graph_first_child(g, top); graph_reaches(c);
		c = graph_next_child(g, top, c)) {
		if (graph_retained(g, c) >= p->min_bytes && is_drawn(p, nodes, c))
			continue;
		group.folded++;
		group.retained_bytes += graph_retained(g, c);
		if (tallied < MOST_TALLIES &&
			query_node(p->snapshot, c) < p->snapshot->snap.block_count) {
			struct hg_block block;
			query_block(p->snapshot, query_node(p->snapshot, c), &block);
			locations[tallied] = (struct tally){block.location, block.retained_bytes};
			types[tallied++] = (struct tally){block.type, block.retained_bytes};
		}
	}
	group.location = find_main_key(locations, tallied, group.retained_bytes);
	group.type = find_main_key(types, tallied, group.retained_bytes);
	free(locations);
	base_assert(group.retained_bytes <= graph_retained(g, top));
	if (group.folded == 0)
		return HG_OK;
	uint32_t at = (uint32_t)p->node_count;
	BASE_TRY(add_node(p, &group));
	return add_edge(p, self, at, HG_EDGE_DOMINATES, HG_UNKNOWN);
}

struct drawn {
	hg_node node;
	uint32_t at;
	bool met; /* as a target of the block being read */
};

static int compare_nodes(const void *a, const void *b)
{
	const struct drawn *x = a, *y = b;
	return (x->node > y->node) - (x->node < y->node);
}

static struct drawn *find_drawn(struct drawn *drawn, uint32_t count, hg_node node)
{
	struct drawn wanted = {.node = node};
	return node == HG_NO_NODE ? NULL
				  : bsearch(&wanted, drawn, count, sizeof(*drawn), compare_nodes);
}

static enum hg_status draw_reference(
	struct painter *p, uint32_t from, struct drawn *to, const uint32_t *parents, uint64_t field)
{
	if (!to || to->met || to->at == from)
		return HG_OK;
	to->met = true;
	bool holds = parents[to->at] == from;
	return add_edge(p, from, to->at, holds ? HG_EDGE_HOLDS : HG_EDGE_REFERS, field);
}

/* Pointers from one drawn node to others; what it dominates without one is joined too. */
static enum hg_status connect_node(struct painter *p, uint32_t self, struct drawn *drawn,
	uint32_t count, const uint32_t *parents)
{
	const struct snap *snap = &p->snapshot->snap;
	hg_node node = p->nodes[self].node;
	struct snap_cell cell;
	for (uint32_t i = 0; i < count; i++)
		drawn[i].met = false;
	if (node < snap->block_count &&
		snap_block(&p->snapshot->lookup, (struct snap_rank){node}, &cell)) {
		for (uint64_t j = 0; j < cell.field_count; j++) {
			hg_node target = snap_resolve_node(snap, cell.fields[j]);
			BASE_TRY(draw_reference(
				p, self, find_drawn(drawn, count, target), parents, j));
		}
	} else if (node >= snap->block_count && node != snap_virtual_root(snap)) {
		hg_node target =
			snap_resolve_node(snap, snap->roots[node - snap->block_count].value);
		struct drawn *to = find_drawn(drawn, count, target);
		BASE_TRY(draw_reference(p, self, to, parents, HG_UNKNOWN));
	}
	uint64_t link, end;
	for (snap_links(snap, node, &link, &end); link < end; link++)
		BASE_TRY(draw_reference(p, self, find_drawn(drawn, count, snap->links[link].to),
			parents, HG_UNKNOWN));
	for (uint32_t i = 0; i < count; i++) {
		if (drawn[i].met || parents[drawn[i].at] != self || drawn[i].at == self)
			continue;
		/* The virtual root holds all roots, without fields. */
		bool root = drawn[i].node >= snap->block_count;
		BASE_TRY(add_edge(p, self, drawn[i].at, root ? HG_EDGE_HOLDS : HG_EDGE_DOMINATES,
			HG_UNKNOWN));
	}
	return HG_OK;
}

static enum hg_status connect_nodes(struct painter *p, uint32_t count, const uint32_t *parents)
{
	struct drawn *drawn;
	BASE_TRY(query_alloc(p->snapshot, count, sizeof(*drawn), (void **)&drawn));
	for (uint32_t i = 0; i < count; i++)
		drawn[i] = (struct drawn){p->nodes[i].node, i, false};
	qsort(drawn, count, sizeof(*drawn), compare_nodes);
	enum hg_status status = HG_OK;
	for (uint32_t i = 0; i < count && status == HG_OK; i++)
		status = connect_node(p, i, drawn, count, parents);
	free(drawn);
	return status;
}

static enum hg_status paint_picture(struct painter *p, struct graph_position top, uint32_t *parents)
{
	BASE_TRY(offer_node(p, top, NULL, 0));
	while (p->heap_count && p->node_count < p->max_nodes) {
		struct candidate c = take_largest(p);
		parents[p->node_count] = c.parent;
		BASE_TRY(draw_node(p, c));
	}
	uint32_t count = (uint32_t)p->node_count;
	BASE_TRY(connect_nodes(p, count, parents));
	for (uint32_t i = 0; i < count; i++)
		BASE_TRY(fold_children(p, i, count));
	return HG_OK;
}

/* What was drawn becomes the result's, or goes if it is not whole. */
static enum hg_status give_picture(struct painter *p, enum hg_status status, struct hg_picture *out)
{
	if (status != HG_OK) {
		free(p->nodes);
		free(p->edges);
		return status;
	}
	out->nodes_count = p->node_count;
	out->edges_count = p->edge_count;
	status = query_keep_rows(
		p->snapshot, out, p->nodes, p->node_count, sizeof(*p->nodes), &out->nodes);
	enum hg_status edges = query_keep_rows(
		p->snapshot, out, p->edges, p->edge_count, sizeof(*p->edges), &out->edges);
	return status == HG_OK ? edges : status;
}

static enum hg_status paint_all(struct hg_snapshot *snapshot,
	const struct hg_picture_options *options, struct hg_picture *out)
{
	struct hg_picture_options o = {.from = HG_NO_NODE};
	struct painter p = {.snapshot = snapshot};
	uint32_t *parents = NULL;
	if (options)
		memcpy(&o, options, options->size < sizeof(o) ? options->size : sizeof(o));
	BASE_TRY(graph_nodes(&snapshot->graph, &snapshot->session->error));
	struct graph_position top = {0};
	if (o.from != HG_NO_NODE)
		top = query_position(snapshot, o.from);
	if (!graph_reaches(top))
		return base_fail(&snapshot->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"the block is not reachable, so it is not in the dominator tree");
	p.max_nodes = o.max_nodes ? o.max_nodes : MOST_NODES;
	if (p.max_nodes > snapshot->graph.node_count)
		p.max_nodes = (uint32_t)snapshot->graph.node_count;
	p.min_bytes = o.min_bytes;
	out->total_bytes = graph_retained(&snapshot->graph, (struct graph_position){0});
	enum hg_status status =
		query_alloc(snapshot, p.max_nodes, sizeof(*p.positions), (void **)&p.positions);
	if (status == HG_OK)
		status = query_alloc(snapshot, p.max_nodes, sizeof(*parents), (void **)&parents);
	if (status == HG_OK)
		status = paint_picture(&p, top, parents);
	free(p.heap);
	free(p.positions);
	free(parents);
	return give_picture(&p, status, out);
}

enum hg_status hg_draw_picture(struct hg_snapshot *snapshot,
	const struct hg_picture_options *options, struct hg_picture **out)
{
	BASE_TRY(query_answer(snapshot, sizeof(**out), out));
	enum hg_status status = paint_all(snapshot, options, *out);
	if (status != HG_OK)
		query_free(out);
	return status;
}

void hg_picture_release(struct hg_picture **picture)
{
	query_free(picture);
}
