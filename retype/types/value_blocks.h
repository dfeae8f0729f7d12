/*
 * Static blocks that hold one value of a unit each, as flambda makes them: "Cache__sessions_2366",
 * whose number is flambda's own, or "Cache__Pmakeblock_2366" of a value that a primitive makes.
 */
#ifndef RETYPE_TYPES_VALUE_BLOCKS_H
#define RETYPE_TYPES_VALUE_BLOCKS_H

#include "retype/types/table.h"

struct retype_value_block {
	uint32_t unit;
	const char *name; /* of the value, name_length bytes: "sessions" */
	uint32_t name_length;
	struct retype_place place; /* where it is defined */
};

/* Keeps which value a block holds, unless that is known already.  'block' is the snapshot's name of
 * it, which stands for it: its address, and not its text.  Without memory the types have failed. */
void retype_note_value_block(
	struct retype_types *types, const char *block, const struct retype_value_block *value);

/* NULL: not known, or no such block. */
const struct retype_value_block *retype_value_block(
	const struct retype_types *types, const char *block);

void retype_value_blocks_release(struct retype_types *types);

#endif
