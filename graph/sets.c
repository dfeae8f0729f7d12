/* Breadth-first search that goes around a set as long as there is another way. */
#include "graph/sets.h"

#include "base/assert.h"
#include "base/bits.h"

/* A node's number replaces its header; what is needed of that is kept beside its slot. */
#define HAS_EDGES ((uint32_t)1 << 31)

static void put_aside(struct graph_removal *r, struct snap_slot slot)
{
	if (base_bit(r->aside, slot.n))
		return;
	base_bit_set(r->aside, slot.n);
	r->waiting[r->waiting_count++] = slot.n;
}

static void meet_or_avoid(struct graph_removal *r, uint32_t holder, struct snap_slot slot)
{
	uint32_t *header = &r->compact.words[slot.n];
	/* More nodes than were live: the file has changed since. */
	if (*header & GRAPH_VISITED || r->count == r->most)
		return;
	if (r->avoids && base_bit(r->set, slot.n)) {
		put_aside(r, slot);
		return;
	}
	base_assert(holder < r->count || r->count == 0);
	r->slot[r->count] = slot.n | (*header & GRAPH_LEAF ? 0 : HAS_EDGES);
	r->holder[r->count] = holder;
	*header = GRAPH_VISITED | r->count++;
}

/* Calls a function for the targets of a node, the first field first. */
static inline void for_each_target(struct graph_removal *r, uint32_t number,
	void (*visit)(struct graph_removal *r, uint32_t number, struct snap_slot target))
{
	const struct graph_compact *c = &r->compact;
	struct snap_slot slot = {r->slot[number] & ~HAS_EDGES};
	const uint32_t *header = c->words + slot.n, *edge = header;
	if (r->slot[number] & HAS_EDGES)
		while (!(*++edge & GRAPH_LAST))
			;
	for (; edge > header; edge--)
		visit(r, number, (struct snap_slot){*edge & GRAPH_TARGET});
	if (c->snap->link_count == 0)
		return;
	uint64_t first, end;
	snap_links(c->snap, graph_compact_node(c, slot), &first, &end);
	for (uint64_t i = first; i < end; i++)
		visit(r, number, graph_compact_slot(c, c->snap->links[i].to));
}

static uint32_t follow_from(struct graph_removal *r, uint32_t number)
{
	while (number < r->count)
		for_each_target(r, number++, meet_or_avoid);
	return number;
}

/* First all that the roots of the tier reach around the set, then what only it leads to. */
static void search_around(struct graph_removal *r)
{
	const struct snap *snap = r->compact.snap;
	uint32_t number = 1;
	meet_or_avoid(r, 0, graph_compact_virtual_root(&r->compact));
	r->slot[0] &= ~HAS_EDGES;
	for (unsigned tier = 0; tier < SNAP_TIERS; tier++) {
		r->avoids = true;
		for (uint64_t i = 0; i < snap->root_count; i++)
			if (snap_root_in_tier(snap, &snap->roots[i], (enum snap_tier)tier))
				meet_or_avoid(r, 0, graph_compact_root_slot(&r->compact, i));
		number = follow_from(r, number);
		r->lost[tier].first = r->count;
		r->avoids = false;
		for (uint64_t i = 0; i < r->waiting_count; i++)
			meet_or_avoid(r, 0, (struct snap_slot){r->waiting[i]});
		r->waiting_count = 0;
		number = follow_from(r, number);
		r->lost[tier].end = r->count;
	}
}

static enum hg_status allocate_removal(
	struct graph_removal *r, const struct graph *graph, uint64_t count, struct hg_error *error)
{
	struct base_arena *arena = &r->arena;
	uint64_t words = base_bit_words(r->compact.count);
	BASE_TRY(base_arena_alloc(
		arena, graph->live_count, sizeof(*r->slot), (void **)&r->slot, error));
	BASE_TRY(base_arena_alloc(
		arena, graph->live_count, sizeof(*r->holder), (void **)&r->holder, error));
	BASE_TRY(base_arena_zalloc(arena, words, sizeof(*r->set), (void **)&r->set, error));
	BASE_TRY(base_arena_zalloc(arena, words, sizeof(*r->aside), (void **)&r->aside, error));
	return base_arena_alloc(arena, count, sizeof(*r->waiting), (void **)&r->waiting, error);
}

static enum hg_status remove_set(struct graph_removal *r, struct graph *graph,
	const uint32_t *nodes, uint64_t count, struct hg_error *error)
{
	BASE_TRY(base_progress(graph->snap->session, "removing", 0, graph->live_count));
	BASE_TRY(graph_compact_build(&r->compact, graph->snap, &r->arena, NULL, NULL, error));
	BASE_TRY(allocate_removal(r, graph, count, error));
	r->most = graph->live_count;
	for (uint64_t i = 0; i < count; i++) {
		base_assert(nodes[i] < snap_virtual_root(graph->snap));
		base_bit_set(r->set, graph_compact_slot(&r->compact, nodes[i]).n);
	}
	search_around(r);
	return HG_OK;
}

enum hg_status graph_removal_open(struct graph_removal *removal, struct graph *graph,
	const uint32_t *nodes, uint64_t count, struct hg_error *error)
{
	*removal = (struct graph_removal){0};
	BASE_TRY(base_arena_init(&removal->arena, &graph->snap->session->budget, "removal", error));
	enum hg_status status = remove_set(removal, graph, nodes, count, error);
	if (status != HG_OK)
		graph_removal_close(removal);
	return status;
}

void graph_removal_close(struct graph_removal *removal)
{
	base_arena_release(&removal->arena);
	*removal = (struct graph_removal){0};
}

uint32_t graph_removal_node(const struct graph_removal *removal, uint32_t number)
{
	base_assert(number < removal->count);
	return graph_compact_node(
		&removal->compact, (struct snap_slot){removal->slot[number] & ~HAS_EDGES});
}

static bool is_lost(const struct graph_removal *r, uint32_t number)
{
	for (unsigned tier = 0; tier < SNAP_TIERS; tier++)
		if (number >= r->lost[tier].first && number < r->lost[tier].end)
			return true;
	return false;
}

/* Marks a target that the set does not hold alone; 'waiting' is free again, and holds numbers. */
static void share_target(struct graph_removal *r, uint32_t number, struct snap_slot target)
{
	uint32_t header = r->compact.words[target.n], found = header & ~GRAPH_VISITED;
	(void)number;
	if (!(header & GRAPH_VISITED) || base_bit(r->shared, found) || is_lost(r, found))
		return;
	base_bit_set(r->shared, found);
	r->waiting[r->waiting_count++] = found;
}

enum hg_status graph_removal_share(struct graph_removal *r, struct hg_error *error)
{
	base_arena_free(&r->arena, r->aside);
	base_arena_free(&r->arena, r->waiting);
	r->aside = NULL;
	r->waiting = NULL;
	BASE_TRY(base_progress(r->compact.snap->session, "sharing", 0, 0));
	BASE_TRY(base_arena_zalloc(&r->arena, base_bit_words(r->count), sizeof(*r->shared),
		(void **)&r->shared, error));
	BASE_TRY(base_arena_alloc(
		&r->arena, r->count, sizeof(*r->waiting), (void **)&r->waiting, error));
	for (unsigned tier = 0; tier < SNAP_TIERS; tier++)
		for (uint32_t i = r->lost[tier].first; i < r->lost[tier].end; i++)
			for_each_target(r, i, share_target);
	while (r->waiting_count)
		for_each_target(r, r->waiting[--r->waiting_count], share_target);
	/* Holders have smaller numbers: theirs are known already. */
	for (uint32_t i = 1; i < r->count; i++)
		if (base_bit(r->shared, i) && base_bit(r->shared, r->holder[i]))
			r->holder[i] = r->holder[r->holder[i]];
	return HG_OK;
}
