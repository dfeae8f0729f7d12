/* The types of disputed blocks are weighed, those of one block at a time. */
#include "retype/infer/disputes.h"

#include "base/assert.h"
#include "base/grow.h"

/* More types of one block at once are joined as they are. */
enum { MOST_WEIGHED = 32 };

enum hg_status infer_disputes_init(struct infer_disputes *d, struct infer_work *work,
	struct infer_blocks *blocks, struct base_arena *arena)
{
	*d = (struct infer_disputes){.work = work, .blocks = blocks, .failure = work->failure};
	return base_arena_zalloc(arena, base_bit_words(work->in->snap->block_count),
		sizeof(*d->disputed), (void **)&d->disputed, d->failure->error);
}

void infer_disputes_release(struct infer_disputes *d)
{
	base_map_release(&d->lied);
	base_map_release(&d->lies);
	free(d->disputes);
}

void infer_forget_lies(struct infer_disputes *d)
{
	base_assert(d->count == 0);
	base_map_release(&d->lies);
}

static void add_dispute(struct infer_disputes *d, uint32_t rank, struct snap_header_address header,
	struct retype_term type)
{
	struct infer_failure *failure = d->failure;
	if (failure->status == HG_OK)
		failure->status = base_grow(
			&d->disputes, d->count, &d->capacity, sizeof(*d->disputes), failure->error);
	if (failure->status == HG_OK)
		d->disputes[d->count++] = (struct infer_dispute){header, rank, type};
}

void infer_add_dispute(struct infer_disputes *d, uint32_t rank, struct snap_header_address header,
	struct retype_term type)
{
	struct retype_term old = {d->work->blocks[rank].type};
	base_assert(old.n);
	if (!base_bit(d->disputed, rank)) {
		base_bit_set(d->disputed, rank);
		add_dispute(d, rank, header, old);
	}
	add_dispute(d, rank, header, type);
}

static int compare_disputes(const void *a, const void *b)
{
	const struct infer_dispute *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->type.n > y->type.n) - (x->type.n < y->type.n);
}

/*
 * Whether what a block holds contradicts a type.  Of the types of a block the one that it
 * contradicts most counts, so that those which say less of the same count nothing more.
 */
static bool is_lie(struct infer_disputes *d, uint32_t rank, struct snap_header_address header,
	struct retype_term type)
{
	struct infer_failure *failure = d->failure;
	uint64_t counted = 0;
	uint32_t lie;
	if (base_map_number(&d->lied, rank, &lie) && lie == type.n)
		return true;
	unsigned misfits = infer_count_misfits(d->blocks, rank, header, type);
	if (misfits == 0)
		return false;
	if (!base_map_get(&d->lies, rank, &counted))
		counted = 0;
	if (misfits > counted && failure->status == HG_OK) {
		infer_clash(d->work, rank, type, rank, misfits - (unsigned)counted);
		failure->status = base_map_set(&d->lies, rank, misfits, failure->error);
	}
	return true;
}

/* Types of which none says all that another does. */
struct weighed {
	struct retype_term types[MOST_WEIGHED];
	unsigned count;
	bool too_many;
	struct retype_term joined; /* of all */
};

static void weigh(struct infer_fits *fits, struct weighed *w, struct retype_term type)
{
	unsigned kept = 0;
	w->joined = infer_join_types(fits, w->joined, type);
	for (unsigned i = 0; i < w->count; i++) {
		struct retype_term joined = infer_join_types(fits, w->types[i], type);
		if (retype_is(joined, w->types[i]))
			return;
		if (!retype_is(joined, type))
			w->types[kept++] = w->types[i];
	}
	w->count = kept;
	if (kept == MOST_WEIGHED)
		w->too_many = true;
	else
		w->types[w->count++] = type;
	base_assert(w->count <= MOST_WEIGHED);
}

/* All types that one block got. */
static void resolve_dispute(
	struct infer_disputes *d, const struct infer_dispute *disputes, uint64_t count)
{
	struct infer_fits *fits = d->work->fits;
	struct infer_failure *failure = d->failure;
	uint32_t rank = disputes->rank;
	struct weighed w = {.joined = RETYPE_NOTHING};
	struct retype_term believed = RETYPE_NOTHING;
	base_assert(base_bit(d->disputed, rank));
	for (uint64_t i = 0; i < count; i++)
		if (i == 0 || disputes[i].type.n != disputes[i - 1].type.n)
			weigh(fits, &w, disputes[i].type);
	bool is_weighed = w.count > 1 && !w.too_many;
	for (unsigned i = 0; i < w.count && is_weighed; i++)
		if (!is_lie(d, rank, disputes->header, w.types[i]))
			believed = infer_join_types(fits, believed, w.types[i]);
	if (!believed.n && is_weighed && failure->status == HG_OK)
		failure->status = base_map_set(&d->lied, rank, w.joined.n, failure->error);
	base_bit_clear(d->disputed, rank);
	infer_change(d->work, rank, disputes->header, believed.n ? believed : w.joined);
}

void infer_resolve_disputes(struct infer_disputes *d)
{
	uint64_t end;
	if (d->count == 0)
		return;
	qsort(d->disputes, d->count, sizeof(*d->disputes), compare_disputes);
	base_assert(BASE_IS_SORTED(d->disputes, d->count, rank));
	for (uint64_t first = 0; first < d->count; first = end) {
		for (end = first + 1;
			end < d->count && d->disputes[end].rank == d->disputes[first].rank;)
			end++;
		resolve_dispute(d, d->disputes + first, end - first);
	}
	d->count = 0;
}
