/* Follows the types of a stratum once more, from the seeds of one origin after the other. */
#include "retype/infer/blame.h"

#include "base/assert.h"
#include "base/grow.h"
#include "retype/infer/fields.h"

void infer_blame_init(struct infer_blame *b, struct infer_work *work, struct infer_blocks *blocks,
	struct infer_undo *undo, struct base_arena *arena)
{
	*b = (struct infer_blame){.work = work,
		.blocks = blocks,
		.undo = undo,
		.failure = work->failure,
		.arena = arena};
}

void infer_blame_release(struct infer_blame *b)
{
	base_map_release(&b->guilty);
	free(b->seeds);
	free(b->queue);
	b->seeds = b->queue = NULL;
	b->seed_count = b->seed_capacity = b->queue_count = b->queue_capacity = 0;
}

bool infer_is_guilty(const struct infer_blame *b, uint32_t origin)
{
	uint64_t guilty;
	return base_map_get(&b->guilty, origin, &guilty);
}

/* Whether a block has become several types at once in this stratum, and is no constant. */
static bool is_conflict(
	const struct infer_blame *b, uint32_t rank, struct snap_header_address header)
{
	const struct infer_input *in = b->work->in;
	const struct retype_block *block = &b->work->blocks[rank];
	/* One closure may well be a function of several types: it is polymorphic. */
	if (!infer_is_changed(b->undo, rank) || (block->shape & 255) == SNAP_TAG_CLOSURE ||
		!infer_is_conflict(in->types, (struct retype_term){block->type}))
		return false;
	struct retype_term before = {infer_type_before(b->undo, rank)};
	return !(before.n && infer_is_conflict(in->types, before)) &&
	       !infer_is_static(in->snap, header);
}

bool infer_any_conflict(const struct infer_blame *b)
{
	const struct infer_undo *undo = b->undo;
	const struct infer_input *in = b->work->in;
	for (uint64_t i = 0; i < base_bit_words(undo->block_count); i++)
		for (uint64_t left = undo->changed[i]; left; left &= left - 1) {
			uint32_t rank = (uint32_t)(64 * i + (uint64_t)__builtin_ctzll(left));
			struct retype_term type = {undo->blocks[rank].type};
			if (!infer_is_conflict(in->types, type))
				continue;
			struct snap_header_address header =
				snap_ranks_header(&in->snap->ranks, (struct snap_rank){rank});
			if (is_conflict(b, rank, header))
				return true;
		}
	return false;
}

void infer_gather_seed(struct infer_blame *b, uint32_t origin, uint32_t rank,
	struct snap_header_address header, struct retype_term type)
{
	struct infer_failure *failure = b->failure;
	base_assert(origin != 0);
	if (failure->status == HG_OK)
		failure->status = base_grow(&b->seeds, b->seed_count, &b->seed_capacity,
			sizeof(*b->seeds), failure->error);
	if (failure->status == HG_OK)
		b->seeds[b->seed_count++] = (struct infer_gathered){origin, rank, header, type};
}

static void accuse(struct infer_blame *b)
{
	if (b->failure->status != HG_OK || infer_is_guilty(b, b->origin))
		return;
	b->failure->status = base_map_set(&b->guilty, b->origin, 1, b->failure->error);
}

/* Who leads to what a guilty one leads to. */
static void accuse_follower(struct infer_blame *b, uint32_t rank)
{
	uint32_t first = b->origins[rank];
	if (!first || !infer_is_guilty(b, first) || infer_is_guilty(b, b->origin))
		return;
	b->gave_up = true;
	accuse(b);
}

/* The origin leads to the block; the first one that does is followed from there. */
static void reach(
	struct infer_blame *b, uint32_t rank, struct snap_header_address header, bool strictly)
{
	struct infer_failure *failure = b->failure;
	if (is_conflict(b, rank, header))
		accuse(b);
	if (strictly)
		accuse_follower(b, rank);
	if (!infer_is_changed(b->undo, rank) || b->origins[rank] || failure->status != HG_OK)
		return;
	base_assert(b->origin != 0 && b->queue_count < b->undo->changed_count);
	b->origins[rank] = b->origin;
	failure->status = base_grow(
		&b->queue, b->queue_count, &b->queue_capacity, sizeof(*b->queue), failure->error);
	if (failure->status == HG_OK)
		b->queue[b->queue_count++] =
			(struct infer_gathered){b->origin, rank, header, RETYPE_NOTHING};
}

/* Whether what was said of a block is in the type that it has; nothing: it says nothing. */
enum verdict { SAYS_NOTHING, IS_BELIEVED, IS_REFUSED };

static enum verdict judge(const struct infer_blame *b, uint32_t rank,
	struct snap_header_address header, struct retype_term type)
{
	struct infer_work *work = b->work;
	const struct infer_fit *fit = infer_weigh_proposal(work, rank, header, type);
	if (!fit)
		return SAYS_NOTHING;
	struct retype_term old = {work->blocks[rank].type};
	bool is_believed = fit->fit.match != RETYPE_MISFIT &&
			   retype_is(infer_join_types(work->fits, old, fit->narrowed), old);
	return is_believed ? IS_BELIEVED : IS_REFUSED;
}

struct look {
	struct infer_blame *blame;
	bool strictly;
	bool is_garbage; /* nothing reaches the block whose fields these are */
};

/* What was refused is not in the type that the block has. */
static void look_at_field(void *context, uint64_t value, struct retype_term type)
{
	const struct look *look = context;
	struct infer_blame *b = look->blame;
	const struct infer_input *in = b->work->in;
	struct infer_target to;
	if (!infer_resolve(in->snap, value, &to))
		return;
	if (to.is_infix)
		type = infer_any_function(in);
	if (look->is_garbage && !infer_is_unreached(in, to.rank))
		return; /* as in propagation */
	enum verdict verdict = judge(b, to.rank, to.header, type);
	if (verdict == IS_BELIEVED)
		reach(b, to.rank, to.header, look->strictly);
	else if (verdict == IS_REFUSED)
		accuse(b);
}

/* From the blocks that the origin has reached first. */
static void follow_origin(struct infer_blame *b, bool strictly)
{
	struct infer_work *work = b->work;
	struct look look = {.blame = b, .strictly = strictly};
	struct snap_cell cell;
	while (b->queue_count && b->failure->status == HG_OK) {
		struct infer_gathered at = b->queue[--b->queue_count];
		struct retype_term type = {work->blocks[at.rank].type};
		look.is_garbage = infer_is_unreached(work->in, at.rank);
		if (!snap_find(&work->heap->finder, (struct snap_rank){at.rank}, at.header, &cell))
			continue;
		const struct retype_fit fit =
			infer_find_fit(work->fits, type, cell.tag, cell.wosize)->fit;
		infer_take_block(
			(struct infer_taker){look_at_field, &look}, b->blocks, &fit, type, &cell);
	}
}

static int compare_origins(const void *a, const void *b)
{
	const struct infer_gathered *x = a, *y = b;
	if (x->origin != y->origin)
		return x->origin < y->origin ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

enum hg_status infer_find_guilty(struct infer_blame *b, bool strictly, bool *gave_up)
{
	const struct infer_failure *failure = b->failure;
	b->gave_up = false;
	BASE_TRY(base_arena_zalloc(b->arena, b->undo->block_count, sizeof(*b->origins),
		(void **)&b->origins, failure->error));
	if (b->seed_count)
		qsort(b->seeds, b->seed_count, sizeof(*b->seeds), compare_origins);
	base_assert(BASE_IS_SORTED(b->seeds, b->seed_count, origin));
	infer_forget_walk(&b->work->heap->finder);
	for (uint64_t i = 0; i < b->seed_count && failure->status == HG_OK; i++) {
		b->origin = b->seeds[i].origin;
		if (judge(b, b->seeds[i].rank, b->seeds[i].header, b->seeds[i].type) == IS_REFUSED)
			accuse(b);
		reach(b, b->seeds[i].rank, b->seeds[i].header, strictly);
		if (i + 1 == b->seed_count || b->seeds[i + 1].origin != b->origin)
			follow_origin(b, strictly);
	}
	base_assert(b->queue_count == 0 || failure->status != HG_OK);
	base_arena_free(b->arena, b->origins);
	b->origins = NULL;
	b->seed_count = 0;
	*gave_up |= b->gave_up;
	return failure->status;
}
