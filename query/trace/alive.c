/*
 * The peak is the first time at which the most is alive, so it is known at the end only; and to
 * copy what all groups have alive whenever there is a new one would be quadratic.  So what changes
 * after a peak is kept until the next one, and what was alive at the last is what is alive at the
 * end without these changes.  Groups are looked at for all objects together at the end, not with
 * every event: they are many, and in no order.
 */
#include "query/trace/alive.h"

#include "base/grow.h"

#include <inttypes.h>
#include <stdlib.h>

/* Changes that are kept; beyond that they are summed by group. */
enum { MOST_CHANGES = 1 << 17, OBJECTS_AHEAD = 16 };

enum hg_status query_alive_init(struct query_alive *alive, struct hg_trace *trace,
	const struct query_filter *filter, bool by_group)
{
	void *groups, *states;
	struct hg_error *error = &trace->session->error;
	*alive = (struct query_alive){.object_count = memtrace_objects(trace->reader),
		.by_group = by_group,
		.plain = by_group && !(filter && query_filter_without(filter, HG_TRACE_MINOR_HEAP)),
		.late = filter && query_filter_without(filter, HG_TRACE_MINOR_HEAP)};
	BASE_TRY(base_arena_init(
		&alive->arena, &trace->session->budget, "objects of the trace", error));
	BASE_TRY(base_arena_zalloc(
		&alive->arena, alive->object_count, sizeof(*alive->groups_of), &groups, error));
	alive->groups_of = groups;
	BASE_TRY(base_arena_zalloc(&alive->arena, alive->object_count, 1, &states, error));
	alive->states = states;
	if (!by_group)
		return HG_OK;
	if (alive->object_count > UINT32_MAX / 2)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"a trace of more than %" PRIu32 " objects", UINT32_MAX / 2);
	alive->changes = malloc(MOST_CHANGES * sizeof(*alive->changes));
	return alive->changes ? HG_OK
			      : base_no_memory(error, MOST_CHANGES * sizeof(*alive->changes));
}

void query_alive_release(struct query_alive *alive)
{
	base_arena_release(&alive->arena);
	base_map_release(&alive->many);
	free(alive->ids);
	free(alive->changes);
	base_huge_release(alive->since, alive->since_capacity, sizeof(*alive->since));
	*alive = (struct query_alive){0};
}

/* Sums what has changed since the last peak, so that there is room again. */
static enum hg_status sum_up_changes(struct query_alive *alive, struct hg_error *error)
{
	for (uint64_t i = 0; i < alive->change_count; i++) {
		const uint64_t number = alive->changes[i] / 2;
		const uint32_t group = alive->groups_of[number];
		const uint64_t samples = query_alive_samples(alive, number);
		if (group >= alive->since_count) {
			uint64_t had = alive->since_count, more = group + UINT64_C(1) - had;
			BASE_TRY(base_huge_grow(&alive->since, had, more, &alive->since_capacity,
				sizeof(*alive->since), error));
			memset(alive->since + had, 0, more * sizeof(*alive->since));
			alive->since_count += more;
		}
		struct query_since *since = &alive->since[group];
		if (since->peak != alive->peaks)
			*since = (struct query_since){.peak = alive->peaks};
		since->samples += alive->changes[i] & 1 ? -samples : samples;
	}
	alive->change_count = 0;
	return HG_OK;
}

static inline enum hg_status note_change(
	struct query_alive *alive, uint64_t object, unsigned ceases, struct hg_error *error)
{
	if (!alive->by_group)
		return HG_OK;
	alive->changes[alive->change_count++] = (uint32_t)object * 2 + ceases;
	return alive->change_count < MOST_CHANGES ? HG_OK : sum_up_changes(alive, error);
}

static inline enum hg_status begin_life(struct query_alive *alive,
	const struct memtrace_event *event, uint64_t samples, struct hg_error *error)
{
	alive->states[event->object] |= QUERY_IS_ALIVE;
	alive->totals.live += samples;
	if (alive->totals.live <= alive->totals.peak)
		return note_change(alive, event->object, 0, error);
	alive->totals.peak = alive->totals.live;
	alive->peak_time = event->time;
	alive->peaks++;
	alive->change_count = 0;
	return HG_OK;
}

static enum hg_status promote(
	struct query_alive *alive, const struct memtrace_event *event, struct hg_error *error)
{
	const uint8_t state = alive->states[event->object];
	const uint64_t samples = query_alive_samples(alive, event->object);
	bool begins = alive->late && samples && !(state & QUERY_IS_ALIVE);
	if (state & QUERY_IS_PROMOTED || !(state & QUERY_IS_ALIVE || begins)) {
		alive->unknown++;
		return HG_OK;
	}
	alive->states[event->object] |= QUERY_IS_PROMOTED;
	alive->totals.promoted += samples;
	return begins ? begin_life(alive, event, samples, error) : HG_OK;
}

/* Nearly all are those that follow the last ones. */
static enum hg_status note_id(struct query_alive *alive, uint64_t object, struct hg_error *error)
{
	if (alive->last_ids.end == object) {
		alive->last_ids.end++;
		return HG_OK;
	}
	BASE_TRY(base_grow(
		&alive->ids, alive->id_count, &alive->id_capacity, sizeof(*alive->ids), error));
	alive->ids[alive->id_count++] = alive->last_ids;
	alive->last_ids = (struct query_ids){object, object + 1};
	return HG_OK;
}

static enum hg_status add_allocation(struct query_alive *alive, const struct memtrace_event *event,
	uint32_t group, struct hg_error *error)
{
	alive->groups_of[event->object] = group;
	alive->totals.samples += event->samples;
	if (event->samples < QUERY_MANY_SAMPLES) {
		alive->states[event->object] = (uint8_t)event->samples;
	} else {
		alive->states[event->object] = QUERY_MANY_SAMPLES;
		BASE_TRY(base_map_set(&alive->many, event->object, event->samples, error));
	}
	BASE_TRY(note_id(alive, event->object, error));
	return alive->late && event->source == MEMTRACE_MINOR
		       ? HG_OK
		       : begin_life(alive, event, event->samples, error);
}

static enum hg_status collect(
	struct query_alive *alive, const struct memtrace_event *event, struct hg_error *error)
{
	if (!(alive->states[event->object] & QUERY_IS_ALIVE)) {
		alive->unknown++;
		return HG_OK;
	}
	alive->states[event->object] &= (uint8_t)~QUERY_IS_ALIVE;
	alive->totals.live -= query_alive_samples(alive, event->object);
	return note_change(alive, event->object, 1, error);
}

enum hg_status query_alive_add(struct query_alive *alive, const struct memtrace_event *event,
	uint32_t group, struct hg_error *error)
{
	if (event->kind == MEMTRACE_ALLOCATION)
		return add_allocation(alive, event, group, error);
	if (event->kind == MEMTRACE_PROMOTION)
		return promote(alive, event, error);
	return collect(alive, event, error);
}

/* What nearly all allocations change; false if this one is another, and nothing has changed. */
static inline bool allocate_plain(
	struct query_alive *alive, const struct memtrace_event *event, uint32_t group)
{
	const uint64_t object = event->object, samples = event->samples;
	if (samples >= QUERY_MANY_SAMPLES || alive->last_ids.end != object)
		return false;
	alive->last_ids.end++;
	alive->groups_of[object] = group;
	alive->states[object] = (uint8_t)(samples | QUERY_IS_ALIVE);
	alive->totals.samples += samples;
	alive->totals.live += samples;
	if (alive->totals.live <= alive->totals.peak) {
		alive->changes[alive->change_count++] = (uint32_t)object * 2;
		return true;
	}
	alive->totals.peak = alive->totals.live;
	alive->peak_time = event->time;
	alive->peaks++;
	alive->change_count = 0;
	return true;
}

/* The same of all events: query_alive_add() where nothing rare is met. */
static inline bool add_plain(
	struct query_alive *alive, const struct memtrace_event *event, uint32_t group)
{
	if (!alive->plain || alive->change_count + 1 == MOST_CHANGES)
		return false;
	if (event->kind == MEMTRACE_ALLOCATION)
		return allocate_plain(alive, event, group);
	uint8_t *state = &alive->states[event->object];
	const uint8_t samples = *state & QUERY_MANY_SAMPLES;
	if (!(*state & QUERY_IS_ALIVE) || samples == QUERY_MANY_SAMPLES)
		return false;
	if (event->kind == MEMTRACE_PROMOTION) {
		if (*state & QUERY_IS_PROMOTED)
			return false;
		*state |= QUERY_IS_PROMOTED;
		alive->totals.promoted += samples;
		return true;
	}
	*state &= (uint8_t)~QUERY_IS_ALIVE;
	alive->totals.live -= samples;
	alive->changes[alive->change_count++] = (uint32_t)event->object * 2 + 1;
	return true;
}

enum hg_status query_alive_add_batch(struct query_alive *alive, const struct memtrace_batch *batch,
	const uint32_t *groups, struct hg_error *error)
{
	/* A copy that nobody else can see, so that it is in registers between rare events. */
	struct query_alive hand = *alive;
	for (uint32_t i = 0; i < batch->count; i++) {
		const struct memtrace_event *event = &batch->events[i];
		bool is_allocation = event->kind == MEMTRACE_ALLOCATION;
		uint32_t group = is_allocation ? groups[event->frame] : 0;
		if (__builtin_expect(add_plain(&hand, event, group), 1))
			continue;
		*alive = hand;
		BASE_TRY(query_alive_add(alive, event, group, error));
		hand = *alive;
	}
	*alive = hand;
	return HG_OK;
}

static void sum_up_objects(struct query_alive *alive, const struct query_ids *ids)
{
	for (uint64_t i = ids->begin; i < ids->end; i++) {
		const uint64_t samples = query_alive_samples(alive, i);
		struct hg_trace_amounts *group = &alive->groups[alive->groups_of[i]];
		if (ids->end - i > OBJECTS_AHEAD)
			__builtin_prefetch(&alive->groups[alive->groups_of[i + OBJECTS_AHEAD]], 1);
		group->samples += samples;
		group->promoted += alive->states[i] & QUERY_IS_PROMOTED ? samples : 0;
		group->live += alive->states[i] & QUERY_IS_ALIVE ? samples : 0;
	}
}

static void sum_up_peaks(struct query_alive *alive)
{
	for (uint64_t i = 0; i < alive->group_count; i++)
		alive->groups[i].peak = alive->groups[i].live;
	for (uint64_t i = 0; i < alive->since_count; i++)
		if (alive->since[i].peak == alive->peaks)
			alive->groups[i].peak -= alive->since[i].samples;
	for (uint64_t i = 0; i < alive->change_count; i++) {
		const uint64_t number = alive->changes[i] / 2;
		const uint64_t samples = query_alive_samples(alive, number);
		alive->groups[alive->groups_of[number]].peak +=
			alive->changes[i] & 1 ? samples : -samples;
	}
}

enum hg_status query_alive_end(struct query_alive *alive, uint64_t count, struct hg_error *error)
{
	void *groups;
	BASE_TRY(base_arena_zalloc(&alive->arena, count, sizeof(*alive->groups), &groups, error));
	alive->groups = groups;
	alive->group_count = count;
	for (uint64_t i = 0; i < alive->id_count; i++)
		sum_up_objects(alive, &alive->ids[i]);
	sum_up_objects(alive, &alive->last_ids);
	sum_up_peaks(alive);
	base_arena_free(&alive->arena, alive->groups_of);
	base_arena_free(&alive->arena, alive->states);
	alive->groups_of = NULL;
	alive->states = NULL;
	return HG_OK;
}
