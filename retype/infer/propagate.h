/*
 * Types along the fields of blocks, round by round.
 *
 * A round looks at the blocks whose type changed in the round before, with the types they had when
 * it began, and joins what they say of the blocks they hold.  Joins commute, so that the order
 * within a round does not matter.
 */
#ifndef RETYPE_INFER_PROPAGATE_H
#define RETYPE_INFER_PROPAGATE_H

#include "retype/infer/disputes.h"
#include "retype/infer/sweep.h"
#include "retype/infer/work.h"

enum { INFER_WAITING = 32 };

struct infer_propagation {
	const struct infer_input *in;
	struct infer_heap *heap;
	struct infer_blocks *blocks;
	struct infer_work *work;
	struct infer_disputes *disputes;
	struct infer_sweeper *sweeper;
	const struct snap_ranks *ranks; /* of the snapshot */
	/* Proposals that wait while the memory they need is fetched. */
	struct infer_waiting {
		const struct snap_line *line;
		struct snap_header_address header; /* as far as its value tells */
		struct retype_term type;
		uint32_t rank;
		uint32_t holder; /* rank of the block that it is a field of */
		bool is_garbage; /* which nothing reaches */
	} waiting[INFER_WAITING];
	unsigned waiting_count;
	bool is_short; /* a round so short that the next one begins while memory is fetched */
};

void infer_propagation_init(struct infer_propagation *propagation, struct infer_work *work,
	struct infer_blocks *blocks, struct infer_disputes *disputes,
	struct infer_sweeper *sweeper);

/* Says that a block is of a type, which is no field's but a seed's. */
void infer_propose_seed(struct infer_propagation *propagation, uint32_t rank,
	struct snap_header_address header, struct retype_term type);

/* Runs rounds until nothing changes. */
enum hg_status infer_propagate(struct infer_propagation *propagation);

#endif
