/* Proposals and rounds: nearly all of the time that typing takes is spent here. */
#include "retype/infer/propagate.h"

#include "base/assert.h"
#include "retype/infer/fields.h"

void infer_propagation_init(struct infer_propagation *p, struct infer_work *work,
	struct infer_blocks *blocks, struct infer_disputes *disputes, struct infer_sweeper *sweeper)
{
	*p = (struct infer_propagation){.in = work->in,
		.heap = work->heap,
		.blocks = blocks,
		.work = work,
		.disputes = disputes,
		.sweeper = sweeper,
		.ranks = &work->in->snap->ranks};
}

/* Proposals */

/* A type for a block that has one: both, or what says all that the other does. */
static void join_proposal(struct infer_propagation *p, uint32_t rank,
	struct snap_header_address header, struct retype_term type)
{
	const struct retype_block *block = &p->work->blocks[rank];
	struct retype_term old = {block->type};
	struct retype_term joined = infer_join_types(p->work->fits, old, type);
	bool is_closure = (block->shape & 255) == SNAP_TAG_CLOSURE;
	bool is_agreed = is_closure || retype_is(joined, old) || retype_is(joined, type);
	if (is_agreed && !infer_is_disputed(p->disputes, rank))
		infer_change(p->work, rank, header, joined);
	else
		infer_add_dispute(p->disputes, rank, header, type);
}

static void propose(struct infer_propagation *p, uint32_t rank, struct snap_header_address header,
	struct retype_term type, uint32_t holder)
{
	if (p->work->blocks[rank].type == type.n)
		return;
	const struct infer_fit *fit = infer_weigh_proposal(p->work, rank, header, type);
	if (!fit)
		return;
	if (fit->fit.match == RETYPE_MISFIT)
		infer_clash(p->work, rank, type, holder, 1);
	else if (p->work->blocks[rank].type)
		join_proposal(p, rank, header, fit->narrowed);
	else
		infer_take(p->work, rank, header, fit);
}

void infer_propose_seed(struct infer_propagation *p, uint32_t rank,
	struct snap_header_address header, struct retype_term type)
{
	propose(p, rank, header, type, RETYPE_NO_HOLDER);
}

/* Proposes what waits: all ask for the memory of their blocks first. */
static void end_waiting(struct infer_propagation *p)
{
	struct infer_work *work = p->work;
	unsigned count = 0;
	base_assert(p->waiting_count <= INFER_WAITING);
	for (unsigned i = 0; i < p->waiting_count; i++) {
		const struct snap_line *line = p->waiting[i].line;
		struct retype_term type = p->waiting[i].type;
		struct infer_target to = {.header = p->waiting[i].header};
		/* The type may be of a function in a closure, and not of the closure's first one.
		 */
		if (snap_line_is_block(line, to.header))
			to.rank = snap_line_rank(line, to.header).n;
		else if (!infer_resolve_stray(p->in->snap, snap_block_of(to.header).a, &to))
			continue;
		else if (to.is_infix)
			type = infer_any_function(p->in);
		if (p->waiting[i].is_garbage && !infer_is_unreached(p->in, to.rank))
			continue;
		__builtin_prefetch(&work->blocks[to.rank], 1);
		if (p->is_short)
			snap_find_soon(&p->heap->finder, to.header);
		/* One by one: the processor waits when it reads together what it wrote apart. */
		p->waiting[count].header = to.header;
		p->waiting[count].type = type;
		p->waiting[count].holder = p->waiting[i].holder;
		p->waiting[count++].rank = to.rank;
	}
	work->result->counts.edges += count;
	p->waiting_count = 0;
	for (unsigned i = 0; i < count; i++) {
		const struct infer_waiting *now = &p->waiting[i];
		base_assert(now->rank < p->in->snap->block_count);
		if (!infer_take_plainly(work, now->rank, now->header, now->type))
			propose(p, now->rank, now->header, now->type, now->holder);
	}
}

/* The block whose fields are proposed. */
struct holder {
	struct infer_propagation *propagation;
	uint32_t rank;
	bool is_garbage;
};

INFER_INLINE void wait_with(void *context, uint64_t value, struct retype_term type)
{
	const struct holder *holder = context;
	struct infer_propagation *p = holder->propagation;
	struct snap_header_address header = snap_pointed_header(value);
	if (value & 7 || !snap_ranks_spans(p->ranks, header))
		return;
	const struct snap_line *line = snap_ranks_line_of(p->ranks, header);
	__builtin_prefetch(line);
	base_assert(p->waiting_count < INFER_WAITING);
	p->waiting[p->waiting_count++] = (struct infer_waiting){.line = line,
		.header = header,
		.type = type,
		.holder = holder->rank,
		.is_garbage = holder->is_garbage};
	if (p->waiting_count == INFER_WAITING)
		end_waiting(p);
}

/* Proposes the types of its fields' blocks, from its own. */
static void spread(struct infer_propagation *p, uint32_t rank, struct retype_term type,
	const struct snap_cell *cell)
{
	struct holder holder = {p, rank, infer_is_unreached(p->in, rank)};
	const struct retype_fit fit =
		infer_find_fit(p->work->fits, type, cell->tag, cell->wosize)->fit;
	infer_take_block((struct infer_taker){wait_with, &holder}, p->blocks, &fit, type, cell);
}

/* Rounds */

static void run_listed_round(struct infer_propagation *p)
{
	enum { AHEAD = 12, SHORT = 1 << 8 };
	const struct infer_round *now = &p->work->now;
	struct snap_finder *finder = &p->heap->finder;
	struct snap_cell cell;
	p->is_short = now->count <= SHORT;
	for (uint64_t i = 0; i < now->count; i++) {
		uint64_t at = infer_is_reordered(p->in) ? infer_reorder(p->in, i, now->count) : i;
		const struct infer_front *front = &now->listed[at];
		if (i + AHEAD < now->count)
			snap_find_soon(finder, now->listed[i + AHEAD].header);
		if (snap_find(finder, (struct snap_rank){front->rank}, front->header, &cell))
			spread(p, front->rank, front->type, &cell);
	}
}

static void visit_dense(void *context, uint32_t rank, const struct snap_cell *cell)
{
	struct infer_propagation *p = context;
	spread(p, rank, infer_type_in_round(p->work, rank), cell);
}

static enum hg_status run_dense_round(struct infer_propagation *p)
{
	p->is_short = false;
	BASE_TRY(infer_sweep(p->sweeper, p->work->now.bits, visit_dense, p));
	end_waiting(p);
	infer_end_dense_round(p->work);
	return HG_OK;
}

static enum hg_status run_round(struct infer_propagation *p)
{
	if (p->work->now.dense) {
		BASE_TRY(run_dense_round(p));
	} else {
		run_listed_round(p);
		end_waiting(p);
	}
	infer_resolve_disputes(p->disputes);
	base_assert(p->waiting_count == 0 && p->disputes->count == 0);
	return HG_OK;
}

enum hg_status infer_propagate(struct infer_propagation *p)
{
	enum { ROUNDS_PER_REPORT = 1 << 12 };
	const struct retype_types *types = p->in->types;
	const struct infer_failure *failure = p->work->failure;
	infer_resolve_disputes(p->disputes);
	while (failure->status == HG_OK && types->status == HG_OK && infer_next_round(p->work)) {
		if ((p->work->result->counts.rounds - 1) % ROUNDS_PER_REPORT == 0)
			BASE_TRY(base_progress(p->in->snap->session, "typing", 0, 0));
		BASE_TRY(run_round(p));
	}
	return types->status != HG_OK ? types->status : failure->status;
}
