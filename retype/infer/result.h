/*
 * What typing finds: a type for each block, how sure it is, and what did not go together.
 */
#ifndef RETYPE_INFER_RESULT_H
#define RETYPE_INFER_RESULT_H

#include <stdint.h>

struct retype_counts {
	uint64_t shape_clashes;    /* a type led to a block that no value of it can be */
	uint64_t type_conflicts;   /* blocks of the heap with types that do not go together */
	uint64_t static_conflicts; /* the same in static data: shared constants, legitimate */
	uint64_t seeds, undone_seeds;
	uint64_t given_up; /* blocks without a type, that had one until too much was wrong */
	uint64_t edges, rounds;
};

/* What is known of a block; together, as a proposal looks at all of it. */
struct retype_block {
	uint32_t type;      /* a closed term; 0 unknown or only by tag */
	uint16_t shape;     /* wosize << 8 | tag, where RETYPE_LONG stands for all longer ones */
	uint8_t confidence; /* an hg_confidence */
};
enum { RETYPE_LONG = 255 };

/* A type led to a block that no value of it can be, so many times. */
struct retype_clash {
	uint32_t rank;   /* of the block */
	uint32_t type;   /* what was said of it */
	uint32_t holder; /* rank of the block whose type says so of a field; or RETYPE_NO_HOLDER */
	uint32_t count;
};
#define RETYPE_NO_HOLDER UINT32_MAX

struct infer_result {
	struct retype_block *blocks; /* by rank */
	struct retype_counts counts;
	struct retype_clash *clashes; /* in the order met; the first ones, if there are millions */
	uint64_t clash_count, clash_capacity;
};

#endif
