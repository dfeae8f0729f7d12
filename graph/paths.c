#include "graph/paths.h"

/*
 * A node's number replaces its header when it is met, but the header's flags are needed when its
 * turn comes: what is needed of them waits in the high bit of its slot, which slots do not use.
 */
#define HAS_EDGES ((uint32_t)1 << 31)

static void meet(struct paths *p, uint32_t holder, uint32_t slot)
{
	uint32_t *header = &p->compact.words[slot];
	if (*header & COMPACT_VISITED)
		return;
	p->slot[p->count] = slot | (*header & COMPACT_LEAF ? 0 : HAS_EDGES);
	p->holder[p->count] = holder;
	*header = COMPACT_VISITED | p->count++;
}

static void follow_links(struct paths *p, uint32_t number, uint32_t slot)
{
	const struct compact *c = &p->compact;
	uint64_t first, end;
	if (c->snap->link_count == 0)
		return;
	compact_links(c, compact_node(c, slot), &first, &end);
	for (uint64_t i = first; i < end; i++)
		meet(p, number, compact_slot(c, c->snap->links[i].to));
}

/* Roots that are last wait until the others have reached what they can. */
static bool must_wait(const struct paths *p, uint32_t number, uint32_t target)
{
	const struct snap_root *root = number == 0 ? compact_root(&p->compact, target) : NULL;
	return root && root->last;
}

static void follow(struct paths *p, uint32_t number)
{
	uint32_t slot = p->slot[number] & ~HAS_EDGES;
	bool has_edges = p->slot[number] & HAS_EDGES;
	p->slot[number] = slot;
	for (const uint32_t *edge = p->compact.words + slot + 1; has_edges; edge++) {
		if (!must_wait(p, number, *edge & COMPACT_TARGET))
			meet(p, number, *edge & COMPACT_TARGET);
		if (*edge & COMPACT_LAST)
			break;
	}
	follow_links(p, number, slot);
}

static enum hg_status search(struct paths *p, struct graph *graph, struct hg_error *error)
{
	BASE_TRY(base_progress(graph->snap->session, "paths", 0, graph->live_count));
	BASE_TRY(compact_build(&p->compact, graph->snap, &p->arena, NULL, error));
	BASE_TRY(base_arena_alloc(
		&p->arena, graph->live_count, sizeof(uint32_t), (void **)&p->slot, error));
	BASE_TRY(base_arena_alloc(
		&p->arena, graph->live_count, sizeof(uint32_t), (void **)&p->holder, error));
	const struct snap *snap = graph->snap;
	uint32_t number = 0;
	meet(p, 0, compact_virtual_root(&p->compact));
	while (number < p->count)
		follow(p, number++);
	for (uint64_t i = 0; i < snap->root_count; i++)
		if (snap->roots[i].last)
			meet(p, 0, compact_root_slot(&p->compact, i));
	while (number < p->count)
		follow(p, number++);
	return HG_OK;
}

enum hg_status paths_open(struct paths *paths, struct graph *graph, struct hg_error *error)
{
	*paths = (struct paths){0};
	BASE_TRY(base_arena_init(&paths->arena, &graph->snap->session->budget, "paths", error));
	enum hg_status status = search(paths, graph, error);
	if (status != HG_OK)
		paths_close(paths);
	return status;
}

void paths_close(struct paths *paths)
{
	base_arena_release(&paths->arena);
	*paths = (struct paths){0};
}

uint32_t paths_number(const struct paths *paths, uint32_t node)
{
	uint32_t header = paths->compact.words[compact_slot(&paths->compact, node)];
	return header & COMPACT_VISITED ? header & ~COMPACT_VISITED : GRAPH_NONE;
}

uint32_t paths_node(const struct paths *paths, uint32_t number)
{
	return compact_node(&paths->compact, paths->slot[number]);
}
