/*
 * Which blocks a type fits, and what two types join to: the last answers of the type table, kept
 * where most proposals find them.
 */
#ifndef RETYPE_INFER_FITS_H
#define RETYPE_INFER_FITS_H

#include "base/arena.h"
#include "retype/types/types.h"

/* What retype_find_fit() said, of (term, tag, wosize). */
struct infer_fit {
	uint64_t key;
	struct retype_fit fit;
	struct retype_term narrowed; /* of several types those that fit */
	bool leads_on;               /* its fields have types */
	bool is_plain;               /* it fits, as any block of its shape does */
};
struct infer_join {
	uint32_t a, b, joined;
};

struct infer_fits {
	struct retype_types *types;
	struct infer_fit *fits;
	struct infer_join *joins;
};
enum { INFER_FIT_SHIFT = 10, INFER_FIT_COUNT = 1 << INFER_FIT_SHIFT };

/* In the arena's memory. */
enum hg_status infer_fits_init(struct infer_fits *fits, struct retype_types *types,
	struct base_arena *arena, struct hg_error *error);

/* Where the fit with this key is, if it is still there: its key tells.  No key is 0, as no type of
 * a block is term 0. */
static inline struct infer_fit *infer_fit_slot(const struct infer_fits *fits, uint64_t key)
{
	return &fits->fits[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - INFER_FIT_SHIFT)];
}
static inline uint64_t infer_fit_key(struct retype_term type, unsigned tag, uint64_t wosize)
{
	return wosize >> 24 ? 0 : (uint64_t)type.n << 32 | wosize << 8 | tag;
}

/* The fit of a type, also through short-cuts (RETYPE_INNER) to the type it is then, NULL if that is
 * not known.  It lives until the next call. */
const struct infer_fit *infer_find_fit(
	struct infer_fits *fits, struct retype_term type, unsigned tag, uint64_t wosize);
const struct infer_fit *infer_fit_within(
	struct infer_fits *fits, struct retype_term type, unsigned tag, uint64_t wosize);

/* The same as a copy; RETYPE_UNTOLD and no type, if it is not known. */
struct retype_fit infer_fit_copy(
	struct infer_fits *fits, struct retype_term *type, unsigned tag, uint64_t wosize);
bool infer_is_misfit(
	struct infer_fits *fits, struct retype_term type, unsigned tag, uint64_t wosize);

struct retype_term infer_join_types(
	struct infer_fits *fits, struct retype_term a, struct retype_term b);

/* Whether a type is several types of which none says all that another does. */
bool infer_is_set(const struct retype_types *types, struct retype_term type);
/* Whether they do not go together, either: no block can be of all of them.  A string and bytes are
 * one block, which unsafe_to_string makes of one the other. */
bool infer_is_conflict(const struct retype_types *types, struct retype_term type);

#endif
