/* The tree of calls as a table: who allocates, from the outermost function inwards. */
#include "report/trace/trace.h"

#include "report/common.h"

#include <stdlib.h>

enum { INDENTED_CALLS = 24 };

static const struct rep_column columns_of_calls[] = {
	{"depth", NULL, REP_NUMBER, 0},
	{"function", "function", REP_NAME, REP_LAST | REP_LABEL},
	{"samples", "samples", REP_COUNT, 0},
	{"bytes", "allocated", REP_BYTES, 0},
	{"bytes_error", "+-", REP_BYTES, 0},
	{"live_bytes", "live at end", REP_BYTES, 0},
	{"peak_bytes", "live at peak", REP_BYTES, 0},
	{"promoted_bytes", "promoted", REP_BYTES, 0},
	{"own_bytes", "itself", REP_BYTES, 0},
	{"share", "  share", REP_SHARE, REP_NOT_CSV},
};
enum { CALL_COLUMNS = sizeof(columns_of_calls) / sizeof(columns_of_calls[0]) };

static void write_call_node(struct rep_trace_context *context, const struct hg_trace_node *node,
	uint64_t all, struct rep_text *label)
{
	struct rep_emitter *emitter = context->emitter;
	const struct hg_trace_info *info = hg_trace_header(context->trace);
	rep_text_clear(label);
	for (uint32_t i = 0; i < node->depth && i < INDENTED_CALLS; i++)
		rep_text_put(label, "  ");
	if (node->depth > INDENTED_CALLS)
		rep_text_printf(label, "(depth %u) ", node->depth);
	rep_text_put(label, node->depth ? node->name : "(all)");
	rep_cell_number(emitter, node->depth);
	rep_cell_labelled(emitter, node->name, rep_text_string(label));
	rep_cell_number(emitter, node->total.samples);
	rep_cell_number(emitter, rep_trace_bytes(info, node->total.samples));
	rep_cell_number(emitter, rep_trace_error(info, node->total.samples));
	rep_cell_number(emitter, rep_trace_bytes(info, node->total.live));
	rep_cell_number(emitter, rep_trace_bytes(info, node->total.peak));
	rep_cell_number(emitter, rep_trace_bytes(info, node->total.promoted));
	rep_cell_number(emitter, rep_trace_bytes(info, node->own.samples));
	rep_cell_share(emitter, node->total.samples, all);
	rep_row_end(emitter);
}

static void write_call_tree(struct rep_trace_context *context, const struct hg_trace_tree *tree,
	const bool *kept, uint64_t shown)
{
	struct rep_emitter *emitter = context->emitter;
	struct rep_text label = {0};
	rep_document_begin(emitter, "trace tree");
	rep_prose(emitter, REP_BOLD, "Calls by what is allocated below them");
	rep_prose(emitter, REP_PLAIN, ", recursion removed\n");
	rep_value_number(emitter, "samples_total", NULL, REP_COUNT, tree->nodes[0]->total.samples);
	rep_value_number(emitter, "rows_total", NULL, REP_COUNT, tree->count);
	rep_table_begin(emitter, "rows", columns_of_calls, CALL_COLUMNS);
	for (size_t i = 0; i < tree->count && !rep_emitter_broken(emitter); i++)
		if (kept[i])
			write_call_node(
				context, tree->nodes[i], tree->nodes[0]->total.samples, &label);
	rep_table_end(emitter);
	rep_more_rows(emitter, tree->count - shown, "calls", "--limit 0");
	rep_document_end(emitter);
	emitter->failed |= label.failed;
	rep_text_release(&label);
}

enum hg_status rep_trace_tree(struct rep_trace_context *context, uint64_t limit)
{
	struct hg_trace_tree *tree;
	enum hg_status status = hg_list_trace_calls(context->trace, HG_TRACE_BY_SAMPLES, &tree);
	if (status != HG_OK)
		return rep_trace_failed(context, status);
	uint64_t *amounts = calloc(tree->count, sizeof(*amounts));
	bool *kept = calloc(tree->count, sizeof(*kept));
	for (size_t i = 0; amounts && i < tree->count; i++)
		amounts[i] = tree->nodes[i]->total.samples;
	if (!amounts || !kept || !rep_keep_largest(amounts, tree->count, limit, kept))
		status = base_no_memory(context->error, tree->count * sizeof(*amounts));
	else
		write_call_tree(
			context, tree, kept, limit && limit < tree->count ? limit : tree->count);
	free(amounts);
	free(kept);
	rep_trace_note(context, &tree->losses);
	hg_trace_tree_release(&tree);
	return status;
}
