/*
 * Which edges retain.  Fields and roots do; the data of an ephemeron are retained by its first key,
 * provided that the ephemeron and all its keys are reachable without it (runtime/weak.c); its other
 * keys, and weak pointers, retain nothing.
 */
#ifndef GRAPH_STRONG_H
#define GRAPH_STRONG_H

#include "graph/compact.h"

/*
 * Finds the ephemerons whose data are alive, adds a link for each to the snapshot, and marks the
 * headers that the links leave from in the compact graph.  Values of roots that are last count
 * after all others.  Linear in the graph and the keys; without ephemerons it does nothing.
 */
enum hg_status graph_strong_ephemerons(struct graph_compact *compact, struct snap *snap,
	struct base_arena *arena, struct hg_error *error);

#endif
