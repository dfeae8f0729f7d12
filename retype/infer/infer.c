/* Puts together what a run of typing is made of, and counts what came out. */
#include "retype/infer/infer.h"

#include "base/assert.h"
#include "retype/infer/strata.h"

/* Until the run ends. */
struct run {
	const struct infer_input *in;
	struct infer_result *result;
	struct infer_failure failure;
	struct base_arena arena;
	struct infer_heap heap;
	struct infer_fits fits;
	struct infer_blocks blocks;
	struct infer_undo undo;
	struct infer_sweeper sweeper;
	struct infer_work work;
	struct infer_disputes disputes;
	struct infer_propagation propagation;
	struct infer_blame blame;
	struct infer_seeder seeder;
};

static enum hg_status init_memory(struct run *r, struct base_arena *kept)
{
	const struct snap *snap = r->in->snap;
	struct hg_error *error = r->failure.error;
	BASE_TRY(base_arena_init(&r->arena, &snap->session->budget, "types", error));
	BASE_TRY(infer_heap_init(&r->heap, snap, error));
	BASE_TRY(base_arena_zalloc(kept, snap->block_count, sizeof(*r->result->blocks),
		(void **)&r->result->blocks, error));
	r->heap.blocks = r->result->blocks;
	BASE_TRY(infer_fits_init(&r->fits, r->in->types, &r->arena, error));
	return infer_undo_init(&r->undo, r->result->blocks, snap->block_count, &r->arena, error);
}

static enum hg_status init_run(struct run *r, struct base_arena *kept)
{
	BASE_TRY(init_memory(r, kept));
	infer_blocks_init(&r->blocks, r->in, &r->heap, &r->fits, &r->failure);
	BASE_TRY(
		infer_sweeper_init(&r->sweeper, r->in, &r->heap, &r->undo, &r->failure, &r->arena));
	BASE_TRY(infer_work_init(
		&r->work, r->in, &r->heap, &r->fits, r->result, &r->failure, &r->arena));
	BASE_TRY(infer_disputes_init(&r->disputes, &r->work, &r->blocks, &r->arena));
	infer_propagation_init(&r->propagation, &r->work, &r->blocks, &r->disputes, &r->sweeper);
	infer_blame_init(&r->blame, &r->work, &r->blocks, &r->undo, &r->arena);
	r->seeder = (struct infer_seeder){.in = r->in,
		.heap = &r->heap,
		.fits = &r->fits,
		.blocks = &r->blocks,
		.sweeper = &r->sweeper,
		.failure = &r->failure,
		.arena = &r->arena,
		.blame = &r->blame};
	return infer_note_shapes(&r->sweeper, r->result->blocks);
}

static void release_run(struct run *r)
{
	infer_blame_release(&r->blame);
	infer_disputes_release(&r->disputes);
	infer_work_release(&r->work);
	infer_blocks_release(&r->blocks);
	infer_undo_release(&r->undo);
	infer_heap_release(&r->heap);
	base_arena_release(&r->arena);
}

/* One closure may well be a function of several types: it is polymorphic. */
static enum hg_status count_conflicts(struct run *r)
{
	const struct snap *snap = r->in->snap;
	struct retype_counts *counts = &r->result->counts;
	uint32_t terms = retype_term_count(r->in->types);
	bool *is_conflict;
	BASE_TRY(base_arena_alloc(
		&r->arena, terms, sizeof(*is_conflict), (void **)&is_conflict, r->failure.error));
	for (uint32_t i = 0; i < terms; i++)
		is_conflict[i] = infer_is_conflict(r->in->types, (struct retype_term){i});
	for (uint32_t rank = 0; rank < snap->block_count; rank++) {
		const struct retype_block *block = &r->result->blocks[rank];
		base_assert(block->type < terms);
		if (!is_conflict[block->type] || (block->shape & 255) == SNAP_TAG_CLOSURE)
			continue;
		struct snap_header_address header =
			snap_ranks_header(&snap->ranks, (struct snap_rank){rank});
		if (infer_is_static(snap, header))
			counts->static_conflicts++;
		else
			counts->type_conflicts++;
	}
	base_assert(counts->static_conflicts + counts->type_conflicts <= snap->block_count);
	return HG_OK;
}

/* Another stratum may have given them a type, or their tag tells. */
static void count_given_up(struct run *r)
{
	const uint64_t *given_up = r->undo.given_up;
	for (uint32_t rank = 0; given_up && rank < r->in->snap->block_count; rank++) {
		const struct retype_block *block = &r->result->blocks[rank];
		r->result->counts.given_up += base_bit(given_up, rank) && !block->type &&
					      !r->in->by_tag[block->shape & 255];
	}
}

static enum hg_status run_plan(struct run *r, const struct infer_plan *plan)
{
	struct infer_strata strata = {.seeder = &r->seeder,
		.propagation = &r->propagation,
		.blame = &r->blame,
		.undo = &r->undo};
	BASE_TRY(infer_run_strata(&strata, plan->strata, plan->count));
	BASE_TRY(plan->finish(&r->seeder, &r->work));
	BASE_TRY(count_conflicts(r));
	count_given_up(r);
	base_assert(r->undo.changed_count == 0 && r->disputes.count == 0);
	base_assert(r->result->counts.given_up <= r->in->snap->block_count);
	base_assert(r->result->clash_count <= r->result->counts.shape_clashes);
	return r->in->types->status;
}

enum hg_status infer_run(const struct infer_input *in, const struct infer_plan *plan,
	struct base_arena *kept, struct infer_result *result, struct hg_error *error)
{
	struct run r = {.in = in, .result = result, .failure = {.error = error}};
	enum hg_status status = init_run(&r, kept);
	if (status == HG_OK)
		status = run_plan(&r, plan);
	release_run(&r);
	return status;
}
