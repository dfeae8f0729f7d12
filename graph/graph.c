#include "graph/graph.h"

#include "graph/compact.h"
#include "graph/dominators.h"
#include "graph/search.h"

#include <stdlib.h>

#define ALLOC(graph, count, array, error)                                                          \
	BASE_TRY(base_arena_alloc(                                                                 \
		&(graph)->arena, (count), sizeof(*(array)), (void **)&(array), (error)))
#define ZALLOC(graph, count, array, error)                                                         \
	BASE_TRY(base_arena_zalloc(                                                                \
		&(graph)->arena, (count), sizeof(*(array)), (void **)&(array), (error)))

/*
 * Reachability: builds the compact graph and searches it.  Its memory, 10 bytes per block, is kept
 * as the scratch of the dominators, which would need as much anew.
 */
static enum hg_status search_heap(
	struct graph *g, struct graph_search *search, void **scratch, struct hg_error *error)
{
	struct graph_compact compact;
	BASE_TRY(base_progress(g->snap->session, "linking", 0, 0));
	g->census = g->snap->strays;
	BASE_TRY(graph_compact_build(&compact, g->snap, &g->arena, &g->census, error));
	BASE_TRY(base_progress(g->snap->session, "searching", 0, g->snap->block_count));
	BASE_TRY(graph_search_run(search, &compact, g->node_count, &g->arena, error));
	uint64_t needed = (uint64_t)search->count * GRAPH_SCRATCH;
	if (compact.count * sizeof(*compact.words) >= needed) {
		base_arena_shrink(&g->arena, compact.words, needed);
		*scratch = compact.words;
		return HG_OK;
	}
	base_arena_free(&g->arena, compact.words);
	return base_arena_alloc(&g->arena, search->count, GRAPH_SCRATCH, scratch, error);
}

/* Immediate dominators in preorder; frees all of the search but sizes and numbers. */
static enum hg_status find_dominators(struct graph *g, struct graph_search *search, void *scratch,
	struct graph_preorder **idom, struct hg_error *error)
{
	uint32_t *first;
	struct graph_preorder *sources;
	BASE_TRY(base_progress(g->snap->session, "grouping", 0, 0));
	ZALLOC(g, (uint64_t)search->count + 1, first, error);
	ALLOC(g, search->edge_count, sources, error);
	graph_group_edges(search->count, search->edge_count, search->edge_from, search->edge_to,
		first, sources);
	base_arena_free(&g->arena, search->edge_from);
	base_arena_free(&g->arena, search->edge_to);
	BASE_TRY(base_progress(g->snap->session, "dominators", 0, 0));
	struct graph_flow flow = {search->count, search->parent, first, sources};
	BASE_TRY(graph_dominators(&flow, GRAPH_METHOD_ADAPTIVE, scratch, &g->arena, idom, error));
	base_arena_free(&g->arena, sources);
	base_arena_free(&g->arena, first);
	base_arena_free(&g->arena, search->parent);
	return HG_OK;
}

/* Nodes in each subtree: children come after their dominators in preorder. */
static void count_subtrees(uint32_t count, const struct graph_preorder *idom, uint32_t *subtree)
{
	for (uint32_t v = 0; v < count; v++)
		subtree[v] = 1;
	for (uint32_t v = count - 1; v > 0; v--)
		subtree[idom[v].n] += subtree[v];
}

/* Gives each node its place: behind its dominator and the subtrees of earlier siblings. */
static void place(uint32_t count, const struct graph_preorder *idom, const uint32_t *subtree,
	uint32_t *next, struct graph_position *position)
{
	position[0].n = 0;
	next[0] = 1;
	for (uint32_t v = 1; v < count; v++) {
		uint32_t at = next[idom[v].n];
		position[v].n = at;
		next[idom[v].n] = at + subtree[v];
		next[v] = at + 1;
	}
}

/* The numbers of nodes become positions where they stand: one array less. */
static struct graph_position *renumber_nodes(const struct graph *g, struct graph_preorder *preorder,
	const struct graph_position *position)
{
	_Static_assert(sizeof(*preorder) == sizeof(*position), "renumbered in place");
	struct graph_position *of_node = (struct graph_position *)preorder;
	for (uint32_t node = 0; node < g->node_count; node++) {
		struct graph_preorder v = preorder[node];
		of_node[node].n = v.n == GRAPH_NONE ? GRAPH_NONE : position[v.n].n;
	}
	return of_node;
}

static void sum_bytes(
	struct graph *g, const struct graph_search *search, const struct graph_position *position)
{
	g->bytes[0] = 0;
	for (uint32_t v = 0; v < search->count; v++)
		g->bytes[position[v].n + 1] = 8 * graph_search_words(search, v);
	for (uint32_t p = 0; p < search->count; p++)
		g->bytes[p + 1] += g->bytes[p];
}

/* Renumbers from preorder to positions and sums up. */
static enum hg_status settle(struct graph *g, struct graph_search *search,
	struct graph_preorder *idom, struct hg_error *error)
{
	uint32_t count = search->count;
	uint32_t *subtree, *next;
	struct graph_position *position;
	ALLOC(g, count, subtree, error);
	ALLOC(g, count, position, error);
	ALLOC(g, count, next, error);
	count_subtrees(count, idom, subtree);
	place(count, idom, subtree, next, position);
	/* What comes next is not needed any more: dominators take its place. */
	g->idom = (struct graph_position *)next;
	ALLOC(g, count, g->extent, error);
	for (uint32_t v = 0; v < count; v++) {
		g->idom[position[v].n] = position[idom[v].n];
		g->extent[position[v].n] = subtree[v];
	}
	base_arena_free(&g->arena, idom);
	base_arena_free(&g->arena, subtree);
	ALLOC(g, (uint64_t)count + 1, g->bytes, error);
	sum_bytes(g, search, position);
	base_arena_free(&g->arena, search->size);
	g->position = renumber_nodes(g, search->preorder, position);
	base_arena_free(&g->arena, position);
	g->live_count = count;
	return HG_OK;
}

static enum hg_status sum_offheap(struct graph *g, struct hg_error *error)
{
	const struct snap *snap = g->snap;
	if (snap->offheap_count == 0)
		return HG_OK;
	ZALLOC(g, (uint64_t)g->live_count + 1, g->offheap, error);
	for (uint64_t i = 0; i < snap->offheap_count; i++) {
		struct graph_position p = g->position[snap->offheap[i].rank];
		if (graph_reaches(p))
			g->offheap[p.n + 1] += snap->offheap[i].bytes;
	}
	for (uint32_t p = 0; p < g->live_count; p++)
		g->offheap[p + 1] += g->offheap[p];
	return HG_OK;
}

static enum hg_status analyse(struct graph *g, struct graph_search *search, struct hg_error *error)
{
	struct graph_preorder *idom;
	void *scratch;
	struct hg_session *session = g->snap->session;
	BASE_TRY(base_progress(session, "ranking", 0, 0));
	BASE_TRY(snap_rank(g->snap, error));
	BASE_TRY(search_heap(g, search, &scratch, error));
	BASE_TRY(find_dominators(g, search, scratch, &idom, error));
	BASE_TRY(base_progress(session, "summing", 0, 0));
	BASE_TRY(settle(g, search, idom, error));
	return sum_offheap(g, error);
}

enum hg_status graph_open(struct graph *g, struct snap *snap, struct hg_error *error)
{
	*g = (struct graph){.snap = snap, .node_count = snap_virtual_root(snap) + 1};
	BASE_TRY(base_arena_init(&g->arena, &snap->session->budget, "dominators", error));
	struct graph_search search = {0};
	enum hg_status status = analyse(g, &search, error);
	graph_search_release(&search);
	if (status != HG_OK)
		graph_close(g);
	return status;
}

void graph_close(struct graph *g)
{
	base_arena_release(&g->arena);
	*g = (struct graph){0};
}

enum hg_status graph_nodes(struct graph *g, struct hg_error *error)
{
	if (g->node)
		return HG_OK;
	ALLOC(g, g->live_count, g->node, error);
	for (uint32_t node = 0; node < g->node_count; node++)
		if (graph_reaches(g->position[node]))
			g->node[g->position[node].n] = node;
	return HG_OK;
}
