/*
 * Pointers that are no dominance: from blocks and roots that are not the immediate dominator of
 * what they point to.  They say who shares what the dominator tree hangs higher up.
 */
#ifndef GRAPH_CROSS_H
#define GRAPH_CROSS_H

#include "base/hash.h"
#include "graph/graph.h"

struct graph_cross {
	uint32_t from, to; /* classes */
	uint64_t pointers;
};

/*
 * Counts them from class to class, given the class of every position; GRAPH_NONE takes no part.
 * Sorted by 'to', pointers descending, 'from'; from malloc.  Those within one class are left out.
 * Builds the compact graph anew: 10 bytes per block meanwhile.
 */
enum hg_status graph_count_cross(struct graph *graph, const uint32_t *class_of,
	struct graph_cross **out, uint64_t *count, struct hg_error *error);

#endif
