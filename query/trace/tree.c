/* The tree of calls, from the outermost function inwards. */
#include "query/trace/trace.h"

#include "query/trace/counts.h"
#include "query/trace/preorder.h"

#include "query/shared/result.h"

#include <stdlib.h>

static enum hg_status fill_trace_tree(
	const struct query_counts *counts, enum hg_trace_order order, struct hg_trace_tree *out)
{
	struct hg_error *error = &counts->pass.trace->session->error;
	struct query_call_list list;
	enum hg_status status = query_counts_list(counts, &list);
	free(list.labels);
	if (status != HG_OK) {
		free(list.nodes);
		return status;
	}
	out->all_samples = list.nodes[0].total.samples;
	return query_make_trace_tree(error, list.nodes, list.count, order, out);
}

enum hg_status hg_list_trace_calls(
	struct hg_trace *trace, enum hg_trace_order order, struct hg_trace_tree **out)
{
	struct query_counts counts;
	BASE_TRY(query_trace_begin(trace, (void *)out));
	if (order != HG_TRACE_BY_SAMPLES && order != HG_TRACE_BY_NAME)
		return base_fail(&trace->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"no such order of calls");
	BASE_TRY(query_answer_of(&trace->session->error, sizeof(**out), out));
	enum hg_status status = query_counts_init(&counts, trace, QUERY_FUNCTIONS, &(*out)->losses);
	if (status == HG_OK)
		status = fill_trace_tree(&counts, order, *out);
	query_counts_release(&counts);
	if (status != HG_OK)
		hg_trace_tree_release(out);
	return status;
}

void hg_trace_tree_release(struct hg_trace_tree **tree)
{
	query_free(tree);
}
