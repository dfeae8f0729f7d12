/* Which values static blocks of one field hold. */
#include "retype/types/value_blocks.h"

#include "retype/types/terms.h"

#include "base/grow.h"
#include "base/hash.h"

#include <stdlib.h>

struct retype_value_blocks {
	struct base_map by_name; /* numbers by the address of the block's name */
	struct retype_value_block *all;
	uint64_t count, capacity;
};

static enum hg_status add_block(
	struct retype_types *types, const char *block, const struct retype_value_block *value)
{
	struct retype_value_blocks *blocks = types->value_blocks;
	uint64_t number = blocks->count;
	bool added;
	BASE_TRY(base_grow(&blocks->all, blocks->count, &blocks->capacity, sizeof(*blocks->all),
		types->error));
	BASE_TRY(base_map_add(
		&blocks->by_name, (uint64_t)(uintptr_t)block, &number, &added, types->error));
	if (added)
		blocks->all[blocks->count++] = *value;
	return HG_OK;
}

void retype_note_value_block(
	struct retype_types *types, const char *block, const struct retype_value_block *value)
{
	if (!types->value_blocks)
		types->value_blocks = calloc(1, sizeof(*types->value_blocks));
	retype_keep_status(types,
		types->value_blocks ? add_block(types, block, value)
				    : base_no_memory(types->error, sizeof(*types->value_blocks)));
}

const struct retype_value_block *retype_value_block(
	const struct retype_types *types, const char *block)
{
	const struct retype_value_blocks *blocks = types->value_blocks;
	uint64_t number;
	return blocks && base_map_get(&blocks->by_name, (uint64_t)(uintptr_t)block, &number)
		       ? &blocks->all[number]
		       : NULL;
}

void retype_value_blocks_release(struct retype_types *types)
{
	struct retype_value_blocks *blocks = types->value_blocks;
	if (blocks) {
		base_map_release(&blocks->by_name);
		free(blocks->all);
	}
	free(blocks);
	types->value_blocks = NULL;
}
