/*
 * Blocks that get types of which neither says all that the other does.
 *
 * They wait until the round ends, with all types that the block got in it, so that the order in
 * which it got them does not matter.  What the block holds decides: types that it contradicts were
 * lies (Obj.magic) or came from such, and count only if there are no others.
 */
#ifndef RETYPE_INFER_DISPUTES_H
#define RETYPE_INFER_DISPUTES_H

#include "retype/infer/blocks.h"
#include "retype/infer/work.h"

struct infer_disputes {
	struct infer_work *work;
	struct infer_blocks *blocks;
	struct infer_failure *failure;
	struct infer_dispute {
		struct snap_header_address header;
		uint32_t rank;
		struct retype_term type;
	} * disputes; /* of this round */
	uint64_t count, capacity;
	uint64_t *disputed;   /* bits by rank */
	struct base_map lied; /* by rank: a type of several that are all contradicted */
	struct base_map lies; /* by rank: contradictions that are counted already */
};

/* The bits are in the arena. */
enum hg_status infer_disputes_init(struct infer_disputes *disputes, struct infer_work *work,
	struct infer_blocks *blocks, struct base_arena *arena);
void infer_disputes_release(struct infer_disputes *disputes);

static inline bool infer_is_disputed(const struct infer_disputes *disputes, uint32_t rank)
{
	return base_bit(disputes->disputed, rank);
}

/* The block gets another type of which neither says all that the other does. */
void infer_add_dispute(struct infer_disputes *disputes, uint32_t rank,
	struct snap_header_address header, struct retype_term type);

/* At the end of a round: what those blocks become. */
void infer_resolve_disputes(struct infer_disputes *disputes);

/* The clashes of a stratum that is undone are to be counted anew. */
void infer_forget_lies(struct infer_disputes *disputes);

#endif
