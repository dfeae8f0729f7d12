/*
 * The tree of calls of a trace by function, with recursion removed: a function that is on the path
 * to a node already leads nowhere.  Where a frame leads from a node depends on both alone, so it is
 * found out once and kept as an edge; after that a frame costs one place in a table, however deep
 * it is.  Only frames that are new are looked at.
 */
#ifndef QUERY_TRACE_CALLS_H
#define QUERY_TRACE_CALLS_H

#include "query/trace/trace.h"

#include "base/arena.h"

enum { QUERY_STEPS = 3 };

/* What a frame is told by. */
enum query_frames {
	QUERY_FUNCTIONS,  /* the name of its function, recursion removed */
	QUERY_PLACES,     /* its place in the source; no frame is left out */
	QUERY_PLACES_ONCE /* the same, where a place is on a path once */
};

/*
 * 44 bytes a node, up to 43 for each edge beyond the third of a node, 4 a code, and for each domain
 * 8 a frame and 4 a function.
 */
struct query_calls {
	const struct memtrace_locations *locations;
	struct base_budget *budget;
	uint64_t charged; /* bytes of it */
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

	/*
	 * Where labels lead from a node, to one below it or to itself.  The first ones that are met
	 * are three of four that are asked for; nodes that are made one after the other are visited
	 * so, too, and then stand in one line of memory.
	 */
	struct query_steps {
		uint32_t labels[QUERY_STEPS]; /* as in query_calls.labels; 0: free */
		uint32_t to[QUERY_STEPS];     /* + 1 */
		uint32_t edges, edge_mask;    /* the block of the others; 0: there are none */
	} * steps;
	uint64_t steps_capacity;
	struct query_edge {
		uint32_t label, to; /* + 1; label 0: free */
	} * edges;
	uint64_t edge_count, edge_capacity; /* of all blocks */
	const struct query_filter *filter;  /* what it hides is not in the tree; may be NULL */
	struct base_secret secret;

	/* What frames say: of one function its number, of none or several one of 'runs'. */
	uint32_t *labels;    /* of codes, + 1; 0: not known yet */
	uint64_t code_count; /* with room for a label */
	uint64_t changed;    /* so many of the changes of locations are known */
	struct query_run {
		uint32_t first, count;
	} * runs;
	uint64_t run_count, run_capacity;
	uint32_t *parts; /* functions, outermost first */
	uint64_t part_count, part_capacity;

	struct query_call_stack {
		uint32_t domain;
		uint32_t *
			nodes; /* after each frame of the domain's last backtrace; the root first */
		uint64_t capacity;
		/* where functions are on the path to the node that was last asked about; others may
		 * have been left there */
		uint32_t *path; /* nodes, by depth */
		uint64_t path_capacity, path_depth;
		uint32_t *positions; /* depths, of functions */
		uint64_t position_count;
	} * domains;
	uint64_t domain_count, domain_capacity;
	/* of a domain and a function: a file may have so many domains that each has no array */
	struct base_map positions;

	uint32_t *reached; /* nodes, after each frame of a batch */
	uint64_t reached_capacity;
};

/*
 * The budget is charged for nodes and edges: predicted frames are less than a bit each in the file,
 * so that nothing else limits them.
 */
enum hg_status query_calls_init(struct query_calls *calls,
	const struct memtrace_locations *locations, struct base_budget *budget,
	enum query_frames frames, const struct query_filter *filter, struct hg_error *error);

/* Gives back what only frames that follow would need: the nodes and their names stay. */
void query_calls_end(struct query_calls *calls);
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

/*
 * The same of a batch: the node of an allocation is nodes[event->frame].  They last until the next
 * call.
 */
enum hg_status query_calls_follow(struct query_calls *calls, const struct memtrace_batch *batch,
	const uint32_t **nodes, struct hg_error *error);

#endif
