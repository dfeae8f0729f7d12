/* The tree of calls as a table: who allocates, from the outermost function inwards. */
#include "report/trace/trace.h"

#include "report/common.h"

#include <stdlib.h>
#include <string.h>

enum { INDENTED_CALLS = 24 };

/* Before and behind those of all tables. */
static const struct rep_column first_call_columns[] = {
	{"depth", NULL, REP_NUMBER, 0},
	{"function", "function", REP_NAME, REP_LAST | REP_LABEL},
};
static const struct rep_column last_call_columns[] = {
	{"own_bytes", "itself", REP_BYTES, 0},
	{"share", "  share", REP_SHARE, REP_NOT_CSV},
};
enum { FIRST_COLUMNS = 2, CALL_COLUMNS = FIRST_COLUMNS + REP_TRACE_AMOUNTS + 2 };

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
	rep_trace_amount_cells(emitter, info, &node->total);
	rep_cell_number(emitter, rep_trace_bytes(info, node->own.samples));
	rep_cell_share(emitter, node->total.samples, all);
	rep_row_end(emitter);
}

static void write_call_tree(struct rep_trace_context *context, const struct hg_trace_tree *tree,
	const bool *kept, uint64_t shown)
{
	struct rep_emitter *emitter = context->emitter;
	struct rep_text label = {0};
	struct rep_column columns[CALL_COLUMNS];
	memcpy(columns, first_call_columns, sizeof(first_call_columns));
	memcpy(columns + FIRST_COLUMNS, rep_trace_amount_columns, sizeof(rep_trace_amount_columns));
	memcpy(columns + FIRST_COLUMNS + REP_TRACE_AMOUNTS, last_call_columns,
		sizeof(last_call_columns));
	rep_document_begin(emitter, "trace tree");
	rep_prose(emitter, REP_BOLD, "Calls by what is allocated below them");
	rep_prose(emitter, REP_PLAIN, ", recursion removed\n");
	rep_trace_say_filtered(context);
	rep_value_number(emitter, "samples_total", NULL, REP_COUNT, tree->nodes[0]->total.samples);
	rep_value_number(emitter, "rows_total", NULL, REP_COUNT, tree->count);
	rep_table_begin(emitter, "rows", columns, CALL_COLUMNS);
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
