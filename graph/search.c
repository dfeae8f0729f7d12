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
	struct hg_error *error;
};

static void push(struct searcher *s, uint32_t parent, uint32_t slot)
{
	s->stack[s->depth++] = (uint64_t)parent << 32 | slot;
}

static void push_links(struct searcher *s, uint32_t v, uint32_t slot)
{
	const struct compact *c = s->compact;
	uint64_t first, end;
	compact_links(c, compact_node(c, slot), &first, &end);
	for (uint64_t i = first; i < end; i++)
		push(s, v, compact_slot(c, c->snap->links[i].to));
}

/* Pushes the edges of a block so that the first field is popped first. */
static inline void push_edges(struct searcher *s, uint32_t v, uint32_t slot)
{
	const uint32_t *edge = s->compact->words + slot + 1;
	uint64_t first = s->depth;
	for (;; edge++) {
		uint32_t target = *edge & COMPACT_TARGET;
		if (target != slot)
			push(s, v, target);
		if (*edge & COMPACT_LAST)
			break;
	}
	for (uint64_t i = first, j = s->depth; i + 1 < j; i++) {
		uint64_t other = s->stack[--j];
		s->stack[j] = s->stack[i];
		s->stack[i] = other;
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

static enum hg_status visit(struct searcher *s, uint32_t parent, uint32_t slot, uint32_t header)
{
	struct search *search = s->search;
	uint32_t v = search->count++;
	uint32_t size = header & COMPACT_LABEL;
	s->compact->words[slot] = COMPACT_VISITED | v;
	if (size == COMPACT_LABEL)
		BASE_TRY(huge_size(s, slot, &size));
	search->parent[v] = parent;
	search->size[v] = size;
	if (header & COMPACT_LINKS)
		push_links(s, v, slot);
	if (!(header & COMPACT_LEAF))
		push_edges(s, v, slot);
	if (v % PROGRESS_NODES == PROGRESS_NODES - 1)
		return base_progress(s->compact->snap->session, "searching", v,
			s->compact->snap->block_count);
	return HG_OK;
}

static enum hg_status run(struct searcher *s)
{
	struct search *search = s->search;
	const uint32_t *words = s->compact->words;
	push(s, 0, compact_virtual_root(s->compact));
	while (s->depth) {
		uint64_t entry = s->stack[--s->depth];
		uint32_t slot = (uint32_t)entry, parent = (uint32_t)(entry >> 32);
		uint32_t header = words[slot];
		if (header & COMPACT_VISITED) {
			search->edge_from[search->edge_count] = parent;
			search->edge_to[search->edge_count++] = header & ~COMPACT_VISITED;
			continue;
		}
		BASE_TRY(visit(s, parent, slot, header));
	}
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
			search->preorder[node++] = header & COMPACT_VISITED
							   ? header & ~COMPACT_VISITED
							   : GRAPH_NONE;
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
	return base_arena_reserve(
		arena, edges, sizeof(uint64_t), (void **)&s->stack, s->error);
}

enum hg_status search_run(struct search *search, struct compact *compact, uint32_t node_count,
	struct base_arena *arena, struct hg_error *error)
{
	*search = (struct search){.arena = arena};
	struct searcher s = {.search = search, .compact = compact, .error = error};
	BASE_TRY(snap_walk_init(&s.lookup, compact->snap, error));
	enum hg_status status = allocate(&s, node_count);
	if (status == HG_OK)
		status = run(&s);
	snap_walk_release(&s.lookup);
	base_arena_free(arena, s.stack);
	if (status == HG_OK)
		status = base_arena_alloc(arena, node_count, sizeof(uint32_t),
			(void **)&search->preorder, error);
	if (status == HG_OK)
		collect_numbers(search, compact);
	return status;
}

void search_release(struct search *search)
{
	free(search->huge);
	search->huge = NULL;
}
