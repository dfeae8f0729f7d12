/*
 * The tree of calls of a trace, and for each node what stacks that end there allocate: one pass.
 */
#ifndef QUERY_TRACE_COUNTS_H
#define QUERY_TRACE_COUNTS_H

#include "query/trace/alive.h"
#include "query/trace/calls.h"
#include "query/trace/pass.h"
#include "query/trace/preorder.h"

struct query_counts {
	struct query_pass pass;
	struct query_alive alive; /* group n is node n; every node has one */
	struct query_calls calls;
};

/* Releases nothing if it fails: query_counts_release() does. */
enum hg_status query_counts_init(struct query_counts *counts, struct hg_trace *trace,
	enum query_frames frames, struct hg_trace_losses *losses);
void query_counts_release(struct query_counts *counts);

/* The same as a list, with names that live as long as the counts; to be freed after failures too.
 */
enum hg_status query_counts_list(const struct query_counts *counts, struct query_call_list *list);

#endif
