/*
 * Depth-first search from the virtual root: numbers the reachable nodes in preorder and collects
 * the edges that are not in the search tree, which is all that dominators need.
 *
 * Edges wait on a stack and are looked at when they are popped, the first field first, so that the
 * numbers are those of a true depth-first search; there is no recursion.
 *
 * The tiers of roots follow each other: when the first root of one is visited, all that lower tiers
 * reach is numbered below it, and edges that lead there from now on are dropped.
 */
#ifndef GRAPH_SEARCH_H
#define GRAPH_SEARCH_H

#include "graph/compact.h"
#include "graph/dominators.h"

/* Sizes from 2^31 words on are kept aside: size holds GRAPH_HUGE | index into huge. */
#define GRAPH_HUGE ((uint32_t)1 << 31)

struct graph_search {
	struct base_arena *arena;
	uint32_t count; /* nodes reached; preorder numbers run from 0, the virtual root */
	struct graph_preorder *parent; /* in the search tree; parent[0] = 0 */
	uint32_t *size;                /* words, header included; 0 for roots */
	uint64_t *huge;
	uint64_t huge_count, huge_capacity;
	struct graph_preorder *preorder; /* of a node; GRAPH_NONE if unreachable */
	uint64_t edge_count; /* outside the tree, in order of their sources, within a tier */
	uint64_t edge_capacity;
	struct graph_preorder *edge_from, *edge_to;
};

/* Consumes the compact graph's headers.  Arrays belong to the arena. */
enum hg_status graph_search_run(struct graph_search *search, struct graph_compact *compact,
	uint32_t node_count, struct base_arena *arena, struct hg_error *error);
void graph_search_release(struct graph_search *search);

static inline uint64_t graph_search_words(const struct graph_search *s, uint32_t v)
{
	uint32_t size = s->size[v];
	return size & GRAPH_HUGE ? s->huge[size & ~GRAPH_HUGE] : size;
}

#endif
