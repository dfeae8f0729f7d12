/*
 * Blocks that get types of which neither says all that the other does.
 *
 * They wait until the round ends, with all types that the block got in it, so that the order in
 * which it got them does not matter.  What the block holds decides: types that it contradicts were
 * lies (Obj.magic) or came from such, and count only if there are no others.
 */
#include "retype/infer/parts.h"

#include "base/grow.h"

/* More types of one block at once are joined as they are. */
enum { MOST_WEIGHED = 32 };

struct retype_dispute {
	struct snap_header_address header;
	uint32_t rank;
	struct retype_term type;
};

static void add(struct retyping *r, uint32_t rank, struct snap_header_address header,
	struct retype_term type)
{
	if (r->status == HG_OK)
		r->status = base_grow(&r->disputes, r->dispute_count, &r->dispute_capacity,
			sizeof(*r->disputes), r->error);
	if (r->status == HG_OK)
		r->disputes[r->dispute_count++] = (struct retype_dispute){header, rank, type};
}

void retyping_dispute(struct retyping *r, uint32_t rank, struct snap_header_address header,
	struct retype_term type)
{
	if (!retyping_bit(r->disputed, rank)) {
		retyping_set_bit(r->disputed, rank);
		add(r, rank, header, (struct retype_term){r->blocks[rank].type});
	}
	add(r, rank, header, type);
}

static int by_rank_and_type(const void *a, const void *b)
{
	const struct retype_dispute *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->type.n > y->type.n) - (x->type.n < y->type.n);
}

/*
 * Whether what a block holds contradicts a type.  Of the types of a block the one that it
 * contradicts most counts, so that those which say less of the same count nothing more.
 */
static bool lies(struct retyping *r, uint32_t rank, struct snap_header_address header,
	struct retype_term type)
{
	uint64_t counted = 0;
	uint32_t lie;
	if (retype_map_number(&r->lied, rank, &lie) && lie == type.n)
		return true;
	unsigned misfits = retyping_misfits(r, rank, header, type);
	if (misfits == 0)
		return false;
	if (!retype_map_get(&r->lies, rank, &counted))
		counted = 0;
	if (misfits > counted && r->status == HG_OK) {
		retyping_clash(r, rank, type, rank, misfits - (unsigned)counted);
		r->status = retype_map_set(&r->lies, rank, misfits, r->error);
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

static void weigh(struct retyping *r, struct weighed *w, struct retype_term type)
{
	unsigned kept = 0;
	w->joined = retyping_join(r, w->joined, type);
	for (unsigned i = 0; i < w->count; i++) {
		struct retype_term joined = retyping_join(r, w->types[i], type);
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
}

/* The types of one block. */
static void settle(struct retyping *r, const struct retype_dispute *disputes, uint64_t count)
{
	uint32_t rank = disputes->rank;
	struct weighed w = {.joined = RETYPE_NOTHING};
	struct retype_term believed = RETYPE_NOTHING;
	for (uint64_t i = 0; i < count; i++)
		if (i == 0 || disputes[i].type.n != disputes[i - 1].type.n)
			weigh(r, &w, disputes[i].type);
	bool is_weighed = w.count > 1 && !w.too_many;
	for (unsigned i = 0; i < w.count && is_weighed; i++)
		if (!lies(r, rank, disputes->header, w.types[i]))
			believed = retyping_join(r, believed, w.types[i]);
	if (!believed.n && is_weighed && r->status == HG_OK)
		r->status = retype_map_set(&r->lied, rank, w.joined.n, r->error);
	retyping_clear_bit(r->disputed, rank);
	retyping_change(r, rank, disputes->header, believed.n ? believed : w.joined);
}

void retyping_settle_disputes(struct retyping *r)
{
	uint64_t end;
	if (r->dispute_count == 0)
		return;
	qsort(r->disputes, r->dispute_count, sizeof(*r->disputes), by_rank_and_type);
	for (uint64_t first = 0; first < r->dispute_count; first = end) {
		for (end = first + 1;
			end < r->dispute_count && r->disputes[end].rank == r->disputes[first].rank;)
			end++;
		settle(r, r->disputes + first, end - first);
	}
	r->dispute_count = 0;
}
