/*
 * Nodes of a core that are no blocks, and what hangs on blocks besides their fields.
 */
#ifndef SNAPSHOT_CORE_NODES_H
#define SNAPSHOT_CORE_NODES_H

#include "snapshot/core/state.h"

/* Roots, fibers, ephemerons, off-heap bytes, samples: what needs no ranks, and what does. */
enum hg_status elfcore_load_nodes(struct elfcore *core, struct hg_error *error);
enum hg_status elfcore_finalise(struct snap *snap, struct hg_error *error);

#endif
