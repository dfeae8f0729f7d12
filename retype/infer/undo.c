/* Bits and former types of the blocks that a stratum changes. */
#include "retype/infer/undo.h"

#include "base/assert.h"

#include <string.h>

enum hg_status infer_undo_init(struct infer_undo *undo, struct retype_block *blocks,
	uint64_t block_count, struct base_arena *arena, struct hg_error *error)
{
	*undo = (struct infer_undo){.blocks = blocks, .block_count = block_count, .arena = arena};
	return base_arena_zalloc(arena, base_bit_words(block_count), sizeof(*undo->changed),
		(void **)&undo->changed, error);
}

void infer_undo_release(struct infer_undo *undo)
{
	base_map_release(&undo->types_before);
}

enum hg_status infer_undo_note(struct infer_undo *undo, uint32_t rank, struct hg_error *error)
{
	base_assert(rank < undo->block_count);
	if (base_bit(undo->changed, rank))
		return HG_OK;
	base_bit_set(undo->changed, rank);
	undo->changed_count++;
	if (!undo->blocks[rank].type)
		return HG_OK;
	return base_map_set(&undo->types_before, rank, undo->blocks[rank].type, error);
}

uint32_t infer_type_before(const struct infer_undo *undo, uint32_t rank)
{
	uint32_t before = 0;
	if (!infer_is_changed(undo, rank))
		return undo->blocks[rank].type;
	base_map_number(&undo->types_before, rank, &before);
	return before;
}

/* What ends a stratum: how sure its seeds are, and where names of types are kept; NULL: undone. */
struct end {
	struct infer_undo *undo;
	struct retype_types *types;
	enum hg_confidence sure;
};

/* Does something with each block that was changed, and forgets that. */
static void end_changes(
	const struct end *end, void (*end_change)(const struct end *end, uint32_t rank))
{
	struct infer_undo *undo = end->undo;
	uint64_t words = base_bit_words(undo->block_count), count = 0;
	for (uint64_t i = 0; i < words; i++)
		for (uint64_t left = undo->changed[i]; left; left &= left - 1, count++)
			end_change(end, (uint32_t)(64 * i + (uint64_t)__builtin_ctzll(left)));
	base_assert(count == undo->changed_count);
	base_assert(undo->types_before.count <= count);
	base_map_release(&undo->types_before);
	memset(undo->changed, 0, words * sizeof(*undo->changed));
	undo->changed_count = 0;
}

static void accept_change(const struct end *end, uint32_t rank)
{
	struct retype_block *block = &end->undo->blocks[rank];
	struct retype_term before = {infer_type_before(end->undo, rank)};
	base_assert(rank < end->undo->block_count && block->type);
	if (before.n)
		block->type =
			retype_keep_names(end->types, (struct retype_term){block->type}, before).n;
	if (!before.n || (block->type != before.n && block->confidence > end->sure))
		block->confidence = (uint8_t)end->sure;
}

static void undo_change(const struct end *end, uint32_t rank)
{
	struct retype_block *block = &end->undo->blocks[rank];
	base_assert(rank < end->undo->block_count && block->type);
	block->type = infer_type_before(end->undo, rank);
}

void infer_accept_changes(
	struct infer_undo *undo, struct retype_types *types, enum hg_confidence sure)
{
	const struct end end = {undo, types, sure};
	end_changes(&end, accept_change);
}

void infer_undo_changes(struct infer_undo *undo)
{
	const struct end end = {.undo = undo};
	end_changes(&end, undo_change);
}

enum hg_status infer_give_up_changes(struct infer_undo *undo, struct hg_error *error)
{
	uint64_t words = base_bit_words(undo->block_count);
	if (!undo->given_up)
		BASE_TRY(base_arena_zalloc(undo->arena, words, sizeof(*undo->given_up),
			(void **)&undo->given_up, error));
	for (uint64_t i = 0; i < words; i++)
		undo->given_up[i] |= undo->changed[i];
	return HG_OK;
}
