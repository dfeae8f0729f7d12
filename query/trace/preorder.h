/*
 * Trees of calls as results.
 */
#ifndef QUERY_TRACE_PREORDER_H
#define QUERY_TRACE_PREORDER_H

#include "query/trace/trace.h"

/* Adds what is allocated. */
void query_add_amounts(struct hg_trace_amounts *to, const struct hg_trace_amounts *amounts);

/*
 * Makes a result of nodes whose parents stand before them, with names, depths and amounts: in
 * preorder, siblings as 'order' says.  The names and the array, of malloc, go with the result;
 * they are taken over, after a failure too.
 */
enum hg_status query_make_trace_tree(struct hg_error *error, struct hg_trace_node *nodes,
	uint64_t count, enum hg_trace_order order, struct hg_trace_tree *out);

#endif
