/* Breadth-first search over a compact graph of its own, which keeps the number of each node met. */
#include "graph/paths.h"

#include "base/assert.h"
#include "base/bits.h"

/*
 * A node's number replaces its header when it is met, but whether it has edges is asked later: the
 * high bit of its slot, which slots do not use, says so.
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

static struct snap_slot slot_of(const struct graph_paths *p, uint32_t number)
{
	return (struct snap_slot){p->slot[number] & ~HAS_EDGES};
}

static const uint32_t *header_of(const struct graph_paths *p, uint32_t number)
{
	return p->compact.words + slot_of(p, number).n;
}

/* The header itself if there are no edges; else they lie after it up to this one. */
static const uint32_t *last_edge(const struct graph_paths *p, uint32_t number)
{
	const uint32_t *edge = header_of(p, number);
	if (p->slot[number] & HAS_EDGES)
		while (!(*++edge & GRAPH_LAST))
			;
	return edge;
}

static uint32_t number_of(uint32_t header)
{
	return header & GRAPH_VISITED ? header & ~GRAPH_VISITED : GRAPH_NONE;
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
	const uint32_t *header = header_of(p, number), *edge = last_edge(p, number);
	for (; edge > header; edge--)
		meet_node(p, number, (struct snap_slot){*edge & GRAPH_TARGET});
	follow_links(p, number, slot_of(p, number));
}

/* Each tier of roots waits until the lower ones have reached what they can. */
static void search_tiers(struct graph_paths *p)
{
	const struct snap *snap = p->compact.snap;
	uint32_t number = 1;
	meet_node(p, 0, graph_compact_virtual_root(&p->compact));
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
	return number_of(paths->compact.words[graph_compact_slot(&paths->compact, node).n]);
}

uint32_t graph_paths_node(const struct graph_paths *paths, uint32_t number)
{
	base_assert(number < paths->count);
	return graph_compact_node(&paths->compact, slot_of(paths, number));
}

/* Edges turned round: who leads to a node is in sources, from first[number] to first[number + 1].
 */
struct reversed {
	uint32_t *first, *sources;
};

/* Notes an edge if there is room for it, else counts it; none to a node that was not met. */
static void reverse_edge(struct reversed *r, uint32_t from, uint32_t to)
{
	if (to == GRAPH_NONE)
		return;
	if (r->sources)
		r->sources[r->first[to]++] = from;
	else
		r->first[to + 1]++;
}

/* Those of the virtual root are left out. */
static void reverse_edges(const struct graph_paths *p, struct reversed *r)
{
	const struct graph_compact *c = &p->compact;
	for (uint32_t number = 1; number < p->count; number++) {
		const uint32_t *header = header_of(p, number);
		for (const uint32_t *edge = last_edge(p, number); edge > header; edge--)
			reverse_edge(r, number, number_of(c->words[*edge & GRAPH_TARGET]));
	}
	for (uint64_t i = 0; i < c->snap->link_count; i++) {
		uint32_t from = graph_paths_number(p, c->snap->links[i].from);
		if (from != GRAPH_NONE)
			reverse_edge(r, from, graph_paths_number(p, c->snap->links[i].to));
	}
}

static enum hg_status reverse_paths(const struct graph_paths *p, struct reversed *r,
	struct base_arena *arena, struct hg_error *error)
{
	*r = (struct reversed){0};
	BASE_TRY(base_arena_zalloc(
		arena, (uint64_t)p->count + 1, sizeof(*r->first), (void **)&r->first, error));
	reverse_edges(p, r);
	for (uint32_t i = 0; i < p->count; i++)
		r->first[i + 1] += r->first[i];
	BASE_TRY(base_arena_alloc(
		arena, r->first[p->count], sizeof(*r->sources), (void **)&r->sources, error));
	reverse_edges(p, r);
	/* Each entry now stands where the next one began. */
	for (uint32_t i = p->count; i > 0; i--)
		r->first[i] = r->first[i - 1];
	r->first[0] = 0;
	return HG_OK;
}

/* Backwards, by breadth; roots have no sources but links. */
static uint32_t search_backwards(const struct graph_paths *p, const struct reversed *r,
	uint32_t number, uint64_t *seen, uint32_t *queue)
{
	uint32_t count = 0;
	base_bit_set(seen, number);
	queue[count++] = number;
	for (uint32_t next = 0; next < count; next++) {
		uint32_t at = queue[next];
		for (uint32_t i = r->first[at]; i < r->first[at + 1]; i++) {
			if (base_bit(seen, r->sources[i]))
				continue;
			base_bit_set(seen, r->sources[i]);
			queue[count++] = r->sources[i];
		}
	}
	base_assert(count < p->count);
	return count;
}

enum hg_status graph_paths_roots_to(const struct graph_paths *paths, uint32_t number,
	struct base_arena *arena, uint32_t **roots, uint32_t *count, struct hg_error *error)
{
	const struct graph_compact *c = &paths->compact;
	struct reversed reversed;
	uint64_t *seen;
	*count = 0;
	base_assert(number > 0 && number < paths->count);
	BASE_TRY(reverse_paths(paths, &reversed, arena, error));
	BASE_TRY(base_arena_zalloc(
		arena, base_bit_words(paths->count), sizeof(*seen), (void **)&seen, error));
	BASE_TRY(base_arena_alloc(arena, paths->count, sizeof(**roots), (void **)roots, error));
	uint32_t met = search_backwards(paths, &reversed, number, seen, *roots);
	for (uint32_t i = 0; i < met; i++) {
		struct snap_slot slot = slot_of(paths, (*roots)[i]);
		if (slot.n >= c->heap_slots)
			(*roots)[(*count)++] = graph_compact_node(c, slot);
	}
	return HG_OK;
}
