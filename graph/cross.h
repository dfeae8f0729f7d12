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

/* By 'to', pointers descending, 'from': for qsort(). */
int graph_compare_cross(const void *a, const void *b);

/*
 * Counts them from class to class, given the class of every position; GRAPH_NONE takes no part.
 * Sorted so; from malloc.  Those within one class are left out.
 */
enum hg_status graph_count_cross(const struct graph *graph, const uint32_t *class_of,
	struct graph_cross **out, uint64_t *count, struct hg_error *error);

#endif
