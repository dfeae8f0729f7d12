/*
 * What is alive while a trace is read: for every object the group that it is counted in, a node of
 * a tree or a location, and at the end for every group what was allocated, is alive, and was alive
 * at the peak.
 */
#ifndef QUERY_TRACE_ALIVE_H
#define QUERY_TRACE_ALIVE_H

#include "query/trace/trace.h"

/* Of an object: how many samples it has, or that it has many, and what it is; 0: it was not met. */
enum { QUERY_MANY_SAMPLES = 0x3F, QUERY_IS_PROMOTED = 0x40, QUERY_IS_ALIVE = 0x80 };

/* 5 bytes an object, 16 a packet, 48 a group at the end, and 512 KiB. */
struct query_alive {
	struct base_arena arena;
	/* Of objects.  That a group is only written when it is met, and what changes takes a byte,
	 * is why an event costs little. */
	uint32_t *groups_of;
	uint8_t *states;
	struct base_map many; /* samples of objects that have many */
	uint64_t object_count;

	/* Ids that were given; others of a file that lies, or has lost packets, are not looked at.
	 */
	struct query_ids {
		uint64_t begin, end;
	} * ids, last_ids;
	uint64_t id_count, id_capacity;

	/* What began and ceased to be alive since the last peak: an object twice, + 1 if it ceased.
	 */
	uint32_t *changes;
	uint64_t change_count;
	struct query_since {
		uint64_t samples; /* alive since the peak; less wraps around */
		uint64_t peak;    /* number of the peak that it is of */
	} * since;                /* of groups, of changes for which there was no room any more */
	uint64_t since_count, since_capacity;
	bool by_group; /* somebody asks what groups have */
	bool plain;    /* nothing asks for more than add_plain() knows */

	struct hg_trace_amounts
		*groups; /* after the last event; those that are not met are zeros */
	uint64_t group_count;

	struct hg_trace_amounts totals; /* of all groups */
	uint64_t peak_time;
	uint64_t peaks;   /* so many times more was alive than ever before */
	bool late;        /* what is allocated in the minor heap is alive from its promotion on */
	uint64_t unknown; /* promotions and collections of objects that are not alive */
};

/* Of an object, dead or alive. */
static inline uint64_t query_alive_samples(const struct query_alive *alive, uint64_t object)
{
	uint64_t samples = alive->states[object] & QUERY_MANY_SAMPLES;
	if (samples == QUERY_MANY_SAMPLES)
		base_map_get(&alive->many, object, &samples);
	return samples;
}

/* 'filter' says which heaps count; NULL: all.  'by_group': query_alive_end() will be called. */
enum hg_status query_alive_init(struct query_alive *alive, struct hg_trace *trace,
	const struct query_filter *filter, bool by_group);
void query_alive_release(struct query_alive *alive);

/* Counts an event; 'group', below 2^30, is of allocations. */
enum hg_status query_alive_add(struct query_alive *alive, const struct memtrace_event *event,
	uint32_t group, struct hg_error *error);

/* The same of a batch; the group of an allocation is groups[event->frame]. */
enum hg_status query_alive_add_batch(struct query_alive *alive, const struct memtrace_batch *batch,
	const uint32_t *groups, struct hg_error *error);

/* After the last event: what 'count' groups have, all that were given.  Objects are given back. */
enum hg_status query_alive_end(struct query_alive *alive, uint64_t count, struct hg_error *error);

#endif
