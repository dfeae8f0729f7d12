#include "graph/search.h"

#include "base/grow.h"
#include "snapshot/walk.h"

#include <stdlib.h>

enum { PROGRESS_NODES = 1 << 20 };

struct searcher {
	struct search *search;
	struct compact *compact;
	uint64_t *stack; /* parent << 32 | slot */
	uint64_t depth;
	struct snap_walk lookup; /* for the sizes of huge blocks */
	uint32_t first_last;     /* number of the first root that is last and leads somewhere */
	struct hg_error *error;
};

static void push_links(struct searcher *s, uint32_t v, uint32_t slot)
{
	const struct compact *c = s->compact;
	uint64_t first, end;
	compact_links(c, compact_node(c, slot), &first, &end);
	for (uint64_t i = first; i < end; i++)
		s->stack[s->depth++] = (uint64_t)v << 32 | compact_slot(c, c->snap->links[i].to);
}

/* Pushes the edges of a block so that the first field is popped first; returns the depth. */
static inline uint64_t push_edges(
	uint64_t *stack, uint64_t depth, const uint32_t *words, uint32_t v, uint32_t slot)
{
	const uint32_t *first = words + slot + 1, *edge = first;
	while (!(*edge & COMPACT_LAST))
		edge++;
	for (;; edge--) {
		uint32_t target = *edge & COMPACT_TARGET;
		stack[depth] = (uint64_t)v << 32 | target;
		/* A field that leads nowhere points to its own block. */
		depth += target != slot;
		if (edge == first)
			return depth;
	}
}

/* The label of a header is too small for the size: it is read from the heap. */
static enum hg_status huge_size(struct searcher *s, uint32_t slot, uint32_t *size)
{
	struct search *search = s->search;
	struct snap_cell cell;
	if (!snap_block(&s->lookup, compact_node(s->compact, slot), &cell))
		return base_corrupt(s->error, HG_NO_OFFSET, "changed while it was read");
	uint64_t words = cell.wosize + 1;
	if (words < SEARCH_HUGE) {
		*size = (uint32_t)words;
		return HG_OK;
	}
	BASE_TRY(base_grow(&search->huge, search->huge_count, &search->huge_capacity,
		sizeof(*search->huge), s->error));
	*size = SEARCH_HUGE | (uint32_t)search->huge_count;
	search->huge[search->huge_count++] = words;
	return HG_OK;
}

/*
 * Roots that are last come after all others, when everything those hold has been visited: their
 * edge counts only if the target was not reached from the others.
 */
static void visit_last_root(struct searcher *s, uint32_t v, uint32_t slot, uint32_t *header)
{
	const uint32_t *words = s->compact->words;
	const struct snap_root *root = compact_root(s->compact, slot);
	if (!root || !root->last || (*header & COMPACT_LEAF))
		return;
	if (s->first_last == GRAPH_NONE)
		s->first_last = v;
	uint32_t target = words[words[slot + 1] & COMPACT_TARGET];
	if (target & COMPACT_VISITED && (target & ~COMPACT_VISITED) < s->first_last)
		*header |= COMPACT_LEAF;
}

/* What few nodes need: a size read elsewhere, links besides the fields, roots that are last. */
static enum hg_status visit_special(
	struct searcher *s, uint32_t v, uint32_t slot, uint32_t *header, uint32_t *size)
{
	if (*size == COMPACT_LABEL)
		BASE_TRY(huge_size(s, slot, size));
	if (*header & COMPACT_LINKS)
		push_links(s, v, slot);
	if (slot >= s->compact->heap_slots)
		visit_last_root(s, v, slot, header);
	return HG_OK;
}

static enum hg_status tell_progress(const struct searcher *s, uint32_t v)
{
	const struct snap *snap = s->compact->snap;
	return base_progress(snap->session, "searching", v, snap->block_count);
}

/* The state of the loop is in locals: it runs once per edge. */
static enum hg_status run(struct searcher *s)
{
	struct search *search = s->search;
	uint32_t *words = s->compact->words;
	uint32_t *edge_from = search->edge_from, *edge_to = search->edge_to;
	uint64_t *stack = s->stack;
	uint64_t depth = 0, edges = 0;
	uint32_t v = 0;
	stack[depth++] = compact_virtual_root(s->compact);
	while (depth) {
		uint64_t entry = stack[--depth];
		uint32_t slot = (uint32_t)entry, parent = (uint32_t)(entry >> 32);
		uint32_t header = words[slot];
		if (header & COMPACT_VISITED) {
			edge_from[edges] = parent;
			edge_to[edges++] = header & ~COMPACT_VISITED;
			continue;
		}
		uint32_t size = header & COMPACT_LABEL;
		words[slot] = COMPACT_VISITED | v;
		if (size == COMPACT_LABEL || (header & COMPACT_LINKS)) {
			s->depth = depth;
			BASE_TRY(visit_special(s, v, slot, &header, &size));
			depth = s->depth;
		}
		search->parent[v] = parent;
		search->size[v] = size;
		if (!(header & COMPACT_LEAF))
			depth = push_edges(stack, depth, words, v, slot);
		if (++v % PROGRESS_NODES == 0)
			BASE_TRY(tell_progress(s, v));
	}
	search->count = v;
	search->edge_count = edges;
	return HG_OK;
}

/* Reads the numbers back out of the headers, in order of ranks. */
static void collect_numbers(struct search *search, const struct compact *c)
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
			uint32_t header = c->words[slot];
			search->preorder[node++] =
				header & COMPACT_VISITED ? header & ~COMPACT_VISITED : GRAPH_NONE;
		}
	}
	for (uint64_t i = 0; i <= c->snap->root_count; i++) {
		uint32_t header = c->words[compact_root_slot(c, i)];
		search->preorder[node++] = header & ~COMPACT_VISITED;
	}
}

static enum hg_status allocate(struct searcher *s, uint32_t node_count)
{
	struct search *search = s->search;
	struct base_arena *arena = search->arena;
	const struct snap *snap = s->compact->snap;
	/* Every edge is pushed once, and is in the tree or outside of it. */
	uint64_t edges = s->compact->count - snap->block_count + snap->link_count + 1;
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

enum hg_status search_run(struct search *search, struct compact *compact, uint32_t node_count,
	struct base_arena *arena, struct hg_error *error)
{
	*search = (struct search){.arena = arena};
	struct searcher s = {
		.search = search, .compact = compact, .first_last = GRAPH_NONE, .error = error};
	BASE_TRY(snap_walk_init(&s.lookup, compact->snap, error));
	enum hg_status status = allocate(&s, node_count);
	if (status == HG_OK)
		status = run(&s);
	snap_walk_release(&s.lookup);
	base_arena_free(arena, s.stack);
	if (status == HG_OK)
		status = base_arena_alloc(
			arena, node_count, sizeof(uint32_t), (void **)&search->preorder, error);
	if (status == HG_OK)
		collect_numbers(search, compact);
	return status;
}

void search_release(struct search *search)
{
	free(search->huge);
	search->huge = NULL;
}
