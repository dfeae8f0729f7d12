/*
 * Whose memory outside the heap is: each byte is one block's, so that no sum has it twice.
 */
#ifndef SNAPSHOT_OFFHEAP_H
#define SNAPSHOT_OFFHEAP_H

#include "snapshot/snapshot.h"

/* After the loader has added to snap->outside. */
void snap_sort_outside(struct snap *snap);

typedef bool snap_reached_fn(const void *data, uint32_t rank);

/*
 * Makes snap->offheap of snap->outside.  Of blocks that share memory the owner is one that is
 * reachable if any is; of those the one that sees most of it, then the first by address.
 */
enum hg_status snap_settle_offheap(
	struct snap *snap, snap_reached_fn *reached, const void *data, struct hg_error *error);

/* Off-heap bytes of a block, once settled. */
uint64_t snap_offheap_bytes(const struct snap *snap, uint32_t rank);

#endif
