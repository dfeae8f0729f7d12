/* Small tables of answers of the type table, in which later ones replace earlier ones. */
#include "retype/infer/fits.h"

#include "base/assert.h"
#include "retype/infer/result.h"

#include <string.h>

enum { JOIN_COUNT = 1 << 8 };

/* A short-cut leads to another one at most so often. */
enum { MOST_SHORT_CUTS = 20 };

enum hg_status infer_fits_init(struct infer_fits *fits, struct retype_types *types,
	struct base_arena *arena, struct hg_error *error)
{
	fits->types = types;
	BASE_TRY(base_arena_zalloc(
		arena, INFER_FIT_COUNT, sizeof(*fits->fits), (void **)&fits->fits, error));
	return base_arena_zalloc(
		arena, JOIN_COUNT, sizeof(*fits->joins), (void **)&fits->joins, error);
}

static struct retype_term narrow(
	struct retype_types *types, struct retype_term type, unsigned tag, uint64_t wosize)
{
	struct retype_term some[RETYPE_MOST_ALTERNATIVES], kept = RETYPE_NOTHING;
	struct retype_term all = retype_alternatives(types, type);
	struct retype_view view = retype_view_of(types, all);
	uint32_t count =
		view.count < RETYPE_MOST_ALTERNATIVES ? view.count : RETYPE_MOST_ALTERNATIVES;
	if (view.kind != RETYPE_SET)
		return all.n ? all : type;
	memcpy(some, view.arguments, count * sizeof(*some));
	for (uint32_t i = 0; i < count; i++)
		if (retype_find_fit(types, some[i], tag, wosize).match != RETYPE_MISFIT)
			kept = retype_join(types, kept, some[i], NULL);
	return kept.n ? kept : type;
}

static bool types_fields(enum retype_match match)
{
	return match == RETYPE_FIELDS || match == RETYPE_ELEMENTS || match == RETYPE_TAGGED ||
	       match == RETYPE_EXTENSION || match == RETYPE_INSTANCE || match == RETYPE_WEAKLY;
}

static bool fits_plainly(enum retype_match match)
{
	return match == RETYPE_LEAF || match == RETYPE_FUNCTION || types_fields(match);
}

const struct infer_fit *infer_find_fit(
	struct infer_fits *fits, struct retype_term type, unsigned tag, uint64_t wosize)
{
	uint64_t key = infer_fit_key(type, tag, wosize);
	struct infer_fit *slot = infer_fit_slot(fits, key);
	base_assert(type.n < retype_term_count(fits->types));
	if (slot->key == key && key)
		return slot;
	struct retype_term narrowed = narrow(fits->types, type, tag, wosize);
	struct retype_fit fit = retype_find_fit(fits->types, narrowed, tag, wosize);
	*slot = (struct infer_fit){key, fit, narrowed, types_fields(fit.match),
		.is_plain = fits_plainly(fit.match) && wosize < RETYPE_LONG};
	return slot;
}

const struct infer_fit *infer_fit_within(
	struct infer_fits *fits, struct retype_term type, unsigned tag, uint64_t wosize)
{
	const struct infer_fit *fit = infer_find_fit(fits, type, tag, wosize);
	for (unsigned i = 0; i < MOST_SHORT_CUTS && fit->fit.match == RETYPE_INNER; i++) {
		if (!fit->fit.inner.n)
			return NULL;
		fit = infer_find_fit(fits, fit->fit.inner, tag, wosize);
	}
	return fit;
}

struct retype_fit infer_fit_copy(
	struct infer_fits *fits, struct retype_term *type, unsigned tag, uint64_t wosize)
{
	const struct infer_fit *fit = infer_fit_within(fits, *type, tag, wosize);
	*type = fit ? fit->narrowed : RETYPE_NOTHING;
	return fit ? fit->fit : (struct retype_fit){.match = RETYPE_UNTOLD};
}

bool infer_is_misfit(
	struct infer_fits *fits, struct retype_term type, unsigned tag, uint64_t wosize)
{
	const struct infer_fit *fit = infer_fit_within(fits, type, tag, wosize);
	return fit && fit->fit.match == RETYPE_MISFIT;
}

struct retype_term infer_join_types(
	struct infer_fits *fits, struct retype_term a, struct retype_term b)
{
	uint64_t at = ((uint64_t)a.n * UINT64_C(0x9e3779b97f4a7c15) >> 32 ^ b.n) & (JOIN_COUNT - 1);
	struct infer_join *slot = &fits->joins[at];
	if (slot->a != a.n || slot->b != b.n)
		*slot = (struct infer_join){a.n, b.n, retype_join(fits->types, a, b, NULL).n};
	base_assert(slot->joined < retype_term_count(fits->types));
	return (struct retype_term){slot->joined};
}

bool infer_is_set(const struct retype_types *types, struct retype_term type)
{
	enum retype_kind kind = retype_view_of(types, type).kind;
	return kind == RETYPE_SET || kind == RETYPE_MANY;
}

bool infer_is_conflict(const struct retype_types *types, struct retype_term type)
{
	struct retype_view view = retype_view_of(types, type);
	if (view.kind != RETYPE_SET)
		return view.kind == RETYPE_MANY;
	for (uint32_t i = 0; i < view.count; i++) {
		struct retype_view one = retype_view_of(types, view.arguments[i]);
		if (one.kind != RETYPE_CONSTRUCTED ||
			types->declarations[one.number].form != RETYPE_STRING)
			return true;
	}
	return false;
}
