/*
 * Immediate dominators, by numbers in preorder of a depth-first search.
 *
 * Semi-NCA (Georgiadis, Tarjan, Werneck, "Finding dominators in practice", 2006), whose last step
 * climbs the tree it builds.  On a long list whose cells also hang in a table that climb is
 * quadratic; when it has used up a linear number of steps, the buckets of Lengauer and Tarjan ("A
 * fast algorithm for finding dominators in a flowgraph", 1979) finish the work from the
 * semidominators found already.  O(m log n) in all.
 */
#ifndef GRAPH_DOMINATORS_H
#define GRAPH_DOMINATORS_H

#include "base/arena.h"

#include <stdbool.h>

/* Order of a depth-first search; 0 is the node it starts from. */
struct graph_preorder {
	uint32_t n;
};

/* A flow graph: node 0 is the entry and every node is reachable from it. */
struct graph_flow {
	uint32_t count;
	const struct graph_preorder *parent; /* in the search tree; parent[v] < v */
	const uint32_t *first; /* count + 1 entries: where the predecessors of v begin */
	const struct graph_preorder *predecessors; /* sources of the edges outside the tree */
};

enum graph_method {
	GRAPH_METHOD_ADAPTIVE,
	GRAPH_METHOD_CLIMB,  /* Semi-NCA to the end */
	GRAPH_METHOD_BUCKETS /* Lengauer-Tarjan from the start */
};

/* Bytes of scratch memory per node; what the search leaves will do. */
enum { GRAPH_SCRATCH = 8 };

/*
 * Leaves the immediate dominator of every node in the first half of the scratch, which is returned
 * as *idom; idom[0] = 0.  'semi' has 4 bytes per node, with any contents before and after.  Needs
 * 12 bytes per node beside them, from the arena, when the buckets take over.
 */
enum hg_status graph_dominators(const struct graph_flow *flow, enum graph_method method,
	void *scratch, uint32_t *semi, struct base_arena *arena, struct graph_preorder **idom,
	struct hg_error *error);

/* Sorts edges by target: first has count + 1 entries, sources those of all edges. */
void graph_group_edges(uint32_t count, uint64_t edges, const struct graph_preorder *from,
	const struct graph_preorder *to, uint32_t *first, struct graph_preorder *sources);

#endif
