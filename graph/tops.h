/* Which child of the virtual root a node stands below in the dominator tree, at any depth. */
#ifndef GRAPH_TOPS_H
#define GRAPH_TOPS_H

#include "graph/graph.h"

/* Makes what graph_top() needs: an eighth of a byte per live node. */
enum hg_status graph_tops(struct graph *graph, struct hg_error *error);

/* The child of the virtual root that dominates p or is p; of the virtual root itself. */
struct graph_position graph_top(const struct graph *graph, struct graph_position p);

#endif
