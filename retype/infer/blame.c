/*
 * Whose fault a clash is: from the origins of seeds in order of their numbers, each block that the
 * stratum changed is reached by the first origin that leads to it; what its fields then run into is
 * the fault of that origin.  So an origin that led to the same is found only when the stratum is
 * run again; when that has been too often, it is given up with the first one.
 */
#include "retype/infer/parts.h"

#include "base/grow.h"

bool retyping_is_conflict(
	const struct retyping *r, uint32_t rank, struct snap_header_address header)
{
	const struct retype_block *block = &r->blocks[rank];
	/* One closure may well be a function of several types: it is polymorphic. */
	if (!retyping_bit(r->changed, rank) || (block->shape & 255) == SNAP_TAG_CLOSURE ||
		!retyping_is_set(r, (struct retype_term){block->type}))
		return false;
	struct retype_term before = {retyping_type_before(r, rank)};
	return !(before.n && retyping_is_set(r, before)) && !retyping_is_static(r, header);
}

static void accuse(struct retyping *r)
{
	struct retype_stratum *s = r->stratum;
	if (r->status == HG_OK)
		r->status = retype_map_set(&s->guilty, s->origin, 1, r->error);
}

static bool is_guilty(const struct retype_stratum *s, uint32_t origin)
{
	uint64_t guilty;
	return retype_map_get(&s->guilty, origin, &guilty);
}

static void reach(struct retyping *r, uint32_t rank, struct snap_header_address header)
{
	struct retype_stratum *s = r->stratum;
	if (retyping_is_conflict(r, rank, header))
		accuse(r);
	if (s->is_strict && s->origins[rank] && is_guilty(s, s->origins[rank]) &&
		!is_guilty(s, s->origin)) {
		s->gave_up = true;
		accuse(r);
	}
	if (!retyping_bit(r->changed, rank) || s->origins[rank] || r->status != HG_OK)
		return;
	s->origins[rank] = s->origin;
	r->status = base_grow(
		&s->queue, s->queue_count, &s->queue_capacity, sizeof(*s->queue), r->error);
	if (r->status == HG_OK)
		s->queue[s->queue_count++] = (struct retype_seed){s->origin, rank, header};
}

static void watch(struct retyping *r, uint32_t rank, struct snap_header_address header, bool fits)
{
	if (fits)
		reach(r, rank, header);
	else
		accuse(r);
}

static int by_origin(const void *a, const void *b)
{
	const struct retype_seed *x = a, *y = b;
	if (x->origin != y->origin)
		return x->origin < y->origin ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static void follow(struct retyping *r)
{
	struct retype_stratum *s = r->stratum;
	struct snap_cell cell;
	while (s->queue_count && r->status == HG_OK) {
		struct retype_seed at = s->queue[--s->queue_count];
		struct retype_term type = {r->blocks[at.rank].type};
		if (snap_find(&r->finder, (struct snap_rank){at.rank}, at.header, &cell))
			retyping_spread(r, at.rank, type, &cell);
	}
}

enum hg_status retyping_blame(struct retyping *r)
{
	struct retype_stratum *s = r->stratum;
	BASE_TRY(base_arena_zalloc(&r->arena, r->snap->block_count, sizeof(*s->origins),
		(void **)&s->origins, r->error));
	if (s->seed_count)
		qsort(s->seeds, s->seed_count, sizeof(*s->seeds), by_origin);
	r->finder.count = 0;
	r->watch = watch;
	for (uint64_t i = 0; i < s->seed_count && r->status == HG_OK; i++) {
		s->origin = s->seeds[i].origin;
		reach(r, s->seeds[i].rank, s->seeds[i].header);
		if (i + 1 == s->seed_count || s->seeds[i + 1].origin != s->origin)
			follow(r);
	}
	r->watch = NULL;
	base_arena_free(&r->arena, s->origins);
	s->origins = NULL;
	return r->status;
}
