/*
 * Numbers for pairs of numbers, dense and in the order in which the pairs are met: a class by two
 * keys is 4 bytes per block, too.
 */
#ifndef QUERY_SHARED_PAIRS_H
#define QUERY_SHARED_PAIRS_H

#include "base/hash.h"

struct query_pair {
	uint32_t first, second;
};

/* Zeros are an empty table. */
struct query_pairs {
	struct query_pair *pairs; /* by number */
	uint32_t count;
	uint64_t capacity;
	struct base_map numbers; /* by pair */
	uint32_t last;           /* the number given last: neighbours in the heap are often alike */
};

enum hg_status query_pairs_number(struct query_pairs *pairs, uint32_t first, uint32_t second,
	uint32_t *out, struct hg_error *error);
void query_pairs_release(struct query_pairs *pairs);

#endif
