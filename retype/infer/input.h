/*
 * What typing is given, the same from its beginning to its end, and the first failure on its way.
 */
#ifndef RETYPE_INFER_INPUT_H
#define RETYPE_INFER_INPUT_H

#include "base/bits.h"
#include "retype/types/types.h"
#include "snapshot/snapshot.h"

struct infer_value_blocks;

struct infer_input {
	const struct snap *snap;    /* loaded and ranked */
	struct retype_types *types; /* to which terms are added */
	const uint32_t *by_tag;     /* types of blocks that describe themselves: string, ... */
	bool without_samples;       /* what samples tell is left out */
	/* Bits by rank: blocks to which no root leads; NULL: none is known.  What nobody reaches is
	 * gone the next moment, and so must tell nothing of what is reached. */
	const uint64_t *unreached;
	struct infer_value_blocks *value_blocks; /* found on the way */
	bool reversed;                           /* for tests: within rounds the other way round */
	uint32_t shuffled; /* for tests: within rounds in some order, by this seed */
};

/* The type of all functions: what is known of a closure by its tag alone. */
static inline struct retype_term infer_any_function(const struct infer_input *in)
{
	return (struct retype_term){in->by_tag[SNAP_TAG_CLOSURE]};
}

static inline bool infer_is_unreached(const struct infer_input *in, uint32_t rank)
{
	return in->unreached && base_bit(in->unreached, rank);
}

/* Whether rounds are to be run in another order than that of addresses. */
static inline bool infer_is_reordered(const struct infer_input *in)
{
	return __builtin_expect(in->reversed || in->shuffled, 0);
}

/*
 * The first failure.  As in the type table, what fails in the middle of a pass is only noted, and
 * looked at when the pass ends.
 */
struct infer_failure {
	enum hg_status status;
	struct hg_error *error;
};

#endif
