/*
 * What the memory of a core's process was used for.
 */
#ifndef SNAPSHOT_CORE_MEMORY_H
#define SNAPSHOT_CORE_MEMORY_H

#include "snapshot/core/state.h"

/* Fills what hg_reconcile_memory() of heapgraph.h tells. */
enum hg_status elfcore_memory(
	const struct snap *snap, struct hg_memory *out, struct hg_error *error);

#endif
