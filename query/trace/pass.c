/* Passes over events, and what the filter must know for them. */
#include "query/trace/pass.h"

#include "query/trace/alive.h"

#include "base/grow.h"

#include <string.h>

/* States of an object. */
enum { MET = 1, KEPT = 2, PROMOTED = 4, GONE = 8 };

bool query_hides_code(const struct hg_trace *trace, uint32_t number)
{
	const struct memtrace_locations *locations = memtrace_places(trace->reader);
	const struct memtrace_code *code = &locations->codes[number];
	return trace->filter.hides && code->count &&
	       query_filter_hides(&trace->filter,
		       trace_name(&locations->names,
			       locations->locations[code->first + code->count - 1].function));
}

bool query_pass_goes_on(struct query_pass *pass)
{
	pass->status = query_trace_progress(pass->trace);
	return pass->status == HG_OK;
}

void query_pass_release(struct query_pass *pass)
{
	for (uint64_t i = 0; i < pass->domain_count; i++)
		free(pass->domains[i].clauses);
	free(pass->domains);
	free(pass->codes);
	free(pass->selected.frames);
	base_arena_release(&pass->arena);
	*pass = (struct query_pass){0};
}

enum hg_status query_pass_end(
	struct query_pass *pass, uint64_t unknown, struct hg_trace_losses *losses)
{
	BASE_TRY(pass->status);
	return query_trace_end(pass->trace, pass->unknown + unknown, losses);
}

/* Only what comes in the order of a life counts; the first of a kind. */
static void learn_fate(struct query_pass *pass, const struct memtrace_event *event)
{
	struct query_fate *fate = &pass->fates[event->object];
	uint8_t *state = &pass->states[event->object];
	if (event->kind == MEMTRACE_ALLOCATION) {
		*state = MET;
	} else if (event->kind == MEMTRACE_PROMOTION && *state == MET) {
		*state |= PROMOTED;
		fate->promoted = event->time;
	} else if (event->kind == MEMTRACE_COLLECTION && *state && !(*state & GONE)) {
		*state |= GONE;
		fate->collected = event->time;
	}
}

/* Of all objects; and when the trace ends, and most is alive. */
static enum hg_status learn_fates(struct query_pass *pass, struct query_alive *alive)
{
	struct query_pass all = {.trace = pass->trace};
	struct memtrace_event event;
	BASE_TRY(query_alive_init(alive, pass->trace, NULL, false));
	while (query_pass_next(&all, &event)) {
		learn_fate(pass, &event);
		BASE_TRY(query_alive_add(alive, &event, 0, &pass->trace->session->error));
		pass->times.end = event.time;
	}
	pass->times.peak = alive->peak_time;
	return all.status;
}

static enum hg_status make_fates(struct query_pass *pass)
{
	struct hg_error *error = &pass->trace->session->error;
	struct query_alive alive;
	void *fates;
	BASE_TRY(base_arena_alloc(
		&pass->arena, pass->object_count, sizeof(*pass->fates), &fates, error));
	pass->fates = memset(fates, 0xFF, pass->object_count * sizeof(*pass->fates));
	enum hg_status status = learn_fates(pass, &alive);
	query_alive_release(&alive);
	BASE_TRY(status);
	memset(pass->states, 0, pass->object_count);
	return memtrace_rewind(pass->trace->reader, error);
}

enum hg_status query_pass_begin(
	struct query_pass *pass, struct hg_trace *trace, const struct query_filter *filter)
{
	struct hg_error *error = &trace->session->error;
	void *states;
	*pass = (struct query_pass){
		.trace = trace, .object_count = memtrace_objects(trace->reader)};
	BASE_TRY(memtrace_rewind(trace->reader, error));
	if (!filter || !filter->set)
		return HG_OK;
	pass->filter = filter;
	pass->times.word_bytes = trace->header.word_bytes;
	BASE_TRY(base_arena_init(
		&pass->arena, &trace->session->budget, "filter of the trace", error));
	BASE_TRY(base_arena_zalloc(&pass->arena, pass->object_count, 1, &states, error));
	pass->states = states;
	return query_filter_needs_fates(filter) ? make_fates(pass) : HG_OK;
}

static enum hg_status find_code_fits(struct query_pass *pass, uint32_t number, uint64_t *clauses)
{
	const struct memtrace_locations *locations = memtrace_places(pass->trace->reader);
	const struct memtrace_code *code = &locations->codes[number];
	while (pass->code_count <= number) {
		BASE_TRY(base_grow(&pass->codes, pass->code_count, &pass->code_capacity,
			sizeof(*pass->codes), &pass->trace->session->error));
		pass->codes[pass->code_count++] = (struct query_code_fits){0};
	}
	struct query_code_fits *fits = &pass->codes[number];
	for (uint32_t i = 0; i < code->count && !fits->known; i++)
		fits->clauses |= query_filter_functions(
			pass->filter, trace_name(&locations->names,
					      locations->locations[code->first + i].function));
	fits->known = true;
	*clauses = fits->clauses;
	return HG_OK;
}

static enum hg_status find_pass_domain(struct query_pass *pass, const struct memtrace_event *event,
	struct query_pass_domain **domain)
{
	while (pass->domain_count <= event->domain_index) {
		BASE_TRY(base_grow(&pass->domains, pass->domain_count, &pass->domain_capacity,
			sizeof(*pass->domains), &pass->trace->session->error));
		pass->domains[pass->domain_count++] = (struct query_pass_domain){0};
	}
	*domain = &pass->domains[event->domain_index];
	return HG_OK;
}

/* The clauses that frames of an allocation's stack fit; its first frames are as they were. */
static enum hg_status find_stack_fits(struct query_pass *pass, struct query_pass_domain *domain,
	const struct memtrace_event *event, uint64_t *clauses)
{
	uint64_t had = domain->capacity;
	if (event->depth >= had)
		BASE_TRY(base_grow_by(&domain->clauses, had, event->depth + 1 - had,
			&domain->capacity, sizeof(*domain->clauses), &pass->trace->session->error));
	if (!had)
		domain->clauses[0] = 0;
	for (uint64_t i = event->kept; i < event->depth; i++) {
		BASE_TRY(find_code_fits(pass, event->stack[i], clauses));
		domain->clauses[i + 1] = domain->clauses[i] | *clauses;
	}
	*clauses = domain->clauses[event->depth];
	return HG_OK;
}

static enum hg_status select_allocation(
	struct query_pass *pass, struct memtrace_event *event, bool *selected)
{
	static const struct query_fate unknown = {UINT64_MAX, UINT64_MAX};
	const struct query_fate *fate = pass->fates ? &pass->fates[event->object] : &unknown;
	struct query_pass_domain *domain;
	uint64_t clauses = 0;
	BASE_TRY(find_pass_domain(pass, event, &domain));
	if (pass->filter->inside | pass->filter->not_inside)
		BASE_TRY(find_stack_fits(pass, domain, event, &clauses));
	*selected = query_filter_keeps(pass->filter, event, fate, &pass->times, clauses);
	pass->states[event->object] = *selected ? MET | KEPT : MET;
	/* Whoever gets the event knows the stacks of those alone that were selected. */
	if (event->kept > domain->kept)
		event->kept = (uint32_t)domain->kept;
	domain->kept = *selected ? event->depth : event->kept;
	return HG_OK;
}

bool query_pass_selects(struct query_pass *pass, struct memtrace_event *event)
{
	uint8_t *state = &pass->states[event->object];
	bool promotion = event->kind == MEMTRACE_PROMOTION;
	bool selected = false;
	if (event->kind == MEMTRACE_ALLOCATION) {
		pass->status = select_allocation(pass, event, &selected);
		return selected && pass->status == HG_OK;
	}
	if (!*state || *state & GONE || (promotion && *state & PROMOTED)) {
		pass->unknown++;
		return false;
	}
	bool was_promoted = *state & PROMOTED;
	bool no_major = query_filter_without(pass->filter, HG_TRACE_MAJOR_HEAP);
	*state |= promotion ? PROMOTED : GONE;
	if (!(*state & KEPT) || (was_promoted && no_major))
		return false;
	if (promotion && no_major)
		event->kind = MEMTRACE_COLLECTION;
	return true;
}

/* An event as a batch. */
static enum hg_status make_batch(struct query_pass *pass, const struct memtrace_event *event)
{
	struct memtrace_batch *batch = &pass->selected;
	uint32_t count = event->kind == MEMTRACE_ALLOCATION ? event->depth - event->kept : 0;
	BASE_TRY(base_grow_by(&batch->frames, 0, count + UINT64_C(1), &batch->frame_capacity,
		sizeof(*batch->frames), &pass->trace->session->error));
	for (uint32_t i = 0; i < count; i++)
		batch->frames[i] =
			(struct memtrace_frame){event->stack[event->kept + i], event->kept + i};
	if (!count)
		batch->frames[count++] = (struct memtrace_frame){MEMTRACE_NO_FRAME, event->kept};
	batch->events[0] = *event;
	batch->events[0].frame = count - 1;
	batch->count = 1;
	batch->frame_count = event->kind == MEMTRACE_ALLOCATION ? count : 0;
	batch->domain = event->domain;
	batch->domain_index = event->domain_index;
	return HG_OK;
}

bool query_pass_next_batch(struct query_pass *pass, const struct memtrace_batch **batch)
{
	struct memtrace_event event;
	if (pass->status != HG_OK)
		return false;
	if (pass->filter) {
		*batch = &pass->selected;
		if (query_pass_next(pass, &event))
			pass->status = make_batch(pass, &event);
		else
			pass->selected.count = 0;
		return pass->selected.count && pass->status == HG_OK;
	}
	if (!memtrace_next_batch(pass->trace->reader, batch))
		return false;
	uint64_t before = pass->events;
	pass->events += (*batch)->count;
	return before / QUERY_EVENTS_AT_ONCE == pass->events / QUERY_EVENTS_AT_ONCE ||
	       query_pass_goes_on(pass);
}
