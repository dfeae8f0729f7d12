/*
 * Strata: seeds of one sureness are proposed and followed to the end before less sure ones are.
 *
 * Seeds that are not exact are undone when they lead to a block of another shape, or make a block
 * of the heap two types at once: the stratum is run again without what they are from.  After many
 * runs whatever leads to the same blocks as what is wrong is given up with it, and counted.
 */
#include "retype/infer/parts.h"

#include "base/grow.h"

#include <string.h>

enum { MOST_RUNS = 16, MOST_STRICT_RUNS = 4, FAMILY_SHIFT = 27 };

struct family {
	const char *name;
	enum hg_status (*propose)(struct retyping *r);
};

static const struct family globals = {"globals", retyping_seed_globals};
static const struct family definitions = {"definitions", retyping_seed_definitions};
static const struct family recognised = {"recognised units", retyping_seed_recognised};
static const struct family places = {"places", retyping_seed_places};
static const struct family closures = {"captured variables", retyping_seed_closures};
static const struct family objects = {"objects", retyping_seed_objects};
static const struct family exceptions = {"exceptions", retyping_seed_exceptions};
static const struct family slots = {"extension constructors", retyping_seed_slots};
static const struct family customs = {"boxed integers", retyping_seed_customs};

/*
 * Exceptions come late, to blocks that have no type: a module's block that begins with an exception
 * looks like a value of it.
 */
enum { FAMILIES_MOST = 5 };
static const struct {
	enum hg_confidence sure;
	const struct family *families[FAMILIES_MOST];
} strata[] = {
	{HG_EXACT, {&globals, &places}},
	{HG_INFERRED, {&closures, &places, &objects, &definitions, &recognised}},
	{HG_GUESSED, {&globals, &places}},
	{HG_INFERRED, {&exceptions}},
	{HG_EXACT, {&slots, &customs}},
};

static void gather(
	struct retyping *r, uint32_t origin, uint32_t rank, struct snap_header_address header)
{
	struct retype_stratum *s = r->stratum;
	if (r->status == HG_OK)
		r->status = base_grow(
			&s->seeds, s->seed_count, &s->seed_capacity, sizeof(*s->seeds), r->error);
	if (r->status == HG_OK)
		s->seeds[s->seed_count++] = (struct retype_seed){origin, rank, header};
}

void retyping_seed(struct retyping *r, enum hg_confidence sure, uint32_t origin, uint32_t rank,
	struct snap_header_address header, struct retype_term type)
{
	struct retype_stratum *s = r->stratum;
	uint64_t guilty, wosize;
	unsigned tag;
	origin = (s->family + 1) << FAMILY_SHIFT | (origin & ((1u << FAMILY_SHIFT) - 1));
	if (sure != s->sure || !type.n || retype_map_get(&s->guilty, origin, &guilty))
		return;
	type = retype_instance(r->types, type, NULL, 0);
	retyping_shape(r, rank, header, &tag, &wosize);
	struct retype_term shape = type;
	if (r->undoable && retyping_fit(r, &shape, tag, wosize).match == RETYPE_MISFIT)
		return;
	if (s->gathering) {
		gather(r, origin, rank, header);
		return;
	}
	r->counts.seeds++;
	retyping_propose(r, rank, header, type);
}

void retyping_seed_value(struct retyping *r, enum hg_confidence sure, uint32_t origin,
	uint64_t value, struct retype_term type)
{
	uint32_t rank;
	struct snap_header_address header;
	bool is_infix;
	if (retyping_resolve(r, value, &rank, &header, &is_infix))
		retyping_seed(r, sure, origin, rank, header, is_infix ? r->any_function : type);
}

/* Changed blocks, by their bits */

static void accept_changes(struct retyping *r, enum hg_confidence sure)
{
	for (uint64_t i = 0; i < retyping_bit_words(r); i++)
		for (uint64_t left = r->changed[i]; left; left &= left - 1)
			r->blocks[64 * i + (uint64_t)__builtin_ctzll(left)].confidence =
				(uint8_t)sure;
	retype_map_clear(&r->types_before);
	memset(r->changed, 0, retyping_bit_words(r) * sizeof(*r->changed));
}

static void undo_changes(struct retyping *r)
{
	for (uint64_t i = 0; i < retyping_bit_words(r); i++)
		for (uint64_t left = r->changed[i]; left; left &= left - 1) {
			uint64_t rank = 64 * i + (uint64_t)__builtin_ctzll(left);
			r->blocks[rank].type = retyping_type_before(r, (uint32_t)rank);
		}
	retype_map_clear(&r->lies);
	retype_map_clear(&r->types_before);
	memset(r->changed, 0, retyping_bit_words(r) * sizeof(*r->changed));
}

/* What changed is undone although nobody may be wrong who led there. */
static enum hg_status give_up_changes(struct retyping *r)
{
	if (!r->given_up)
		BASE_TRY(base_arena_zalloc(&r->arena, retyping_bit_words(r), sizeof(*r->given_up),
			(void **)&r->given_up, r->error));
	for (uint64_t i = 0; i < retyping_bit_words(r); i++)
		r->given_up[i] |= r->changed[i];
	return HG_OK;
}

static bool any_conflict(struct retyping *r)
{
	for (uint64_t i = 0; i < retyping_bit_words(r); i++)
		for (uint64_t left = r->changed[i]; left; left &= left - 1) {
			uint32_t rank = (uint32_t)(64 * i + (uint64_t)__builtin_ctzll(left));
			if (!retyping_is_set(r, (struct retype_term){r->blocks[rank].type}))
				continue;
			struct snap_header_address header =
				snap_ranks_header(&r->snap->ranks, (struct snap_rank){rank});
			if (retyping_is_conflict(r, rank, header))
				return true;
		}
	return false;
}

/* Runs */

static enum hg_status propose_all(struct retyping *r, unsigned stratum)
{
	for (unsigned i = 0; i < FAMILIES_MOST && strata[stratum].families[i]; i++) {
		r->stratum->family = i;
		BASE_TRY(strata[stratum].families[i]->propose(r));
		BASE_TRY(r->status);
	}
	return r->types->status;
}

/* Finds out which origins were wrong; *more if there are any. */
static enum hg_status find_guilty(struct retyping *r, unsigned stratum, bool *more)
{
	struct retype_stratum *s = r->stratum;
	uint64_t known = s->guilty.count, seeds = r->counts.seeds, edges = r->counts.edges;
	s->seed_count = 0;
	s->gathering = true;
	enum hg_status status = propose_all(r, stratum);
	s->gathering = false;
	BASE_TRY(status);
	BASE_TRY(retyping_blame(r));
	r->counts.seeds = seeds;
	r->counts.edges = edges;
	*more = s->guilty.count > known;
	return HG_OK;
}

static enum hg_status run_undoable(struct retyping *r, unsigned stratum)
{
	const struct retype_counts before = r->counts;
	const uint64_t clashes = r->retype->clash_count;
	enum { RUNS = MOST_RUNS + MOST_STRICT_RUNS };
	for (unsigned run = 0; run < RUNS; run++) {
		bool more = false;
		r->stratum->is_strict = run + 1 >= MOST_RUNS;
		r->stratum->gave_up = run + 1 == RUNS;
		BASE_TRY(propose_all(r, stratum));
		BASE_TRY(retyping_settle(r));
		if (r->counts.shape_clashes != before.shape_clashes || any_conflict(r))
			BASE_TRY(find_guilty(r, stratum, &more));
		if (!more) {
			accept_changes(r, strata[stratum].sure);
			return HG_OK;
		}
		if (r->stratum->gave_up)
			BASE_TRY(give_up_changes(r));
		undo_changes(r);
		r->counts.shape_clashes = before.shape_clashes;
		r->retype->clash_count = clashes;
		r->counts.seeds = before.seeds;
		r->counts.undone_seeds = before.undone_seeds + r->stratum->guilty.count;
	}
	return HG_OK;
}

static void release_stratum(struct retype_stratum *s)
{
	retype_map_clear(&s->guilty);
	free(s->seeds);
	free(s->queue);
}

static enum hg_status run_stratum(struct retyping *r, unsigned stratum)
{
	struct retype_stratum s = {.sure = strata[stratum].sure};
	enum hg_status status;
	r->stratum = &s;
	r->undoable = stratum > 0;
	if (r->undoable) {
		status = run_undoable(r, stratum);
	} else {
		status = propose_all(r, stratum);
		if (status == HG_OK)
			status = retyping_settle(r);
	}
	release_stratum(&s);
	r->stratum = NULL;
	return status;
}

enum hg_status retyping_run_strata(struct retyping *r)
{
	for (unsigned i = 0; i < sizeof(strata) / sizeof(strata[0]); i++)
		BASE_TRY(run_stratum(r, i));
	return HG_OK;
}
