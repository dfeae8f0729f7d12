/*
 * What is alive while a trace is read: for every object the group that it is counted in, a node of
 * a tree or a location, and for every group what was allocated, is alive, and was alive at the
 * peak.
 */
#ifndef QUERY_TRACE_ALIVE_H
#define QUERY_TRACE_ALIVE_H

#include "query/trace/trace.h"

struct query_group {
	struct hg_trace_amounts amounts; /* 'peak' is right only for the group's last peak */
	uint64_t peak;                   /* number of the peak that it is of */
};

/* 8 bytes an object, 40 a group. */
struct query_alive {
	struct base_arena arena;
	struct query_object {
		uint32_t samples; /* 0: not alive */
		uint32_t group;
	} * objects;
	uint64_t object_count;

	struct query_group *groups; /* from malloc; those that are not met are zeros */
	uint64_t group_count, group_capacity;

	struct hg_trace_amounts totals; /* of all groups */
	uint64_t peak_time;
	uint64_t peaks;   /* so many times more was alive than ever before */
	bool late;        /* what is allocated in the minor heap is alive from its promotion on */
	uint64_t unknown; /* promotions and collections of objects that are not alive */
};

/* 'filter' says which heaps count; NULL: all. */
enum hg_status query_alive_init(
	struct query_alive *alive, struct hg_trace *trace, const struct query_filter *filter);
void query_alive_release(struct query_alive *alive);

/* Room for groups up to this number, which has none. */
enum hg_status query_alive_grow(struct query_alive *alive, uint32_t group, struct hg_error *error);

/* Room for groups up to this number. */
static inline enum hg_status query_alive_group(
	struct query_alive *alive, uint32_t group, struct hg_error *error)
{
	return group < alive->group_count ? HG_OK : query_alive_grow(alive, group, error);
}

/* Counts an event; 'group' is of allocations, and has room. */
void query_alive_add(struct query_alive *alive, const struct memtrace_event *event, uint32_t group);

/* After the last event: the amounts of all groups are right. */
void query_alive_end(struct query_alive *alive);

#endif
