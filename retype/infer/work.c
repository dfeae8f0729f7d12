/* Lists of rounds, and changes of types. */
#include "retype/infer/work.h"

#include "base/assert.h"
#include "base/grow.h"

#include <string.h>

/* A part of the blocks: rounds of more are sweeps over the heap.  Each listed block takes 16 bytes,
 * in two lists. */
enum { LISTED_PART = 64, LISTED_LEAST = 1024 };

static enum hg_status init_round(
	struct infer_work *work, struct infer_round *round, struct base_arena *arena)
{
	struct hg_error *error = work->failure->error;
	BASE_TRY(base_arena_alloc(
		arena, work->listed_most, sizeof(*round->listed), (void **)&round->listed, error));
	return base_arena_zalloc(arena, base_bit_words(work->in->snap->block_count),
		sizeof(*round->bits), (void **)&round->bits, error);
}

enum hg_status infer_work_init(struct infer_work *work, const struct infer_input *in,
	struct infer_heap *heap, struct infer_fits *fits, struct infer_result *result,
	struct infer_failure *failure, struct base_arena *arena)
{
	*work = (struct infer_work){.in = in,
		.heap = heap,
		.fits = fits,
		.result = result,
		.failure = failure,
		.blocks = result->blocks,
		.listed_most = in->snap->block_count / LISTED_PART + LISTED_LEAST};
	BASE_TRY(init_round(work, &work->now, arena));
	return init_round(work, &work->next, arena);
}

void infer_work_release(struct infer_work *work)
{
	base_map_release(&work->round_types);
}

void infer_note_changes(struct infer_work *work, struct infer_undo *undo)
{
	base_assert(work->next.count == 0);
	work->undo = undo;
}

/* Rounds */

static int compare_ranks(const void *a, const void *b)
{
	const struct infer_front *x = a, *y = b;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static bool is_sorted_by_rank(const struct infer_round *round)
{
	for (uint64_t i = 1; i < round->count; i++)
		if (round->listed[i].rank < round->listed[i - 1].rank)
			return false;
	return true;
}

/* Where blocks are found by walking, in order of addresses, so that one walk finds many. */
static void sort_listed(const struct snap *snap, struct infer_round *round)
{
	if (snap->process || is_sorted_by_rank(round))
		return;
	qsort(round->listed, round->count, sizeof(*round->listed), compare_ranks);
	base_assert(BASE_IS_SORTED(round->listed, round->count, rank));
}

static void begin_listed_round(struct infer_work *work)
{
	struct infer_round *now = &work->now;
	sort_listed(work->in->snap, now);
	for (uint64_t i = 0; i < now->count; i++) {
		uint32_t rank = now->listed[i].rank;
		base_assert(base_bit(now->bits, rank));
		now->listed[i].type.n = work->blocks[rank].type;
		base_bit_clear(now->bits, rank);
	}
}

bool infer_next_round(struct infer_work *work)
{
	struct infer_round done = work->now;
	if (work->next.count == 0)
		return false;
	base_assert(work->next.count <= work->listed_most);
	work->now = work->next;
	work->next = done;
	work->next.count = 0;
	work->next.dense = false;
	work->result->counts.rounds++;
	if (!work->now.dense)
		begin_listed_round(work);
	return true;
}

void infer_end_dense_round(struct infer_work *work)
{
	memset(work->now.bits, 0,
		base_bit_words(work->in->snap->block_count) * sizeof(*work->now.bits));
	base_map_release(&work->round_types);
}

/* Changes */

/* A dense round that has yet to look at the block does so with the type it had. */
static void keep_round_type(struct infer_work *work, uint32_t rank)
{
	uint32_t type = work->blocks[rank].type, kept;
	if (!type || !work->now.dense || !base_bit(work->now.bits, rank) ||
		base_map_number(&work->round_types, rank, &kept))
		return;
	if (work->failure->status == HG_OK)
		work->failure->status =
			base_map_set(&work->round_types, rank, type, work->failure->error);
}

static void set_type(struct infer_work *work, uint32_t rank, struct retype_term type)
{
	base_assert(rank < work->in->snap->block_count);
	base_assert(type.n || work->in->types->status != HG_OK);
	base_assert(retype_is_closed(work->in->types, type));
	keep_round_type(work, rank);
	if (!work->undo)
		work->blocks[rank].confidence = HG_EXACT;
	else if (work->failure->status == HG_OK)
		work->failure->status = infer_undo_note(work->undo, rank, work->failure->error);
	work->blocks[rank].type = type.n;
}

void infer_take(struct infer_work *work, uint32_t rank, struct snap_header_address header,
	const struct infer_fit *fit)
{
	bool leads_on = fit->leads_on;
	set_type(work, rank, fit->narrowed);
	if (leads_on)
		infer_put_into_next(work, rank, header);
}

void infer_change(struct infer_work *work, uint32_t rank, struct snap_header_address header,
	struct retype_term type)
{
	if (type.n == work->blocks[rank].type)
		return;
	set_type(work, rank, type);
	struct infer_shape shape = infer_read_shape(work->heap, rank, header);
	if (infer_find_fit(work->fits, type, shape.tag, shape.wosize)->leads_on)
		infer_put_into_next(work, rank, header);
}

/* What is abstract says less than the tag of a block that describes itself. */
static bool says_nothing(const struct infer_input *in, struct retype_term type, unsigned tag)
{
	enum retype_kind kind = retype_view_of(in->types, type).kind;
	return kind == RETYPE_UNKNOWN || kind == RETYPE_VARIABLE || in->by_tag[tag];
}

const struct infer_fit *infer_weigh_proposal(struct infer_work *work, uint32_t rank,
	struct snap_header_address header, struct retype_term type)
{
	uint64_t key = (uint64_t)type.n << 32 | work->blocks[rank].shape;
	const struct infer_fit *fit = infer_fit_slot(work->fits, key);
	if (fit->key == key && fit->is_plain)
		return fit;
	struct infer_shape shape = infer_read_shape(work->heap, rank, header);
	fit = infer_fit_within(work->fits, type, shape.tag, shape.wosize);
	if (!fit || (fit->fit.match == RETYPE_UNTOLD &&
			    says_nothing(work->in, fit->narrowed, shape.tag)))
		return NULL;
	return fit;
}

void infer_clash(struct infer_work *work, uint32_t rank, struct retype_term type, uint32_t holder,
	unsigned count)
{
	/* 16 bytes each; with so many the types are of another program. */
	enum { MOST_NOTED = 1 << 20 };
	struct infer_result *result = work->result;
	struct infer_failure *failure = work->failure;
	result->counts.shape_clashes += count;
	if (result->clash_count == MOST_NOTED || failure->status != HG_OK)
		return;
	failure->status = base_grow(&result->clashes, result->clash_count, &result->clash_capacity,
		sizeof(*result->clashes), failure->error);
	if (failure->status == HG_OK)
		result->clashes[result->clash_count++] =
			(struct retype_clash){rank, type.n, holder, count};
}

struct infer_clashes infer_clashes_so_far(const struct infer_work *work)
{
	return (struct infer_clashes){
		work->result->counts.shape_clashes, work->result->clash_count};
}

void infer_take_back_clashes(struct infer_work *work, struct infer_clashes before)
{
	base_assert(work->result->clash_count >= before.noted);
	work->result->counts.shape_clashes = before.counted;
	work->result->clash_count = before.noted;
}
