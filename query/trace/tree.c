/* The tree of calls, from the outermost function inwards. */
#include "query/trace/trace.h"

#include "query/trace/counts.h"
#include "query/trace/preorder.h"

#include "query/shared/result.h"

#include <stdlib.h>

/* Names are those of the reader: what was counted need not last any longer. */
static enum hg_status list_calls(
	struct hg_trace *trace, struct query_call_list *list, struct hg_trace_losses *losses)
{
	struct query_counts counts;
	enum hg_status status = query_counts_init(&counts, trace, QUERY_FUNCTIONS, losses);
	if (status == HG_OK)
		status = query_counts_list(&counts, list);
	query_counts_release(&counts);
	free(list->labels);
	return status;
}

enum hg_status hg_list_trace_calls(
	struct hg_trace *trace, enum hg_trace_order order, struct hg_trace_tree **out)
{
	struct query_call_list list = {0};
	BASE_TRY(query_trace_begin(trace, (void *)out));
	if (order != HG_TRACE_BY_SAMPLES && order != HG_TRACE_BY_NAME)
		return base_fail(&trace->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"no such order of calls");
	BASE_TRY(query_answer_of(&trace->session->error, sizeof(**out), out));
	enum hg_status status = list_calls(trace, &list, &(*out)->losses);
	if (status != HG_OK) {
		free(list.nodes);
	} else {
		(*out)->all_samples = list.nodes[0].total.samples;
		status = query_make_trace_tree(
			&trace->session->error, list.nodes, list.count, order, *out);
	}
	if (status != HG_OK)
		hg_trace_tree_release(out);
	return status;
}

void hg_trace_tree_release(struct hg_trace_tree **tree)
{
	query_free(tree);
}
