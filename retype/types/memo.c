/*
 * Open addressing with linear probing; a table doubles when it is half full.  Values are small and
 * keys are not, so that a slot that is taken says so in a byte of its own.
 */
#include "retype/types/memo.h"

#include "base/assert.h"
#include "base/hash.h"

struct retype_memo_slot {
	uint64_t a, b;
	uint32_t value;
	bool is_used;
};

enum { FIRST_MEMO_SLOTS = 1024 };

/* The slot of a pair, or the free one where it would be; at most half of them are taken. */
static struct retype_memo_slot *memo_slot(const struct retype_memo *memo, uint64_t a, uint64_t b)
{
	const struct base_secret *secret = base_process_secret();
	uint64_t at = base_hash_join(secret, base_fold(b ^ secret->add, secret->multiply), a);
	for (at &= memo->mask; memo->slots[at].is_used; at = (at + 1) & memo->mask)
		if (memo->slots[at].a == a && memo->slots[at].b == b)
			break;
	return &memo->slots[at];
}

bool retype_memo_find(const struct retype_memo *memo, uint64_t a, uint64_t b, uint32_t *value)
{
	if (!memo->slots)
		return false;
	const struct retype_memo_slot *slot = memo_slot(memo, a, b);
	if (slot->is_used)
		*value = slot->value;
	return slot->is_used;
}

static enum hg_status resize_memo(struct retype_memo *memo, uint64_t size, struct hg_error *error)
{
	struct retype_memo bigger = {.count = memo->count, .mask = size - 1};
	base_assert((size & (size - 1)) == 0 && memo->count < size / 2);
	bigger.slots = calloc(size, sizeof(*bigger.slots));
	if (!bigger.slots)
		return base_no_memory(error, size * sizeof(*bigger.slots));
	for (uint64_t i = 0; memo->slots && i <= memo->mask; i++) {
		const struct retype_memo_slot *slot = &memo->slots[i];
		if (slot->is_used)
			*memo_slot(&bigger, slot->a, slot->b) = *slot;
	}
	free(memo->slots);
	*memo = bigger;
	return HG_OK;
}

enum hg_status retype_memo_reserve(struct retype_memo *memo, uint64_t count, struct hg_error *error)
{
	uint64_t size = FIRST_MEMO_SLOTS;
	while (size / 2 < memo->count + count + 1)
		size *= 2;
	return !memo->slots || size > memo->mask + 1 ? resize_memo(memo, size, error) : HG_OK;
}

enum hg_status retype_memo_set(
	struct retype_memo *memo, uint64_t a, uint64_t b, uint32_t value, struct hg_error *error)
{
	if (!memo->slots || memo->count > memo->mask / 2)
		BASE_TRY(resize_memo(
			memo, memo->slots ? 2 * (memo->mask + 1) : FIRST_MEMO_SLOTS, error));
	struct retype_memo_slot *slot = memo_slot(memo, a, b);
	memo->count += !slot->is_used;
	base_assert(memo->count <= memo->mask / 2 + 1);
	*slot = (struct retype_memo_slot){a, b, value, true};
	return HG_OK;
}

void retype_memo_release(struct retype_memo *memo)
{
	free(memo->slots);
	*memo = (struct retype_memo){0};
}
