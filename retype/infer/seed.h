/*
 * Seeds: types that are known without propagation.  Families of them, each from one source of such
 * knowledge, propose what they know; a stratum takes what is as sure as it is.
 */
#ifndef RETYPE_INFER_SEED_H
#define RETYPE_INFER_SEED_H

#include "retype/infer/blame.h"
#include "retype/infer/blocks.h"
#include "retype/infer/sweep.h"

/* What families are given: what they read, and what takes the seeds. */
struct infer_seeder {
	const struct infer_input *in;
	struct infer_heap *heap;
	struct infer_fits *fits;
	struct infer_blocks *blocks;
	struct infer_sweeper *sweeper;
	struct infer_failure *failure;
	struct base_arena *arena;
	const struct infer_blame *blame; /* who is guilty proposes nothing */
	/* Of the stratum that is being run (strata.c): */
	enum hg_confidence sure;
	bool refuses_misfits; /* as it is no fault of the program if a seed is not exact */
	unsigned family;      /* that is proposing */
	uint32_t source;      /* rank of the block whose fields tell; or RETYPE_NO_HOLDER */
	/* Takes a seed.  Origins are those of all families, none is 0. */
	void (*take)(void *taker, uint32_t origin, uint32_t rank, struct snap_header_address header,
		struct retype_term type);
	void *taker;
};

/* A family goes through what it knows and calls infer_seed(), the same each time it is asked. */
typedef enum hg_status infer_family_fn(struct infer_seeder *seeder);

enum { INFER_MOST_FAMILIES = 5 };

/* Seeds of one sureness. */
struct infer_stratum {
	enum hg_confidence sure;
	unsigned repeated; /* at most so many times, while it changes anything */
	infer_family_fn *families[INFER_MOST_FAMILIES]; /* NULL after the last one */
};

/*
 * Proposes a seed, unless its origin is refused or it is not as sure as the current stratum.
 * 'origin' is the number, within the family, of what the seed is from: all from one number are
 * undone together.
 */
void infer_seed(struct infer_seeder *seeder, enum hg_confidence sure, uint32_t origin,
	uint32_t rank, struct snap_header_address header, struct retype_term type);
void infer_seed_value(struct infer_seeder *seeder, enum hg_confidence sure, uint32_t origin,
	uint64_t value, struct retype_term type);

#endif
