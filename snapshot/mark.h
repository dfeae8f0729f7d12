/*
 * Pass 1 over the heap: marks headers, and fields that may be pointers, in the ranks.
 */
#ifndef SNAPSHOT_MARK_H
#define SNAPSHOT_MARK_H

#include "snapshot/snapshot.h"

/* Builds the ranks, then lets the loader finalise what needs them. */
enum hg_status snap_rank_blocks(struct snap *snap, struct hg_error *error);

#endif
