/* How often which place of a series calls which function. */
#include "report/trace/trace.h"

#include "report/common.h"

#include <string.h>

static const struct rep_column call_count_columns[] = {
	{"calls", "calls", REP_COUNT, 0},
	{"paths", "paths", REP_COUNT, 0},
	{"kind", "kind", REP_WORD, 0},
	{"share", "  share", REP_SHARE, REP_NOT_CSV},
	{"site", "place that calls", REP_NAME, 0},
	{"callee", "what it calls", REP_NAME, REP_LAST},
	{"callee_at", NULL, REP_NAME, 0},
};

static void write_call_count(struct rep_emitter *emitter, const struct hg_spacetime_call *call,
	uint64_t all, struct rep_text *label)
{
	static const char *const kinds[] = {[HG_SPACETIME_DIRECT] = "direct",
		[HG_SPACETIME_INDIRECT] = "indirect",
		[HG_SPACETIME_TO_C] = "c"};
	bool says_where = !strncmp(call->callee, "function at ", strlen("function at "));
	rep_text_clear(label);
	rep_text_put(label, call->callee);
	if (*call->callee_at && !says_where)
		rep_text_printf(label, " (%s)", call->callee_at);
	rep_cell_number(emitter, call->calls);
	rep_cell_number(emitter, call->paths);
	rep_cell_string(emitter, kinds[call->kind]);
	rep_cell_share(emitter, call->calls, all);
	rep_cell_string(emitter, call->site);
	rep_cell_labelled(emitter, call->callee, rep_text_string(label));
	rep_cell_string(emitter, call->callee_at);
	rep_row_end(emitter);
}

static void write_call_counts_head(
	struct rep_emitter *emitter, const struct hg_spacetime_call_counts *counts)
{
	struct rep_text line = {0};
	rep_prose(emitter, REP_BOLD, "Calls by OCaml code");
	rep_text_put(&line, " up to the end: ");
	rep_text_count(&line, counts->direct);
	rep_text_put(&line, " direct, ");
	rep_text_count(&line, counts->indirect);
	rep_text_put(&line, " of closures, ");
	rep_text_count(&line, counts->to_c);
	rep_text_put(&line, " of C functions");
	rep_prose(emitter, REP_PLAIN, "%s\n", rep_text_string(&line));
	rep_value_number(emitter, "direct_calls", NULL, REP_COUNT, counts->direct);
	rep_value_number(emitter, "indirect_calls", NULL, REP_COUNT, counts->indirect);
	rep_value_number(emitter, "c_calls", NULL, REP_COUNT, counts->to_c);
	rep_value_number(emitter, "paths_total", NULL, REP_COUNT, counts->paths);
	rep_value_number(emitter, "paths_by_c", NULL, REP_COUNT, counts->paths_by_c);
	rep_value_number(emitter, "rows_total", NULL, REP_COUNT, counts->count);
	rep_text_release(&line);
}

enum hg_status rep_series_calls(struct rep_trace_context *context, uint64_t limit)
{
	struct rep_emitter *emitter = context->emitter;
	struct hg_spacetime_call_counts *counts;
	struct rep_text label = {0};
	enum hg_status status = hg_count_spacetime_calls(context->trace, &counts);
	if (status != HG_OK)
		return rep_trace_failed(context, status);
	size_t shown = limit && limit < counts->count ? (size_t)limit : counts->count;
	rep_document_begin(emitter, "trace calls");
	write_call_counts_head(emitter, counts);
	rep_table_begin(emitter, "rows", call_count_columns,
		sizeof(call_count_columns) / sizeof(call_count_columns[0]));
	for (size_t i = 0; i < shown && !rep_emitter_broken(emitter); i++)
		write_call_count(emitter, counts->rows[i],
			counts->direct + counts->indirect + counts->to_c, &label);
	rep_table_end(emitter);
	rep_more_rows(emitter, counts->count - shown, "calls", "--limit 0");
	rep_document_end(emitter);
	rep_text_release(&label);
	rep_trace_note(context, &counts->losses);
	hg_spacetime_call_counts_release(&counts);
	return HG_OK;
}
