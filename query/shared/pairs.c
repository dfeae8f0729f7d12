/* Pairs of numbers in the order met, with a map from each to its number. */
#include "query/shared/pairs.h"

#include "base/assert.h"
#include "base/grow.h"

#include <stdlib.h>

enum hg_status query_pairs_number(struct query_pairs *pairs, uint32_t first, uint32_t second,
	uint32_t *out, struct hg_error *error)
{
	struct query_pair pair = {first, second};
	if (pairs->count && pairs->pairs[pairs->last].first == first &&
		pairs->pairs[pairs->last].second == second) {
		*out = pairs->last;
		return HG_OK;
	}
	uint64_t number = pairs->count;
	bool is_new;
	BASE_TRY(base_grow(
		&pairs->pairs, pairs->count, &pairs->capacity, sizeof(*pairs->pairs), error));
	BASE_TRY(base_map_add(
		&pairs->numbers, (uint64_t)first << 32 | second, &number, &is_new, error));
	if (is_new)
		pairs->pairs[pairs->count++] = pair;
	base_assert(number < pairs->count && pairs->pairs[number].second == second);
	pairs->last = *out = (uint32_t)number;
	return HG_OK;
}

void query_pairs_release(struct query_pairs *pairs)
{
	free(pairs->pairs);
	base_map_release(&pairs->numbers);
	*pairs = (struct query_pairs){0};
}
