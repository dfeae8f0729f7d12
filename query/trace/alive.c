/*
 * The peak is the first time at which the most is alive, so it is known at the end only; and to
 * copy what all groups have alive whenever there is a new one would be quadratic.  So each group
 * keeps what it had alive at the last peak, and changes it when it changes first after a new one.
 */
#include "query/trace/alive.h"

#include "base/huge.h"

#include <string.h>

enum hg_status query_alive_init(
	struct query_alive *alive, struct hg_trace *trace, const struct query_filter *filter)
{
	void *objects;
	struct hg_error *error = &trace->session->error;
	*alive = (struct query_alive){.object_count = memtrace_objects(trace->reader),
		.late = filter && query_filter_without(filter, HG_TRACE_MINOR_HEAP)};
	BASE_TRY(base_arena_init(
		&alive->arena, &trace->session->budget, "objects of the trace", error));
	BASE_TRY(base_arena_zalloc(
		&alive->arena, alive->object_count, sizeof(*alive->objects), &objects, error));
	alive->objects = objects;
	return HG_OK;
}

void query_alive_release(struct query_alive *alive)
{
	base_arena_release(&alive->arena);
	free(alive->groups);
	*alive = (struct query_alive){0};
}

enum hg_status query_alive_grow(struct query_alive *alive, uint32_t group, struct hg_error *error)
{
	uint64_t more = group + UINT64_C(1) - alive->group_count;
	BASE_TRY(base_huge_grow_by(&alive->groups, alive->group_count, more, &alive->group_capacity,
		sizeof(*alive->groups), error));
	memset(alive->groups + alive->group_count, 0, more * sizeof(*alive->groups));
	alive->group_count += more;
	return HG_OK;
}

/* Before what is alive of a group changes. */
static inline void keep_peak_of_group(const struct query_alive *alive, struct query_group *group)
{
	if (group->peak == alive->peaks)
		return;
	group->peak = alive->peaks;
	group->amounts.peak = group->amounts.live;
}

static void add_alive(
	struct query_alive *alive, struct query_group *group, uint64_t samples, uint64_t time)
{
	group->amounts.live += samples;
	alive->totals.live += samples;
	if (alive->totals.live > alive->totals.peak) {
		alive->totals.peak = alive->totals.live;
		alive->peak_time = time;
		alive->peaks++;
	}
}

static void add_allocation(
	struct query_alive *alive, const struct memtrace_event *event, uint32_t number)
{
	struct query_group *group = &alive->groups[number];
	keep_peak_of_group(alive, group);
	alive->objects[event->object] = (struct query_object){(uint32_t)event->samples, number};
	group->amounts.samples += event->samples;
	alive->totals.samples += event->samples;
	if (!alive->late || event->source != MEMTRACE_MINOR)
		add_alive(alive, group, event->samples, event->time);
}

void query_alive_add(struct query_alive *alive, const struct memtrace_event *event, uint32_t number)
{
	if (event->kind == MEMTRACE_ALLOCATION) {
		add_allocation(alive, event, number);
		return;
	}
	struct query_object *object = &alive->objects[event->object];
	if (!object->samples) {
		alive->unknown++;
		return;
	}
	struct query_group *group = &alive->groups[object->group];
	if (event->kind == MEMTRACE_PROMOTION) {
		group->amounts.promoted += object->samples;
		alive->totals.promoted += object->samples;
		if (alive->late) {
			keep_peak_of_group(alive, group);
			add_alive(alive, group, object->samples, event->time);
		}
		return;
	}
	keep_peak_of_group(alive, group);
	group->amounts.live -= object->samples;
	alive->totals.live -= object->samples;
	object->samples = 0;
}

void query_alive_end(struct query_alive *alive)
{
	for (uint64_t i = 0; i < alive->group_count; i++)
		keep_peak_of_group(alive, &alive->groups[i]);
}
