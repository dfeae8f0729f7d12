/*
 * The tree of calls of a trace by function, with recursion removed: a function that is on the path
 * to a node already leads nowhere.  So where a code leads from a node depends on these two alone,
 * and is looked up, not worked out, for all frames but the first of their kind.
 */
#ifndef QUERY_TRACE_CALLS_H
#define QUERY_TRACE_CALLS_H

#include "query/trace/trace.h"

/* What a frame is told by. */
enum query_frames {
	QUERY_FUNCTIONS,  /* the name of its function, recursion removed */
	QUERY_PLACES,     /* its place in the source; no frame is left out */
	QUERY_PLACES_ONCE /* the same, where a place is on a path once */
};

/* 12 bytes a node, and at most 32 bytes for each pair of a node and a code that occurs. */
struct query_calls {
	const struct memtrace_locations *locations;
	enum query_frames frames;
	struct trace_names places; /* of frames that are told by them */
	uint32_t *place_locations; /* one of each place; UINT32_MAX: none is known */
	uint64_t place_count, place_capacity;
	const uint32_t *functions; /* of codes, one each; NULL: the names of their locations */
	struct query_call {
		uint32_t parent;   /* a smaller number; of node 0, the root, 0 */
		uint32_t function; /* a name, a place, or one of 'functions' */
		uint32_t depth;
	} * nodes;
	uint64_t count, capacity;

	struct query_step {
		uint32_t node, code, to; /* to: number + 1; 0: free */
	} * steps;
	uint64_t step_count, step_mask;
	struct base_map children;          /* of node and function */
	const struct query_filter *filter; /* what it hides is not in the tree; may be NULL */
	struct base_secret secret;

	struct query_call_stack {
		uint32_t *
			nodes; /* after each frame of the domain's last backtrace; the root first */
		uint64_t capacity;
	} * domains;
	uint64_t domain_count, domain_capacity;
};

enum hg_status query_calls_init(struct query_calls *calls,
	const struct memtrace_locations *locations, enum query_frames frames,
	const struct query_filter *filter, struct hg_error *error);

void query_calls_release(struct query_calls *calls);

/* The node after the first 'depth' frames of a domain's last backtrace. */
static inline uint32_t query_calls_at(
	const struct query_calls *calls, const struct memtrace_event *event, uint64_t depth)
{
	return calls->domains[event->domain_index].nodes[depth];
}

/* Of a node's frame; "" of the root's.  Lives as long as the calls, or the reader. */
const char *query_call_name(const struct query_calls *calls, uint32_t node);

/* The node of an allocation's backtrace; all allocations of a trace must be given in order. */
enum hg_status query_calls_node(struct query_calls *calls, const struct memtrace_event *event,
	uint32_t *node, struct hg_error *error);

#endif
