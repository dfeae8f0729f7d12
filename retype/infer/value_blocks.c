/* Which values static blocks of one field hold. */
#include "retype/infer/value_blocks.h"

#include "base/grow.h"

#include <stdlib.h>

static enum hg_status add_block(struct infer_value_blocks *blocks, const char *block,
	const struct infer_value_block *value, struct hg_error *error)
{
	uint64_t number = blocks->count;
	bool added;
	BASE_TRY(base_grow(
		&blocks->all, blocks->count, &blocks->capacity, sizeof(*blocks->all), error));
	BASE_TRY(
		base_map_add(&blocks->by_name, (uint64_t)(uintptr_t)block, &number, &added, error));
	if (added)
		blocks->all[blocks->count++] = *value;
	return HG_OK;
}

void infer_note_value_block(struct infer_value_blocks *blocks, const char *block,
	const struct infer_value_block *value, struct infer_failure *failure)
{
	if (failure->status == HG_OK)
		failure->status = add_block(blocks, block, value, failure->error);
}

const struct infer_value_block *infer_value_of_block(
	const struct infer_value_blocks *blocks, const char *block)
{
	uint64_t number;
	return base_map_get(&blocks->by_name, (uint64_t)(uintptr_t)block, &number)
		       ? &blocks->all[number]
		       : NULL;
}

void infer_value_blocks_release(struct infer_value_blocks *blocks)
{
	base_map_release(&blocks->by_name);
	free(blocks->all);
	*blocks = (struct infer_value_blocks){0};
}
