/*
 * The blocks of the snapshot as typing reads them: where values lead, shapes, and finders, one for
 * each purpose, so that what one of them has found lives while another one is used.
 */
#ifndef RETYPE_INFER_HEAP_H
#define RETYPE_INFER_HEAP_H

#include "retype/infer/result.h"
#include "snapshot/find.h"
#include "snapshot/snapshot.h"

struct infer_heap {
	const struct snap *snap;
	const struct retype_block *blocks; /* by rank */
	struct snap_finder finder;         /* of the block being looked at */
	struct snap_finder aside;          /* of others that tell what it is */
	struct snap_finder inside;         /* of one whose fields decide between types */
};

/* The block that a value leads to. */
struct infer_target {
	uint32_t rank;
	struct snap_header_address header;
	bool is_infix; /* the value is a function in the middle of a closure */
};

struct infer_shape {
	unsigned tag;
	uint64_t wosize;
};

/* heap->blocks may be set later, before shapes are asked for. */
enum hg_status infer_heap_init(
	struct infer_heap *heap, const struct snap *snap, struct hg_error *error);
void infer_heap_release(struct infer_heap *heap);

/* Where a value leads; false if to no block.  The second one is for addresses that are known not
 * to be those of field 0 of a block. */
bool infer_resolve(const struct snap *snap, uint64_t value, struct infer_target *target);
bool infer_resolve_stray(const struct snap *snap, uint64_t value, struct infer_target *target);
uint32_t infer_rank(const struct snap *snap, struct snap_header_address header);

/* The block a value leads to, which lives until the finder is used again. */
bool infer_find(struct snap_finder *finder, uint64_t value, struct infer_target *target,
	struct snap_cell *cell);

/* A block's tag and wosize, without going to the heap for most. */
struct infer_shape infer_read_shape(
	struct infer_heap *heap, uint32_t rank, struct snap_header_address header);

/* Whether a block lies in the program's static data. */
bool infer_is_static(const struct snap *snap, struct snap_header_address header);

/* Forgets what a finder keeps of its last walk, before that is used to walk elsewhere. */
static inline void infer_forget_walk(struct snap_finder *finder)
{
	finder->count = 0;
}

#endif
