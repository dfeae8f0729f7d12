/*
 * Static blocks that hold one value of a unit each, as flambda makes them: "Cache__sessions_2366",
 * whose number is flambda's own, or "Cache__Pmakeblock_2366" of a value that a primitive makes.
 */
#ifndef RETYPE_INFER_VALUE_BLOCKS_H
#define RETYPE_INFER_VALUE_BLOCKS_H

#include "retype/infer/input.h"

#include "base/hash.h"

struct infer_value_block {
	uint32_t unit;
	const char *name; /* of the value, name_length bytes, in the table of types: "sessions" */
	uint32_t name_length;
	struct retype_place place; /* where it is defined */
};

/* Zeroed it is empty. */
struct infer_value_blocks {
	struct base_map by_name; /* numbers by the address of the block's name */
	struct infer_value_block *all;
	uint64_t count, capacity;
};

/* Keeps which value a block holds, unless that is known already.  'block' is the snapshot's name of
 * it, which stands for it: its address, and not its text. */
void infer_note_value_block(struct infer_value_blocks *blocks, const char *block,
	const struct infer_value_block *value, struct infer_failure *failure);

/* NULL: not known, or no such block. */
const struct infer_value_block *infer_value_of_block(
	const struct infer_value_blocks *blocks, const char *block);

void infer_value_blocks_release(struct infer_value_blocks *blocks);

#endif
