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
	uint64_t count = counts->calls.count;
	struct hg_trace_node *nodes = calloc(count, sizeof(*nodes));
	if (!nodes)
		return base_no_memory(error, count * sizeof(*nodes));
	for (uint64_t i = 0; i < count; i++) {
		const struct query_call *call = &counts->calls.nodes[i];
		nodes[i] = (struct hg_trace_node){.parent = call->parent,
			.depth = call->depth,
			.name = query_call_name(&counts->calls, (uint32_t)i),
			.own = counts->alive.groups[i].amounts,
			.total = counts->alive.groups[i].amounts};
	}
	for (uint64_t i = count; i-- > 1;)
		query_add_amounts(&nodes[nodes[i].parent].total, &nodes[i].total);
	out->all_samples = nodes[0].total.samples;
	return query_make_trace_tree(error, nodes, count, order, out);
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
