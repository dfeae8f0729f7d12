/*
 * The rounds of typing and the types that blocks get in them: which blocks the next round has to
 * look at, and the types that blocks had when a round began.
 */
#ifndef RETYPE_INFER_WORK_H
#define RETYPE_INFER_WORK_H

#include "base/assert.h"
#include "base/bits.h"
#include "retype/infer/fits.h"
#include "retype/infer/heap.h"
#include "retype/infer/input.h"
#include "retype/infer/undo.h"

/* A block of a round, and the type it had when the round began. */
struct infer_front {
	uint32_t rank;
	struct retype_term type;
	struct snap_header_address header;
};

/* Blocks that a round has reached: listed while they are few, by bits in any case. */
struct infer_round {
	uint64_t *bits; /* by rank */
	struct infer_front *listed;
	uint64_t count; /* of those listed */
	bool dense;     /* too many: only the bits tell */
};

struct infer_work {
	const struct infer_input *in;
	struct infer_heap *heap;
	struct infer_fits *fits;
	struct infer_result *result;
	struct infer_failure *failure;
	struct retype_block *blocks; /* those of the result */
	struct infer_undo *undo;     /* what changes may be undone; NULL: it is exact */
	uint64_t listed_most;
	struct infer_round now, next;
	/* Types when a dense round began, by rank, of blocks that it still has to look at but has
	 * changed already: few, as most blocks get one type, once. */
	struct base_map round_types;
};

/* The result's blocks are there already, with their shapes.  Lists and bits are in the arena. */
enum hg_status infer_work_init(struct infer_work *work, const struct infer_input *in,
	struct infer_heap *heap, struct infer_fits *fits, struct infer_result *result,
	struct infer_failure *failure, struct base_arena *arena);
void infer_work_release(struct infer_work *work);

/* Notes changes from now on so that they can be undone; NULL: they are exact. */
void infer_note_changes(struct infer_work *work, struct infer_undo *undo);

/* Begins the next round with the blocks that wait for it; false if there are none. */
bool infer_next_round(struct infer_work *work);
/* Ends a round that was dense. */
void infer_end_dense_round(struct infer_work *work);

/* The type of a block that a dense round looks at, when the round began. */
static inline struct retype_term infer_type_in_round(const struct infer_work *work, uint32_t rank)
{
	struct retype_term type = {work->blocks[rank].type};
	base_map_number(&work->round_types, rank, &type.n);
	return type;
}

static inline void infer_put_into_next(
	struct infer_work *work, uint32_t rank, struct snap_header_address header)
{
	struct infer_round *next = &work->next;
	if (base_bit(next->bits, rank))
		return;
	base_bit_set(next->bits, rank);
	if (next->count == work->listed_most)
		next->dense = true;
	else
		next->listed[next->count++] = (struct infer_front){rank, RETYPE_NOTHING, header};
}

/* What most proposals are: exact ones, that fit a block which had no type.  False: look closer. */
static inline bool infer_take_plainly(struct infer_work *work, uint32_t rank,
	struct snap_header_address header, struct retype_term type)
{
	struct retype_block *block = &work->blocks[rank];
	uint64_t key = (uint64_t)type.n << 32 | block->shape;
	const struct infer_fit *fit = infer_fit_slot(work->fits, key);
	if (block->type == type.n)
		return true;
	if (block->type || fit->key != key || !fit->is_plain || work->undo)
		return false;
	block->type = fit->narrowed.n;
	block->confidence = HG_EXACT;
	if (fit->leads_on)
		infer_put_into_next(work, rank, header);
	return true;
}

/* A type for a block that had none, as it fits. */
void infer_take(struct infer_work *work, uint32_t rank, struct snap_header_address header,
	const struct infer_fit *fit);
/* Gives a block another type, that it has from now on. */
void infer_change(struct infer_work *work, uint32_t rank, struct snap_header_address header,
	struct retype_term type);

/* Another name for the type that a block has. */
static inline void infer_rename(struct infer_work *work, uint32_t rank, struct retype_term type)
{
	base_assert(work->blocks[rank].type && retype_is_closed(work->in->types, type));
	work->blocks[rank].type = type.n;
}

/* How a type fits a block; NULL if it says nothing of it. */
const struct infer_fit *infer_weigh_proposal(struct infer_work *work, uint32_t rank,
	struct snap_header_address header, struct retype_term type);

/* Counts and notes that a block is no value of a type, as 'count' fields say. */
void infer_clash(struct infer_work *work, uint32_t rank, struct retype_term type, uint32_t holder,
	unsigned count);

/* Clashes so far, and taking back those after. */
struct infer_clashes {
	uint64_t counted, noted;
};
struct infer_clashes infer_clashes_so_far(const struct infer_work *work);
void infer_take_back_clashes(struct infer_work *work, struct infer_clashes before);

#endif
