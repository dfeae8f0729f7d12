/*
 * Trees of calls as results, of traces and of series.
 */
#ifndef QUERY_TRACE_PREORDER_H
#define QUERY_TRACE_PREORDER_H

#include "query/trace/trace.h"

/* Adds what is allocated. */
void query_add_amounts(struct hg_trace_amounts *to, const struct hg_trace_amounts *amounts);

/*
 * Calls with what stacks that end there allocate: parents stand before what they call.  80 bytes a
 * node, 4 a label; from malloc.
 */
struct query_call_list {
	struct hg_trace_node *nodes;
	uint32_t *labels; /* equal ones are the same function, or place */
	uint64_t count;
};

/* What is allocated below nodes, from what they allocate themselves. */
void query_sum_up_nodes(struct hg_trace_node *nodes, uint64_t count);

/*
 * Makes a result of nodes whose parents stand before them, with names, depths and amounts: in
 * preorder, siblings as 'order' says.  The names and the array, of malloc, go with the result;
 * they are taken over, after a failure too.
 */
enum hg_status query_make_trace_tree(struct hg_error *error, struct hg_trace_node *nodes,
	uint64_t count, enum hg_trace_order order, struct hg_trace_tree *out);

/* The result of calls from the inside out; names are copied to those of the trace. */
enum hg_status query_make_callers(struct hg_trace *trace, const struct query_call_list *calls,
	const struct hg_trace_callers_options *options, struct hg_trace_tree *out);

/* The options of a caller of the library, whose structure may be older or newer. */
enum hg_status query_callers_options(struct hg_trace *trace,
	const struct hg_trace_callers_options *options, struct hg_trace_callers_options *wanted);

#endif
