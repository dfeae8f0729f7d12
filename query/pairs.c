#include "query/pairs.h"

#include "base/grow.h"

#include <stdlib.h>

static uint64_t place(const struct query_pairs *pairs, struct query_pair pair)
{
	uint64_t h = ((uint64_t)pair.first << 32 | pair.second) * UINT64_C(0x9e3779b97f4a7c15);
	uint64_t at = (h ^ h >> 29) & (pairs->slot_count - 1);
	for (; pairs->slots[at]; at = (at + 1) & (pairs->slot_count - 1)) {
		const struct query_pair *other = &pairs->pairs[pairs->slots[at] - 1];
		if (other->first == pair.first && other->second == pair.second)
			break;
	}
	return at;
}

/* Keeps the table at most half full. */
static enum hg_status make_room(struct query_pairs *pairs, struct hg_error *error)
{
	if (2 * ((uint64_t)pairs->count + 1) <= pairs->slot_count)
		return HG_OK;
	uint64_t count = pairs->slot_count ? 2 * pairs->slot_count : 1024;
	uint32_t *slots = calloc(count, sizeof(*slots));
	if (!slots)
		return base_no_memory(error, count * sizeof(*slots));
	free(pairs->slots);
	pairs->slots = slots;
	pairs->slot_count = count;
	for (uint32_t i = 0; i < pairs->count; i++)
		slots[place(pairs, pairs->pairs[i])] = i + 1;
	return HG_OK;
}

enum hg_status query_pairs_number(struct query_pairs *pairs, uint32_t first, uint32_t second,
	uint32_t *out, struct hg_error *error)
{
	struct query_pair pair = {first, second};
	if (pairs->count && pairs->pairs[pairs->last].first == first &&
		pairs->pairs[pairs->last].second == second) {
		*out = pairs->last;
		return HG_OK;
	}
	BASE_TRY(make_room(pairs, error));
	uint64_t at = place(pairs, pair);
	if (!pairs->slots[at]) {
		BASE_TRY(base_grow(&pairs->pairs, pairs->count, &pairs->capacity,
			sizeof(*pairs->pairs), error));
		pairs->pairs[pairs->count++] = pair;
		pairs->slots[at] = pairs->count;
	}
	pairs->last = *out = pairs->slots[at] - 1;
	return HG_OK;
}

void query_pairs_release(struct query_pairs *pairs)
{
	free(pairs->pairs);
	free(pairs->slots);
	*pairs = (struct query_pairs){0};
}
