/*
 * Which edges retain.  Fields and roots do; the data of an ephemeron are retained by its first key,
 * provided that the ephemeron and all its keys are reachable without it (runtime/weak.c); its other
 * keys, and weak pointers, retain nothing.  Where a tier of roots that comes later is needed to
 * reach some of them, it is the first of these.
 */
#ifndef GRAPH_STRONG_H
#define GRAPH_STRONG_H

#include "graph/compact.h"

/*
 * Finds the ephemerons whose data are alive, adds a link for each to the snapshot, and marks the
 * headers that the links leave from in the compact graph.  Linear in the graph and the keys;
 * without ephemerons it does nothing.
 */
enum hg_status graph_strong_ephemerons(struct graph_compact *compact, struct snap *snap,
	struct base_arena *arena, struct hg_error *error);

#endif
