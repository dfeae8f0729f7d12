/* One pass over the compact graph, with the position of each block in the place of its header. */
#include "graph/cross.h"

#include "base/assert.h"
#include "base/grow.h"
#include "graph/compact.h"

#include <stdlib.h>

struct crossing {
	struct graph *graph;
	struct graph_compact compact;
	const uint32_t *class_of;
	struct base_map numbers; /* of a pair of classes: where it is counted */
	struct graph_cross *pairs;
	uint64_t count, capacity;
	uint64_t last_key; /* counted last, and where */
	uint64_t last;
	struct hg_error *error;
};

static enum hg_status count_cross(struct crossing *c, uint32_t from, uint32_t to)
{
	uint64_t key = (uint64_t)from << 32 | to, number = c->count;
	if (c->count && key == c->last_key) {
		c->pairs[c->last].pointers++;
		return HG_OK;
	}
	bool is_new;
	BASE_TRY(base_grow(&c->pairs, c->count, &c->capacity, sizeof(*c->pairs), c->error));
	BASE_TRY(base_map_add(&c->numbers, key, &number, &is_new, c->error));
	if (is_new)
		c->pairs[c->count++] = (struct graph_cross){from, to, 0};
	c->pairs[number].pointers++;
	c->last_key = key;
	c->last = number;
	return HG_OK;
}

static inline enum hg_status cross_edge(struct crossing *c, uint32_t from, uint32_t to)
{
	if (from == GRAPH_NONE || to == GRAPH_NONE || c->graph->idom[to].n == from)
		return HG_OK;
	uint32_t class_from = c->class_of[from], class_to = c->class_of[to];
	if (class_from == class_to || class_from == GRAPH_NONE || class_to == GRAPH_NONE)
		return HG_OK;
	return count_cross(c, class_from, class_to);
}

/* Headers, in order of nodes, become positions. */
static void mark_positions(struct crossing *c)
{
	const struct snap *snap = c->compact.snap;
	const struct graph_position *position = c->graph->position;
	uint64_t lines = snap->ranks.granule_count * SNAP_GRANULE_LINES;
	uint32_t node = 0;
	for (uint64_t i = 0; i < lines; i++) {
		const struct snap_line *line = &snap->ranks.lines[i];
		for (uint64_t bits = line->header & line->kept; bits; bits &= bits - 1) {
			uint64_t below = (bits & -bits) - 1;
			c->compact.words[line->kept_before +
					 (uint32_t)__builtin_popcountll(line->kept & below)] =
				position[node++].n;
		}
	}
	base_assert(node == snap->block_count);
	for (uint64_t i = 0; i < snap->root_count; i++)
		c->compact.words[graph_compact_root_slot(&c->compact, i).n] = position[node++].n;
}

/* The kept words of one line: headers, and the fields of the block whose header came last. */
static enum hg_status cross_line(
	struct crossing *c, const struct snap_line *line, uint32_t *header, uint32_t *from)
{
	uint32_t slot = line->kept_before;
	for (uint64_t bits = line->kept; bits; bits &= bits - 1, slot++) {
		if (line->header & (bits & -bits)) {
			*header = slot;
			*from = c->compact.words[slot];
			continue;
		}
		uint32_t target = c->compact.words[slot] & GRAPH_TARGET;
		if (target != *header)
			BASE_TRY(cross_edge(c, *from, c->compact.words[target]));
	}
	return HG_OK;
}

static enum hg_status cross_fields(struct crossing *c)
{
	const struct snap_ranks *ranks = &c->compact.snap->ranks;
	uint64_t lines = ranks->granule_count * SNAP_GRANULE_LINES;
	uint32_t header = 0, from = GRAPH_NONE;
	for (uint64_t i = 0; i < lines; i++)
		BASE_TRY(cross_line(c, &ranks->lines[i], &header, &from));
	return HG_OK;
}

/* What is no field: the values of roots, fibers, data of ephemerons. */
static enum hg_status cross_others(struct crossing *c)
{
	const struct snap *snap = c->compact.snap;
	const struct graph_position *position = c->graph->position;
	for (uint64_t i = 0; i < snap->root_count; i++) {
		uint32_t target = snap_resolve_node(snap, snap->roots[i].value);
		if (target != HG_NO_NODE)
			BASE_TRY(cross_edge(
				c, position[snap_root_node(snap, i)].n, position[target].n));
	}
	for (uint64_t i = 0; i < snap->link_count; i++)
		BASE_TRY(cross_edge(
			c, position[snap->links[i].from].n, position[snap->links[i].to].n));
	return HG_OK;
}

int graph_compare_cross(const void *a, const void *b)
{
	const struct graph_cross *x = a, *y = b;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->pointers != y->pointers)
		return x->pointers > y->pointers ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

static enum hg_status cross_all(struct crossing *c, struct base_arena *arena)
{
	BASE_TRY(graph_compact_build(&c->compact, c->graph->snap, arena, NULL, NULL, c->error));
	mark_positions(c);
	BASE_TRY(cross_fields(c));
	BASE_TRY(cross_others(c));
	if (c->count)
		qsort(c->pairs, c->count, sizeof(*c->pairs), graph_compare_cross);
	return HG_OK;
}

enum hg_status graph_count_cross(struct graph *graph, const uint32_t *class_of,
	struct graph_cross **out, uint64_t *count, struct hg_error *error)
{
	struct crossing c = {.graph = graph, .class_of = class_of, .error = error};
	struct base_arena arena;
	*out = NULL;
	*count = 0;
	BASE_TRY(base_progress(graph->snap->session, "crossing", 0, 0));
	BASE_TRY(base_arena_init(&arena, &graph->snap->session->budget, "cross edges", error));
	enum hg_status status = cross_all(&c, &arena);
	base_arena_release(&arena);
	base_map_release(&c.numbers);
	if (status != HG_OK) {
		free(c.pairs);
		return status;
	}
	*out = c.pairs;
	*count = c.count;
	return HG_OK;
}
