/*
 * The tree of calls of a trace by function, with recursion removed: a function that is on the path
 * to a node already leads nowhere.  Each domain keeps its path, and where functions are on it, so
 * that a frame costs the same however deep it is; and only frames that are new are looked at.
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

/* 36 to 60 bytes a node, 20 a code, and for each domain 8 a frame and up to 8 a function. */
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

	struct query_edge {
		uint32_t parent, function, child; /* child 0: free */
	} * edges;
	uint64_t edge_mask;
	const struct query_filter *filter; /* what it hides is not in the tree; may be NULL */
	struct base_secret secret;

	struct query_code_labels {
		uint32_t version;      /* of the locations that it is of; 0: none */
		uint32_t count, label; /* of 1: what it says; else the first in 'labels' */
		uint32_t location, location_count;
	} * codes;
	uint64_t code_count;
	uint32_t *labels; /* what codes say that say more than one thing */
	uint64_t label_count, label_capacity;

	struct query_call_stack {
		uint32_t domain;
		struct query_call_frame {
			uint32_t node, length; /* of the path */
		} * frames; /* after each frame of the domain's last backtrace; the root first */
		uint64_t capacity;
		uint32_t *path; /* functions */
		uint64_t path_capacity;
		uint32_t *positions; /* on the path, of functions */
		uint64_t position_count;
	} * domains;
	uint64_t domain_count, domain_capacity;
	/* of a domain and a function: a file may have so many domains that each has no array */
	struct base_map positions;
};

enum hg_status query_calls_init(struct query_calls *calls,
	const struct memtrace_locations *locations, enum query_frames frames,
	const struct query_filter *filter, struct hg_error *error);

void query_calls_release(struct query_calls *calls);

/* The node after the first 'depth' frames of a domain's last backtrace. */
static inline uint32_t query_calls_at(
	const struct query_calls *calls, const struct memtrace_event *event, uint64_t depth)
{
	return calls->domains[event->domain_index].frames[depth].node;
}

/* Of a node's frame; "" of the root's.  Lives as long as the calls, or the reader. */
const char *query_call_name(const struct query_calls *calls, uint32_t node);

/* The node of an allocation's backtrace; all allocations of a trace must be given in order. */
enum hg_status query_calls_node(struct query_calls *calls, const struct memtrace_event *event,
	uint32_t *node, struct hg_error *error);

#endif
