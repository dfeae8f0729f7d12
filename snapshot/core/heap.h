/*
 * The blocks of the heap of a core.
 */
#ifndef SNAPSHOT_CORE_HEAP_H
#define SNAPSHOT_CORE_HEAP_H

#include "snapshot/core/state.h"

/* The blocks of all areas, in order of addresses. */
enum hg_status elfcore_load_heap(struct elfcore *core, struct hg_error *error);

#endif
