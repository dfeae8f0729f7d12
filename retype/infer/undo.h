/*
 * What a stratum has changed, so that it can be undone: which blocks got another type, and the
 * types of those that had one.
 */
#ifndef RETYPE_INFER_UNDO_H
#define RETYPE_INFER_UNDO_H

#include "base/arena.h"
#include "base/bits.h"
#include "base/hash.h"
#include "retype/infer/result.h"
#include "retype/types/types.h"

struct infer_undo {
	struct retype_block *blocks; /* by rank */
	uint64_t block_count;
	uint64_t *changed;            /* bits by rank */
	uint64_t changed_count;       /* of them those that are set */
	struct base_map types_before; /* by rank, of those changed that had a type */
	uint64_t *given_up; /* bits by rank: had a type until its origins were given up; or NULL */
	struct base_arena *arena;
};

/* In the arena's memory. */
enum hg_status infer_undo_init(struct infer_undo *undo, struct retype_block *blocks,
	uint64_t block_count, struct base_arena *arena, struct hg_error *error);
void infer_undo_release(struct infer_undo *undo);

/* Notes that a block is about to get another type. */
enum hg_status infer_undo_note(struct infer_undo *undo, uint32_t rank, struct hg_error *error);

static inline bool infer_is_changed(const struct infer_undo *undo, uint32_t rank)
{
	return base_bit(undo->changed, rank);
}

/* The type a block had before the stratum; the one it has while seeds are exact. */
uint32_t infer_type_before(const struct infer_undo *undo, uint32_t rank);

/*
 * What ends a stratum: its changes are at most as sure as its seeds, and types keep the names that
 * they had before; or all is taken back.
 */
void infer_accept_changes(
	struct infer_undo *undo, struct retype_types *types, enum hg_confidence sure);
void infer_undo_changes(struct infer_undo *undo);

/* What changed will be undone although nobody may be wrong who led there. */
enum hg_status infer_give_up_changes(struct infer_undo *undo, struct hg_error *error);

#endif
