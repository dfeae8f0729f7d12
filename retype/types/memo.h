/*
 * A table from pairs of numbers to numbers of 32 bits.  base_map has single numbers for keys, and a
 * pair does not fit into one: a term, a tag and a size, two terms and how deep their join may be.
 * Hashes are those of base/hash.h.
 */
#ifndef RETYPE_TYPES_MEMO_H
#define RETYPE_TYPES_MEMO_H

#include "base/error.h"

#include <stdbool.h>

/* A zeroed memo is empty. */
struct retype_memo {
	struct retype_memo_slot *slots;
	uint64_t count, mask;
};

/* False, and *value as it was, if the pair has none. */
bool retype_memo_find(const struct retype_memo *memo, uint64_t a, uint64_t b, uint32_t *value);

/* Adds or replaces. */
enum hg_status retype_memo_set(
	struct retype_memo *memo, uint64_t a, uint64_t b, uint32_t value, struct hg_error *error);

/* Makes room for as many more at once. */
enum hg_status retype_memo_reserve(
	struct retype_memo *memo, uint64_t count, struct hg_error *error);

/* Frees it; the memo is empty then and may be used again. */
void retype_memo_release(struct retype_memo *memo);

#endif
