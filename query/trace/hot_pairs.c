/* Pairs of functions. */
#include "query/trace/hot_pairs.h"

#include "base/grow.h"

void query_hot_pairs_release(struct query_hot_pairs *pairs)
{
	free(pairs->pairs);
	base_map_release(&pairs->places);
	*pairs = (struct query_hot_pairs){0};
}

/* The table is full. */
static void miss_pair(struct query_hot_pairs *pairs)
{
	pairs->skipped = true;
	for (uint64_t i = 0; i < pairs->count; i++) {
		struct query_hot_pair *pair = &pairs->pairs[i];
		if (!pair->hits || pair->hits > ++pair->misses)
			continue;
		pair->hits = 0;
		pairs->held--;
	}
}

enum hg_status query_hot_pairs_add(struct query_hot_pairs *pairs, uint32_t caller,
	uint32_t allocator, uint64_t times, struct hg_error *error)
{
	uint64_t key = (uint64_t)caller << 32 | allocator, place;
	bool known = base_map_get(&pairs->places, key, &place);
	if (known && pairs->pairs[place].hits) {
		pairs->pairs[place].hits += times;
		return HG_OK;
	}
	if (pairs->held == QUERY_MOST_HOT_PAIRS) {
		miss_pair(pairs);
		return HG_OK;
	}
	if (!known) {
		BASE_TRY(base_grow(&pairs->pairs, pairs->count, &pairs->capacity,
			sizeof(*pairs->pairs), error));
		place = pairs->count;
		BASE_TRY(base_map_set(&pairs->places, key, place, error));
		pairs->count++;
	}
	pairs->pairs[place] = (struct query_hot_pair){
		.caller = caller, .allocator = allocator, .hits = times, .added = pairs->added++};
	pairs->held++;
	return HG_OK;
}
