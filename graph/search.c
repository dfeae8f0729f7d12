/* The depth-first search: one loop over a stack of edges, with what few nodes need beside it. */
#include "graph/search.h"

#include "base/assert.h"
#include "base/grow.h"
#include "snapshot/walk.h"

#include <stdlib.h>

enum { PROGRESS_NODES = 1 << 20 };

struct searcher {
	struct graph_search *search;
	struct graph_compact *compact;
	uint64_t *stack; /* parent << 32 | slot */
	uint64_t depth;
	uint64_t deepest;        /* entries of the stack that have been used */
	struct snap_walk lookup; /* for the sizes of huge blocks */
	enum snap_tier tier;     /* of the roots that are visited now */
	uint32_t floor;          /* number of the first of them: lower tiers have those below it */
	struct hg_error *error;
};

static void push_links_of_node(struct searcher *s, uint32_t v, struct snap_slot slot)
{
	const struct graph_compact *c = s->compact;
	uint64_t first, end;
	snap_links(c->snap, graph_compact_node(c, slot), &first, &end);
	for (uint64_t i = first; i < end; i++)
		s->stack[s->depth++] =
			(uint64_t)v << 32 | graph_compact_slot(c, c->snap->links[i].to).n;
}

/* Pushes the edges of a block, its first field on top; returns the depth. */
static inline uint64_t push_edges(
	uint64_t *stack, uint64_t depth, const uint32_t *words, uint32_t v, struct snap_slot slot)
{
	for (const uint32_t *edge = words + slot.n + 1;; edge++) {
		uint32_t target = *edge & GRAPH_TARGET;
		__builtin_prefetch(&words[target], 1);
		stack[depth] = (uint64_t)v << 32 | target;
		/* A field that leads nowhere points to its own block. */
		depth += target != slot.n;
		if (*edge & GRAPH_LAST)
			return depth;
	}
}

/* The label of a header is too small for the size: it is read from the heap. */
static enum hg_status read_huge_size(struct searcher *s, struct snap_slot slot, uint32_t *size)
{
	struct graph_search *search = s->search;
	struct snap_cell cell;
	struct snap_rank rank = {graph_compact_node(s->compact, slot)};
	if (!snap_block(&s->lookup, rank, &cell))
		return base_corrupt(s->error, HG_NO_OFFSET, "changed while it was read");
	uint64_t words = cell.wosize + 1;
	if (words < GRAPH_HUGE) {
		*size = (uint32_t)words;
		return HG_OK;
	}
	BASE_TRY(base_grow(&search->huge, search->huge_count, &search->huge_capacity,
		sizeof(*search->huge), s->error));
	*size = GRAPH_HUGE | (uint32_t)search->huge_count;
	search->huge[search->huge_count++] = words;
	return HG_OK;
}

/* The first root of a tier is visited when all that lower tiers reach has its number. */
static void enter_tier(struct searcher *s, uint32_t v, struct snap_slot slot)
{
	const struct snap *snap = s->compact->snap;
	const struct snap_root *root = graph_compact_root(s->compact, slot);
	if (!root || root->hold == SNAP_HOLD_BLOCK || snap_root_tier(snap, root) == s->tier)
		return;
	base_assert(snap_root_tier(snap, root) > s->tier);
	s->tier = snap_root_tier(snap, root);
	s->floor = v;
}

/* What few nodes need: a size read elsewhere, links besides the fields, the root of a new tier. */
static enum hg_status visit_special(
	struct searcher *s, uint32_t v, struct snap_slot slot, uint32_t header, uint32_t *size)
{
	if (*size == GRAPH_LABEL)
		BASE_TRY(read_huge_size(s, slot, size));
	if (header & GRAPH_LINKS)
		push_links_of_node(s, v, slot);
	if (slot.n >= s->compact->heap_slots)
		enter_tier(s, v, slot);
	return HG_OK;
}

/* Tells how far the search is, and accounts for what it has touched of arrays sized by a bound. */
static enum hg_status tell_search_progress(const struct searcher *s, uint32_t v, uint64_t edges)
{
	const struct snap *snap = s->compact->snap;
	struct graph_search *search = s->search;
	uint64_t bytes = edges * sizeof(*search->edge_from);
	BASE_TRY(base_arena_touch(search->arena, search->edge_from, bytes, s->error));
	BASE_TRY(base_arena_touch(search->arena, search->edge_to, bytes, s->error));
	BASE_TRY(base_arena_touch(
		search->arena, s->stack, s->deepest * sizeof(*s->stack), s->error));
	return base_progress(snap->session, "searching", v, snap_virtual_root(snap) + 1);
}

/*
 * The state of the loop is in locals: it runs once per edge.  An edge to a node of a lower tier is
 * written over by the next one.
 */
static enum hg_status search_all(struct searcher *s)
{
	struct graph_search *search = s->search;
	uint32_t *words = s->compact->words;
	struct graph_preorder *edge_from = search->edge_from, *edge_to = search->edge_to;
	uint64_t *stack = s->stack;
	uint64_t depth = 0, edges = 0;
	uint32_t v = 0, floor = 0;
	stack[depth++] = graph_compact_virtual_root(s->compact).n;
	while (depth) {
		uint64_t entry = stack[--depth];
		struct snap_slot slot = {(uint32_t)entry};
		uint32_t parent = (uint32_t)(entry >> 32);
		base_assert(slot.n < s->compact->count);
		uint32_t header = words[slot.n];
		if (header & GRAPH_VISITED) {
			uint32_t target = header & ~GRAPH_VISITED;
			edge_from[edges].n = parent;
			edge_to[edges].n = target;
			edges += target >= floor;
			continue;
		}
		base_assert(v == 0 || parent < v);
		uint32_t size = header & GRAPH_LABEL;
		words[slot.n] = GRAPH_VISITED | v;
		if (size == GRAPH_LABEL || (header & GRAPH_LINKS)) {
			s->depth = depth;
			BASE_TRY(visit_special(s, v, slot, header, &size));
			depth = s->depth;
			floor = s->floor;
		}
		search->parent[v].n = parent;
		search->size[v] = size;
		if (!(header & GRAPH_LEAF)) {
			depth = push_edges(stack, depth, words, v, slot);
			base_assert(depth <= search->edge_capacity);
			if (depth > s->deepest)
				s->deepest = depth;
		}
		if (++v % PROGRESS_NODES == 0)
			BASE_TRY(tell_search_progress(s, v, edges));
	}
	base_assert(v <= snap_virtual_root(s->compact->snap) + 1);
	base_assert(edges <= search->edge_capacity);
	search->count = v;
	search->edge_count = edges;
	return tell_search_progress(s, v, edges);
}

static struct graph_preorder preorder_of_header(uint32_t header)
{
	return (struct graph_preorder){
		header & GRAPH_VISITED ? header & ~GRAPH_VISITED : GRAPH_NONE};
}

/*
 * Reads the numbers back out of the headers, in order of ranks; then those of the roots, which are
 * reached but for the fibers of continuations that are not.
 */
static void collect_numbers(struct graph_search *search, const struct graph_compact *c)
{
	const struct snap_ranks *ranks = &c->snap->ranks;
	uint64_t lines = ranks->granule_count * SNAP_GRANULE_LINES;
	uint32_t node = 0;
	for (uint64_t i = 0; i < lines; i++) {
		const struct snap_line *line = &ranks->lines[i];
		for (uint64_t bits = line->header & line->kept; bits; bits &= bits - 1) {
			uint64_t below = (bits & -bits) - 1;
			uint32_t slot = line->kept_before +
					(uint32_t)__builtin_popcountll(line->kept & below);
			search->preorder[node++] = preorder_of_header(c->words[slot]);
		}
	}
	for (uint64_t i = 0; i <= c->snap->root_count; i++)
		search->preorder[node++] =
			preorder_of_header(c->words[graph_compact_root_slot(c, i).n]);
	base_assert(node == snap_virtual_root(c->snap) + 1);
}

static enum hg_status allocate_search(struct searcher *s, uint32_t node_count)
{
	struct graph_search *search = s->search;
	struct base_arena *arena = search->arena;
	const struct snap *snap = s->compact->snap;
	/* Every edge is pushed once, and is in the tree or outside of it. */
	uint64_t edges = s->compact->count - snap->block_count + snap->link_count + 1;
	search->edge_capacity = edges;
	BASE_TRY(base_arena_alloc(
		arena, node_count, sizeof(uint32_t), (void **)&search->parent, s->error));
	BASE_TRY(base_arena_alloc(
		arena, node_count, sizeof(uint32_t), (void **)&search->size, s->error));
	BASE_TRY(base_arena_reserve(
		arena, edges, sizeof(uint32_t), (void **)&search->edge_from, s->error));
	BASE_TRY(base_arena_reserve(
		arena, edges, sizeof(uint32_t), (void **)&search->edge_to, s->error));
	return base_arena_reserve(arena, edges, sizeof(uint64_t), (void **)&s->stack, s->error);
}

enum hg_status graph_search_run(struct graph_search *search, struct graph_compact *compact,
	uint32_t node_count, struct base_arena *arena, struct hg_error *error)
{
	*search = (struct graph_search){.arena = arena};
	struct searcher s = {.search = search, .compact = compact, .error = error};
	BASE_TRY(snap_walk_init(&s.lookup, compact->snap, error));
	enum hg_status status = allocate_search(&s, node_count);
	if (status == HG_OK)
		status = search_all(&s);
	snap_walk_release(&s.lookup);
	base_arena_free(arena, s.stack);
	if (status == HG_OK)
		status = base_arena_alloc(
			arena, node_count, sizeof(uint32_t), (void **)&search->preorder, error);
	if (status == HG_OK)
		collect_numbers(search, compact);
	return status;
}

void graph_search_release(struct graph_search *search)
{
	free(search->huge);
	search->huge = NULL;
}
