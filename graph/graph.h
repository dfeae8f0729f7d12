/*
 * The object graph of a snapshot and its dominator tree.
 *
 * Nodes are blocks by rank, then roots, then the virtual root that leads to all roots.  Four kinds
 * of numbers occur and are kept apart:
 *
 *     node      public; everything is asked for by it
 *     slot      index of a header or pointer in the compact graph (compact.h)
 *     preorder  order of the search, inside the dominator computation only
 *     position  order of a depth-first walk over the dominator tree: what stays
 *
 * In order of positions the subtree of a node is the interval [p, p + extent[p]), so that retained
 * bytes are a difference of prefix sums, children are met by jumping, "a dominates b" is two
 * comparisons, and the retained size of classes takes one pass.  What stays costs, per block:
 * position 4, idom 4, extent 4, bytes 8 (and the ranks, 1.5).
 */
#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

#include "snapshot/snapshot.h"

#define GRAPH_NONE UINT32_MAX

/* A number in the order of a depth-first walk over the dominator tree; 0 is the virtual root. */
struct graph_position {
	uint32_t n; /* GRAPH_NONE: an unreachable node, or no node */
};

struct graph {
	struct snap *snap;
	struct base_arena arena;
	uint32_t node_count; /* blocks, roots, the virtual root */
	uint32_t live_count; /* nodes that are reachable: positions run from 0 to it */

	struct graph_position *position; /* of a node; GRAPH_NONE if unreachable */
	struct graph_position *idom;     /* position of the immediate dominator; idom[0] = 0 */
	uint32_t *extent;                /* nodes in the subtree, itself included */
	uint64_t *bytes;        /* shallow bytes of all positions before; live_count + 1 entries */
	uint64_t *offheap;      /* the same for bytes outside the heap; NULL if there are none */
	uint32_t *node;         /* of a position; made when first asked for by graph_nodes() */
	uint64_t *tops;         /* which positions are children of the root; made by graph_tops() */
	uint32_t *before_group; /* the last of them before each group of positions */

	struct snap_census census; /* of all words in fields */
	uint64_t dangling_reached; /* of the dangling ones, those in blocks that are reachable */
};

/*
 * Ranks the snapshot and computes all of it.  The peak of anonymous memory is about 33 bytes per
 * block of an ordinary heap, plus 8 for each pointer beyond the search tree.
 */
enum hg_status graph_open(struct graph *graph, struct snap *snap, struct hg_error *error);
void graph_close(struct graph *graph);

/* Bits by rank of the blocks that no root leads to, in an arena; NULL if there are none. */
enum hg_status graph_unreached(const struct graph *graph, struct base_arena *arena, uint64_t **out,
	struct hg_error *error);

/* Makes graph->node: 4 bytes per live node. */
enum hg_status graph_nodes(struct graph *graph, struct hg_error *error);

static inline bool graph_reaches(struct graph_position position)
{
	return position.n != GRAPH_NONE;
}

static inline uint64_t graph_shallow(const struct graph *g, struct graph_position p)
{
	return g->bytes[p.n + 1] - g->bytes[p.n];
}

static inline uint64_t graph_retained(const struct graph *g, struct graph_position p)
{
	return g->bytes[p.n + g->extent[p.n]] - g->bytes[p.n];
}

/* The same outside the heap, of the node alone and with what it retains. */
static inline uint64_t graph_offheap(const struct graph *g, struct graph_position p)
{
	return g->offheap ? g->offheap[p.n + 1] - g->offheap[p.n] : 0;
}

static inline uint64_t graph_retained_offheap(const struct graph *g, struct graph_position p)
{
	return g->offheap ? g->offheap[p.n + g->extent[p.n]] - g->offheap[p.n] : 0;
}

/* Children of p in order: first, then next until graph_reaches() is false. */
static inline struct graph_position graph_first_child(
	const struct graph *g, struct graph_position p)
{
	return (struct graph_position){g->extent[p.n] > 1 ? p.n + 1 : GRAPH_NONE};
}

static inline struct graph_position graph_next_child(
	const struct graph *g, struct graph_position p, struct graph_position child)
{
	uint32_t next = child.n + g->extent[child.n];
	return (struct graph_position){next < p.n + g->extent[p.n] ? next : GRAPH_NONE};
}

#endif
