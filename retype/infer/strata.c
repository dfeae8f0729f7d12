/* Runs of strata, until nobody is found guilty. */
#include "retype/infer/strata.h"

#include "base/assert.h"

enum { MOST_RUNS = 16, MOST_STRICT_RUNS = 4 };

static void take_seed(void *taker, uint32_t origin, uint32_t rank,
	struct snap_header_address header, struct retype_term type)
{
	struct infer_propagation *propagation = taker;
	(void)origin;
	propagation->work->result->counts.seeds++;
	infer_propose_seed(propagation, rank, header, type);
}

static void take_suspect(void *taker, uint32_t origin, uint32_t rank,
	struct snap_header_address header, struct retype_term type)
{
	infer_gather_seed(taker, origin, rank, header, type);
}

static enum hg_status ask_families(struct infer_seeder *seeder, const struct infer_stratum *stratum)
{
	for (unsigned i = 0; i < INFER_MOST_FAMILIES && stratum->families[i]; i++) {
		seeder->family = i;
		seeder->source = RETYPE_NO_HOLDER;
		BASE_TRY(stratum->families[i](seeder));
		BASE_TRY(seeder->failure->status);
	}
	return seeder->in->types->status;
}

static enum hg_status propose_seeds(struct infer_strata *s, const struct infer_stratum *stratum)
{
	s->seeder->take = take_seed;
	s->seeder->taker = s->propagation;
	BASE_TRY(ask_families(s->seeder, stratum));
	return infer_propagate(s->propagation);
}

/* Finds out which origins were wrong; *more if there are any. */
static enum hg_status find_guilty(struct infer_strata *s, const struct infer_stratum *stratum,
	bool strictly, bool *gave_up, bool *more)
{
	uint64_t known = s->blame->guilty.count;
	s->seeder->take = take_suspect;
	s->seeder->taker = s->blame;
	BASE_TRY(ask_families(s->seeder, stratum));
	BASE_TRY(infer_find_guilty(s->blame, strictly, gave_up));
	base_assert(s->blame->guilty.count >= known);
	*more = s->blame->guilty.count > known;
	return HG_OK;
}

/* What a run has counted is taken back with its changes. */
static void undo_run(
	struct infer_strata *s, const struct retype_counts *before, struct infer_clashes clashes)
{
	struct infer_work *work = s->propagation->work;
	struct retype_counts *counts = &work->result->counts;
	infer_undo_changes(s->undo);
	infer_forget_lies(s->propagation->disputes);
	infer_take_back_clashes(work, clashes);
	counts->seeds = before->seeds;
	counts->undone_seeds = before->undone_seeds + s->blame->guilty.count;
}

static enum hg_status run_undoable(struct infer_strata *s, const struct infer_stratum *stratum)
{
	enum { RUNS = MOST_RUNS + MOST_STRICT_RUNS };
	const struct infer_work *work = s->propagation->work;
	const struct retype_counts before = work->result->counts;
	s->changed = 0;
	const struct infer_clashes clashes = infer_clashes_so_far(work);
	for (unsigned run = 0; run < RUNS; run++) {
		bool more = false, strictly = run + 1 >= MOST_RUNS, gave_up = run + 1 == RUNS;
		BASE_TRY(propose_seeds(s, stratum));
		if (infer_clashes_so_far(work).counted != clashes.counted ||
			infer_any_conflict(s->blame))
			BASE_TRY(find_guilty(s, stratum, strictly, &gave_up, &more));
		if (!more) {
			s->changed = s->undo->changed_count;
			infer_accept_changes(s->undo, s->seeder->in->types, stratum->sure);
			return HG_OK;
		}
		if (gave_up)
			BASE_TRY(infer_give_up_changes(s->undo, s->blame->failure->error));
		undo_run(s, &before, clashes);
	}
	return HG_OK;
}

static enum hg_status run_stratum(
	struct infer_strata *s, const struct infer_stratum *stratum, bool undoable)
{
	enum hg_status status;
	s->seeder->sure = stratum->sure;
	s->seeder->refuses_misfits = undoable;
	infer_note_changes(s->propagation->work, undoable ? s->undo : NULL);
	status = undoable ? run_undoable(s, stratum) : propose_seeds(s, stratum);
	base_assert(status != HG_OK || s->undo->changed_count == 0);
	base_assert(undoable || s->blame->guilty.count == 0);
	infer_blame_release(s->blame);
	return status;
}

enum hg_status infer_run_strata(
	struct infer_strata *s, const struct infer_stratum *first, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		bool goes_on = true;
		for (unsigned time = 0; time <= first[i].repeated && goes_on; time++) {
			BASE_TRY(run_stratum(s, &first[i], i > 0));
			goes_on = s->changed > 0;
		}
	}
	return HG_OK;
}
