/*
 * Whose fault a clash is: from the origins of seeds in order of their numbers, each block that the
 * stratum changed is reached by the first origin that leads to it; what its fields then run into is
 * the fault of that origin, and so is a seed of it that was not believed.  So an origin that led to
 * the same is found only when the stratum is run again; when that has been too often, it is given
 * up with the first one.
 */
#ifndef RETYPE_INFER_BLAME_H
#define RETYPE_INFER_BLAME_H

#include "retype/infer/blocks.h"
#include "retype/infer/work.h"

struct infer_blame {
	struct infer_work *work;
	struct infer_blocks *blocks;
	struct infer_undo *undo; /* of the stratum */
	struct infer_failure *failure;
	struct base_arena *arena;
	struct base_map guilty; /* origins: a set, of all runs of the stratum */
	/* Seeds of the run, which are gathered for this; blocks to be looked at for one origin. */
	struct infer_gathered {
		uint32_t origin, rank;
		struct snap_header_address header;
		struct retype_term type; /* of a seed: what it says */
	} * seeds, *queue;
	uint64_t seed_count, seed_capacity;
	uint64_t queue_count, queue_capacity;
	uint32_t *origins; /* by rank: the first that leads there; 0 none */
	uint32_t origin;   /* the one that is being followed */
	bool gave_up;      /* somebody is guilty only for leading to what a guilty one leads to */
};

/* A zeroed blame may be released; between strata nobody is guilty. */
void infer_blame_init(struct infer_blame *blame, struct infer_work *work,
	struct infer_blocks *blocks, struct infer_undo *undo, struct base_arena *arena);
void infer_blame_release(struct infer_blame *blame);

bool infer_is_guilty(const struct infer_blame *blame, uint32_t origin);

/* Whether any block has become several types at once in this stratum, and is no constant. */
bool infer_any_conflict(const struct infer_blame *blame);

/* Takes a seed of the run whose clashes are to be explained. */
void infer_gather_seed(struct infer_blame *blame, uint32_t origin, uint32_t rank,
	struct snap_header_address header, struct retype_term type);

/*
 * Adds the origins that led to clashes and conflicts to the guilty ones, and forgets the seeds.  If
 * too many runs have found somebody guilty ('strictly'): who leads to what a guilty one leads to is
 * guilty, too; *gave_up is set if that was so, never cleared.
 */
enum hg_status infer_find_guilty(struct infer_blame *blame, bool strictly, bool *gave_up);

#endif
