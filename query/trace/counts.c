/* Counting of what nodes of the tree of calls allocate. */
#include "query/trace/counts.h"

#include "base/grow.h"

enum hg_status query_counts_init(struct query_counts *counts, struct hg_trace *trace,
	enum query_frames frames, struct hg_trace_losses *losses)
{
	struct hg_error *error = &trace->session->error;
	const struct memtrace_batch *batch;
	const uint32_t *nodes;
	*counts = (struct query_counts){0};
	BASE_TRY(query_pass_begin(&counts->pass, trace, &trace->filter));
	BASE_TRY(query_alive_init(&counts->alive, trace, &trace->filter, true));
	BASE_TRY(query_calls_init(&counts->calls, memtrace_places(trace->reader),
		&trace->session->budget, frames, &trace->filter, error));
	while (query_pass_next_batch(&counts->pass, &batch)) {
		BASE_TRY(query_calls_follow(&counts->calls, batch, &nodes, error));
		BASE_TRY(query_alive_add_batch(&counts->alive, batch, nodes, error));
	}
	BASE_TRY(query_pass_end(&counts->pass, counts->alive.unknown, losses));
	query_calls_end(&counts->calls);
	return query_alive_end(&counts->alive, counts->calls.count, error);
}

enum hg_status query_counts_list(const struct query_counts *counts, struct query_call_list *list)
{
	uint64_t count = counts->calls.count;
	*list = (struct query_call_list){.nodes = base_huge_alloc(count, sizeof(*list->nodes)),
		.labels = base_huge_alloc(count, sizeof(*list->labels)),
		.count = count};
	if (!list->nodes || !list->labels)
		return base_no_memory(
			&counts->pass.trace->session->error, count * sizeof(*list->nodes));
	for (uint64_t i = 0; i < count; i++) {
		const struct query_call *call = &counts->calls.nodes[i];
		list->labels[i] = call->function;
		list->nodes[i] = (struct hg_trace_node){.parent = call->parent,
			.depth = call->depth,
			.name = query_call_name(&counts->calls, (uint32_t)i),
			.own = counts->alive.groups[i]};
	}
	query_sum_up_nodes(list->nodes, count);
	return HG_OK;
}

void query_counts_release(struct query_counts *counts)
{
	query_pass_release(&counts->pass);
	query_alive_release(&counts->alive);
	query_calls_release(&counts->calls);
}
