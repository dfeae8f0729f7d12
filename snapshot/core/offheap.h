/*
 * Memory outside the heap that custom blocks of a core own.
 */
#ifndef SNAPSHOT_CORE_OFFHEAP_H
#define SNAPSHOT_CORE_OFFHEAP_H

#include "snapshot/core/state.h"

/* Notes what custom blocks own; and, once blocks have ranks, whose it is. */
enum hg_status elfcore_load_offheap(struct elfcore *core, struct hg_error *error);
enum hg_status elfcore_finalise_offheap(struct elfcore *core, struct hg_error *error);

#endif
