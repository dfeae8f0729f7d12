/* Breadth-first search over a compact graph of its own, which keeps the number of each node met. */
#include "graph/paths.h"

#include "base/assert.h"

/*
 * A node's number replaces its header when it is met, but the header's flags are needed when its
 * turn comes: what is needed of them waits in the high bit of its slot, which slots do not use.
 */
#define HAS_EDGES ((uint32_t)1 << 31)

static void meet_node(struct graph_paths *p, uint32_t holder, struct snap_slot slot)
{
	uint32_t *header = &p->compact.words[slot.n];
	/* More nodes than were live: the file has changed since. */
	if (*header & GRAPH_VISITED || p->count == p->most)
		return;
	base_assert(holder < p->count || p->count == 0);
	p->slot[p->count] = slot.n | (*header & GRAPH_LEAF ? 0 : HAS_EDGES);
	p->holder[p->count] = holder;
	*header = GRAPH_VISITED | p->count++;
}

static void follow_links(struct graph_paths *p, uint32_t number, struct snap_slot slot)
{
	const struct graph_compact *c = &p->compact;
	uint64_t first, end;
	if (c->snap->link_count == 0)
		return;
	snap_links(c->snap, graph_compact_node(c, slot), &first, &end);
	for (uint64_t i = first; i < end; i++)
		meet_node(p, number, graph_compact_slot(c, c->snap->links[i].to));
}

/* The first field first: edges lie in the opposite order. */
static void follow_edges(struct graph_paths *p, uint32_t number)
{
	struct snap_slot slot = {p->slot[number] & ~HAS_EDGES};
	bool has_edges = p->slot[number] & HAS_EDGES;
	const uint32_t *header = p->compact.words + slot.n, *edge = header;
	p->slot[number] = slot.n;
	if (has_edges)
		while (!(*++edge & GRAPH_LAST))
			;
	for (; edge > header; edge--)
		meet_node(p, number, (struct snap_slot){*edge & GRAPH_TARGET});
	follow_links(p, number, slot);
}

/* Each tier of roots waits until the lower ones have reached what they can. */
static void search_tiers(struct graph_paths *p)
{
	const struct snap *snap = p->compact.snap;
	uint32_t number = 1;
	meet_node(p, 0, graph_compact_virtual_root(&p->compact));
	p->slot[0] &= ~HAS_EDGES;
	for (unsigned tier = 0; tier < SNAP_TIERS; tier++) {
		for (uint64_t i = 0; i < snap->root_count; i++)
			if (snap_root_in_tier(snap, &snap->roots[i], (enum snap_tier)tier))
				meet_node(p, 0, graph_compact_root_slot(&p->compact, i));
		while (number < p->count)
			follow_edges(p, number++);
	}
}

static enum hg_status search_breadth_first(
	struct graph_paths *p, struct graph *graph, struct hg_error *error)
{
	BASE_TRY(base_progress(graph->snap->session, "paths", 0, graph->live_count));
	BASE_TRY(graph_compact_build(&p->compact, graph->snap, &p->arena, NULL, NULL, error));
	BASE_TRY(base_arena_alloc(
		&p->arena, graph->live_count, sizeof(uint32_t), (void **)&p->slot, error));
	BASE_TRY(base_arena_alloc(
		&p->arena, graph->live_count, sizeof(uint32_t), (void **)&p->holder, error));
	p->most = graph->live_count;
	search_tiers(p);
	return HG_OK;
}

enum hg_status graph_paths_open(
	struct graph_paths *paths, struct graph *graph, struct hg_error *error)
{
	*paths = (struct graph_paths){0};
	BASE_TRY(base_arena_init(&paths->arena, &graph->snap->session->budget, "paths", error));
	enum hg_status status = search_breadth_first(paths, graph, error);
	if (status != HG_OK)
		graph_paths_close(paths);
	return status;
}

void graph_paths_close(struct graph_paths *paths)
{
	base_arena_release(&paths->arena);
	*paths = (struct graph_paths){0};
}

uint32_t graph_paths_number(const struct graph_paths *paths, uint32_t node)
{
	uint32_t header = paths->compact.words[graph_compact_slot(&paths->compact, node).n];
	return header & GRAPH_VISITED ? header & ~GRAPH_VISITED : GRAPH_NONE;
}

uint32_t graph_paths_node(const struct graph_paths *paths, uint32_t number)
{
	base_assert(number < paths->count);
	return graph_compact_node(&paths->compact, (struct snap_slot){paths->slot[number]});
}
