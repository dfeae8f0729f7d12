/*
 * Depth-first search from the virtual root: numbers the reachable nodes in preorder and collects
 * the edges that are not in the search tree, which is all that dominators need.
 *
 * Edges wait on a stack and are looked at when they are popped, the first field first, so that the
 * numbers are those of a true depth-first search; there is no recursion.
 */
#ifndef GRAPH_SEARCH_H
#define GRAPH_SEARCH_H

#include "graph/compact.h"

/* Sizes from 2^31 words on are kept aside: size holds SEARCH_HUGE | index into huge. */
#define SEARCH_HUGE ((uint32_t)1 << 31)

struct search {
	struct base_arena *arena;
	uint32_t count;   /* nodes reached; preorder numbers run from 0, the virtual root */
	uint32_t *parent; /* in the search tree; parent[0] = 0 */
	uint32_t *size;   /* words, header included; 0 for roots */
	uint64_t *huge;
	uint64_t huge_count, huge_capacity;
	uint32_t *preorder;  /* of a node; GRAPH_NONE if unreachable */
	uint64_t edge_count; /* outside the tree, in order of their sources */
	uint32_t *edge_from, *edge_to;
};

/* Consumes the compact graph's headers.  Arrays belong to the arena. */
enum hg_status search_run(struct search *search, struct compact *compact, uint32_t node_count,
	struct base_arena *arena, struct hg_error *error);
void search_release(struct search *search);

static inline uint64_t search_words(const struct search *s, uint32_t v)
{
	uint32_t size = s->size[v];
	return size & SEARCH_HUGE ? s->huge[size & ~SEARCH_HUGE] : size;
}

#endif
