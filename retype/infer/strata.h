/*
 * Strata: seeds of one sureness are proposed and followed to the end before less sure ones are.
 *
 * Seeds that are not exact are undone when they lead to a block of another shape, or make a block
 * of the heap two types at once: the stratum is run again without what they are from.  After many
 * runs whatever leads to the same blocks as what is wrong is given up with it, and counted.
 */
#ifndef RETYPE_INFER_STRATA_H
#define RETYPE_INFER_STRATA_H

#include "retype/infer/blame.h"
#include "retype/infer/propagate.h"
#include "retype/infer/seed.h"

/* What runs a stratum. */
struct infer_strata {
	struct infer_seeder *seeder;
	struct infer_propagation *propagation;
	struct infer_blame *blame;
	struct infer_undo *undo;
	uint64_t changed; /* blocks, by the last one that may be undone */
};

/* One after the other; the first one's changes are never undone. */
enum hg_status infer_run_strata(
	struct infer_strata *strata, const struct infer_stratum *first, unsigned count);

#endif
