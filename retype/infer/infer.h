/*
 * A type for every block of a snapshot, from what is known to be typed (seeds) along the fields of
 * blocks.
 *
 * Rounds: each types the blocks that the blocks typed in the round before hold, from their types as
 * they were then, and joins what a block gets from several sides by retype_join().  So the result
 * depends neither on the order within a round nor on threads.  Strata: seeds that are exact run to
 * their end first, then inferred ones.  What a later stratum typed or changed is as sure as its
 * seeds.  A seed that is not exact, and leads to a block of another shape, is undone.
 *
 * Blocks that no root leads to say nothing of those that some root does: else what is reached would
 * have other types in the next snapshot, when the garbage is gone.
 *
 * 8 bytes per block; while propagating about 2 more: bits, and lists of 16 bytes for each block of
 * a round, if it has at most a 64th of all.
 */
#ifndef RETYPE_INFER_INFER_H
#define RETYPE_INFER_INFER_H

#include "retype/infer/input.h"
#include "retype/infer/result.h"

struct infer_seeder;
struct infer_stratum;
struct infer_work;

/* What is known before: seeds, stratum by stratum, and what is done when all have been run. */
struct infer_plan {
	const struct infer_stratum *strata;
	unsigned count;
	enum hg_status (*finish)(struct infer_seeder *seeder, struct infer_work *work);
};

/*
 * Fills a zeroed result, of which blocks live in the arena and clashes are to be freed, after a
 * failure too.
 */
enum hg_status infer_run(const struct infer_input *in, const struct infer_plan *plan,
	struct base_arena *kept, struct infer_result *result, struct hg_error *error);

#endif
