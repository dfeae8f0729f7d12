/* Custom blocks: what they are, and the memory outside the heap that they hold. */
#ifndef SNAPSHOT_RUNTIME_CUSTOM_H
#define SNAPSHOT_RUNTIME_CUSTOM_H

#include "snapshot/runtime/state.h"

enum snap_custom_data {
	SNAP_OFFHEAP_NONE,
	SNAP_OFFHEAP_MALLOC,
	SNAP_OFFHEAP_MAPPED,
	SNAP_OFFHEAP_ALIEN
};

struct snap_custom {
	const char *identifier;        /* "_bigarr02", ...; "" if it cannot be read */
	enum snap_custom_data offheap; /* whose memory: the block's, a file's, somebody's */
	uint64_t bytes;                /* of the data */
	uint64_t owner;                /* equal for all blocks that share the data, 0 if none do */
	uint64_t owner_data;           /* where the data that they share begin */
	struct snap_range memory[2];   /* where the data are; none if they cannot be anywhere */
	unsigned memory_count;
};

/* Of the custom block (tag 255) at an address. */
void snap_runtime_custom(struct snap_runtime *runtime, struct snap_block_address block,
	uint64_t wosize, struct snap_custom *out);

#endif
