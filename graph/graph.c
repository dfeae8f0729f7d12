/*
 * The order of the analysis: rank, link, search, dominators, positions; and who leaves memory to
 * whom.
 */
#include "graph/graph.h"

#include "base/assert.h"
#include "base/bits.h"

#include "graph/compact.h"
#include "graph/dominators.h"
#include "graph/search.h"
#include "graph/strong.h"
#include "snapshot/mark.h"
#include "snapshot/offheap.h"

#include <stdlib.h>

#define ALLOC(graph, count, array, error)                                                          \
	BASE_TRY(base_arena_alloc(                                                                 \
		&(graph)->arena, (count), sizeof(*(array)), (void **)&(array), (error)))
#define ZALLOC(graph, count, array, error)                                                         \
	BASE_TRY(base_arena_zalloc(                                                                \
		&(graph)->arena, (count), sizeof(*(array)), (void **)&(array), (error)))

static enum hg_status search_compact(struct graph *g, struct graph_search *search,
	struct graph_compact *compact, struct graph_dangling *dangling, struct hg_error *error)
{
	BASE_TRY(base_progress(g->snap->session, "linking", 0, 0));
	g->census = g->snap->strays;
	BASE_TRY(graph_compact_build(compact, g->snap, &g->arena, &g->census, dangling, error));
	BASE_TRY(graph_strong_ephemerons(compact, g->snap, &g->arena, error));
	BASE_TRY(base_progress(g->snap->session, "searching", 0, g->snap->block_count));
	return graph_search_run(search, compact, g->node_count, &g->arena, error);
}

/*
 * Memory that one step leaves serves the next ones: nothing is cheaper than pages that are
 * there already.  The compact graph becomes the forest of the dominators, then dominators and sizes
 * of subtrees side by side, and in the end the sums of bytes, which stay.
 */
static enum hg_status search_heap(
	struct graph *g, struct graph_search *search, void **scratch, struct hg_error *error)
{
	struct graph_compact compact;
	struct graph_dangling dangling = {0};
	enum hg_status status = search_compact(g, search, &compact, &dangling, error);
	for (uint64_t i = 0; i < dangling.count && status == HG_OK; i++)
		g->dangling_reached += compact.words[dangling.slots[i]] >> 31;
	free(dangling.slots);
	base_assert(g->dangling_reached <= dangling.count);
	BASE_TRY(status);
	_Static_assert(sizeof(*g->bytes) == GRAPH_SCRATCH, "the sums take the place of the forest");
	uint64_t needed = ((uint64_t)search->count + 1) * GRAPH_SCRATCH;
	if (compact.count * sizeof(*compact.words) >= needed) {
		base_arena_shrink(&g->arena, compact.words, needed);
		*scratch = compact.words;
		return HG_OK;
	}
	base_arena_free(&g->arena, compact.words);
	return base_arena_alloc(
		&g->arena, (uint64_t)search->count + 1, GRAPH_SCRATCH, scratch, error);
}

/* Where the search leaves its arrays to the steps after it; all have 4 bytes per live node. */
struct spare {
	uint32_t *parent, *first, *semi;
};

/* The list of edges, once sorted, is room for the semidominators if it is long enough. */
static enum hg_status take_edges(
	struct graph *g, struct graph_search *search, uint32_t **semi, struct hg_error *error)
{
	uint64_t bytes = (uint64_t)search->count * sizeof(**semi);
	base_arena_free(&g->arena, search->edge_to);
	if (search->edge_capacity >= search->count) {
		*semi = (uint32_t *)search->edge_from;
		base_arena_shrink(&g->arena, *semi, bytes);
		return base_arena_touch(&g->arena, *semi, bytes, error);
	}
	base_arena_free(&g->arena, search->edge_from);
	return base_arena_alloc(&g->arena, search->count, sizeof(**semi), (void **)semi, error);
}

/* Immediate dominators in preorder, in the first half of the scratch. */
static enum hg_status find_idoms(struct graph *g, struct graph_search *search, void *scratch,
	struct graph_preorder **idom, struct spare *spare, struct hg_error *error)
{
	struct graph_preorder *sources;
	BASE_TRY(base_progress(g->snap->session, "grouping", 0, 0));
	ZALLOC(g, (uint64_t)search->count + 1, spare->first, error);
	ALLOC(g, search->edge_count, sources, error);
	graph_group_edges(search->count, search->edge_count, search->edge_from, search->edge_to,
		spare->first, sources);
	BASE_TRY(take_edges(g, search, &spare->semi, error));
	BASE_TRY(base_progress(g->snap->session, "dominators", 0, 0));
	struct graph_flow flow = {search->count, search->parent, spare->first, sources};
	BASE_TRY(graph_dominators(
		&flow, GRAPH_METHOD_ADAPTIVE, scratch, spare->semi, &g->arena, idom, error));
	base_arena_free(&g->arena, sources);
	spare->parent = (uint32_t *)search->parent;
	return HG_OK;
}

/* Nodes in each subtree: children come after their dominators in preorder. */
static void count_subtrees(uint32_t count, const struct graph_preorder *idom, uint32_t *subtree)
{
	for (uint32_t v = 0; v < count; v++)
		subtree[v] = 1;
	for (uint32_t v = count - 1; v > 0; v--)
		subtree[idom[v].n] += subtree[v];
	base_assert(subtree[0] == count);
}

/*
 * Gives each node its position, inside the interval of its dominator: children fill it from its
 * end, and 'subtree' counts down to what is left of it.
 */
static void number_positions(struct graph *g, const struct graph_preorder *idom, uint32_t *subtree,
	struct graph_position *position)
{
	position[0].n = 0;
	g->idom[0].n = 0;
	g->extent[0] = subtree[0];
	for (uint32_t v = 1; v < g->live_count; v++) {
		uint32_t d = idom[v].n, above = position[d].n, size = subtree[v];
		uint32_t left = subtree[d] - size, at = above + left;
		subtree[d] = left;
		base_assert(d < v && above < at && at + size <= above + g->extent[above]);
		position[v].n = at;
		g->idom[at].n = above;
		g->extent[at] = size;
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
		base_assert(v.n == GRAPH_NONE || v.n < g->live_count);
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
	/* What the virtual root retains is all that is reachable. */
	base_assert(graph_retained(g, (struct graph_position){0}) == g->bytes[search->count]);
}

/* Renumbers from preorder to positions and sums up, all of it in spare memory. */
static void finalise_positions(struct graph *g, struct graph_search *search,
	struct graph_preorder *idom, const struct spare *spare)
{
	uint32_t count = search->count;
	uint32_t *subtree = (uint32_t *)idom + count;
	struct graph_position *position = (struct graph_position *)spare->parent;
	g->live_count = count;
	g->idom = (struct graph_position *)spare->first;
	g->extent = spare->semi;
	count_subtrees(count, idom, subtree);
	number_positions(g, idom, subtree, position);
	g->bytes = (uint64_t *)idom;
	sum_bytes(g, search, position);
	base_arena_free(&g->arena, search->size);
	g->position = renumber_nodes(g, search->preorder, position);
	base_arena_free(&g->arena, position);
}

static bool reaches_rank(const void *graph, uint32_t rank)
{
	return graph_reaches(((const struct graph *)graph)->position[rank]);
}

static enum hg_status sum_offheap(struct graph *g, struct hg_error *error)
{
	const struct snap *snap = g->snap;
	BASE_TRY(snap_settle_offheap(g->snap, reaches_rank, g, error));
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

static enum hg_status analyse_graph(
	struct graph *g, struct graph_search *search, struct hg_error *error)
{
	struct graph_preorder *idom;
	struct spare spare;
	void *scratch;
	struct hg_session *session = g->snap->session;
	BASE_TRY(base_progress(session, "ranking", 0, 0));
	BASE_TRY(snap_rank_blocks(g->snap, error));
	g->node_count = snap_virtual_root(g->snap) + 1;
	BASE_TRY(search_heap(g, search, &scratch, error));
	BASE_TRY(find_idoms(g, search, scratch, &idom, &spare, error));
	BASE_TRY(base_progress(session, "summing", 0, 0));
	finalise_positions(g, search, idom, &spare);
	return sum_offheap(g, error);
}

enum hg_status graph_open(struct graph *g, struct snap *snap, struct hg_error *error)
{
	*g = (struct graph){.snap = snap};
	BASE_TRY(base_arena_init(&g->arena, &snap->session->budget, "dominators", error));
	struct graph_search search = {0};
	enum hg_status status = analyse_graph(g, &search, error);
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

enum hg_status graph_unreached(
	const struct graph *g, struct base_arena *arena, uint64_t **out, struct hg_error *error)
{
	uint64_t rank = 0, count = g->snap->block_count;
	*out = NULL;
	while (rank < count && graph_reaches(g->position[rank]))
		rank++;
	if (rank == count)
		return HG_OK;
	BASE_TRY(base_arena_zalloc(
		arena, base_bit_words(count), sizeof(**out), (void **)out, error));
	for (; rank < count; rank++)
		if (!graph_reaches(g->position[rank]))
			base_bit_set(*out, rank);
	return HG_OK;
}
