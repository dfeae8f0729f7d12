/*
 * Who points to whom: one pass over the fields of live blocks as they lie in the file, then over
 * what is no field, the values of roots, what fibers hold and data of ephemerons.
 */
#ifndef GRAPH_POINTERS_H
#define GRAPH_POINTERS_H

#include "graph/graph.h"
#include "snapshot/walk.h"

struct graph_pointer {
	uint32_t holder, target;      /* nodes */
	uint64_t field;               /* HG_UNKNOWN: it is none */
	const struct snap_cell *cell; /* of the holder, until the next call; NULL: not of a field */
};

typedef enum hg_status graph_pointer_fn(void *data, const struct graph_pointer *pointer);

/*
 * Calls 'met' for each pointer of a live node to one of those selected, a bit by node, or if that
 * is NULL to any: of blocks in order of addresses and fields, of roots, of links.  Ends with the
 * first failure, and returns it.
 */
enum hg_status graph_pointers(const struct graph *graph, const uint64_t *selected,
	graph_pointer_fn *met, void *data, struct hg_error *error);

#endif
