/* Pairs of classes in the order met, with a map from each to where it is counted. */
#include "graph/cross.h"

#include "base/grow.h"
#include "graph/pointers.h"

#include <stdlib.h>

/* Pointers that wait: what each needs of its target are misses of the cache, several at a time. */
enum { BATCH = 256 };

struct crossing {
	const struct graph *graph;
	unsigned waiting;
	uint32_t from[BATCH], to[BATCH]; /* positions, but nodes of what is pointed to at first */
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

/* Leaves those of which one class or the dominator makes no cross edge. */
static void look_up_batch(struct crossing *c)
{
	const struct graph *g = c->graph;
	unsigned kept = 0;
	for (unsigned i = 0; i < c->waiting; i++)
		c->to[i] = g->position[c->to[i]].n;
	for (unsigned i = 0; i < c->waiting; i++) {
		c->from[kept] = c->from[i];
		c->to[kept] = c->to[i];
		kept += c->to[i] != GRAPH_NONE && g->idom[c->to[i]].n != c->from[i];
	}
	c->waiting = kept;
}

static enum hg_status count_batch(struct crossing *c)
{
	look_up_batch(c);
	for (unsigned i = 0; i < c->waiting; i++) {
		uint32_t from = c->class_of[c->from[i]], to = c->class_of[c->to[i]];
		if (from != to && from != GRAPH_NONE && to != GRAPH_NONE)
			BASE_TRY(count_cross(c, from, to));
	}
	c->waiting = 0;
	return HG_OK;
}

static enum hg_status meet_cross(void *data, const struct graph_pointer *pointer)
{
	struct crossing *c = data;
	c->from[c->waiting] = c->graph->position[pointer->holder].n;
	c->to[c->waiting] = pointer->target;
	return ++c->waiting == BATCH ? count_batch(c) : HG_OK;
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

enum hg_status graph_count_cross(const struct graph *graph, const uint32_t *class_of,
	struct graph_cross **out, uint64_t *count, struct hg_error *error)
{
	struct crossing c = {.graph = graph, .class_of = class_of, .error = error};
	*out = NULL;
	*count = 0;
	BASE_TRY(base_progress(graph->snap->session, "crossing", 0, 0));
	enum hg_status status = graph_pointers(graph, NULL, meet_cross, &c, error);
	if (status == HG_OK)
		status = count_batch(&c);
	base_map_release(&c.numbers);
	if (status != HG_OK) {
		free(c.pairs);
		return status;
	}
	if (c.count)
		qsort(c.pairs, c.count, sizeof(*c.pairs), graph_compare_cross);
	*out = c.pairs;
	*count = c.count;
	return HG_OK;
}
