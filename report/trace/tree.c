/* Trees of calls as tables: from the outermost function inwards, and from the inside out. */
#include "report/trace/trace.h"

#include "report/common.h"

#include <stdlib.h>
#include <string.h>

/* Before and behind those of all tables. */
static const struct rep_column first_call_columns[] = {
	{"depth", NULL, REP_NUMBER, 0},
	{"function", "call", REP_NAME, REP_LAST | REP_LABEL},
};
static const struct rep_column last_call_columns[] = {
	{"own_bytes", "itself", REP_BYTES, 0},
	{"share", "  share", REP_SHARE, REP_NOT_CSV},
};
/* Of series, in the middle: amounts, or calls alone. */
static const struct rep_column series_call_columns[] = {
	{"allocated_bytes", "allocated", REP_BYTES, 0},
	{"live_bytes", "live", REP_BYTES, 0},
	{"blocks", "blocks", REP_COUNT, 0},
};
static const struct rep_column series_calls_column = {"calls", "calls", REP_COUNT, 0};
enum { SERIES_AMOUNTS = 3, SERIES_BYTES = 8 };
enum { FIRST_COLUMNS = 2, CALL_COLUMNS = FIRST_COLUMNS + REP_TRACE_AMOUNTS + 2 };

/* What is counted of a series: of its own column and of the sum of all. */
static const struct series_count {
	const char *name, *by, *total;
	unsigned unit; /* bytes, or one of what is counted */
	bool of_calls;
	struct rep_column own;
} series_counts[] = {
	[HG_SPACETIME_ALLOCATED] = {"allocated", "what is allocated", "allocated_bytes_total",
		SERIES_BYTES, false, {"own_bytes", "itself", REP_BYTES, 0}},
	[HG_SPACETIME_LIVE] = {"live", "bytes alive", "live_bytes_total", SERIES_BYTES, false,
		{"own_live_bytes", "itself", REP_BYTES, 0}},
	[HG_SPACETIME_BLOCKS] = {"blocks", "blocks alive", "blocks_total", 1, false,
		{"own_blocks", "itself", REP_COUNT, 0}},
	[HG_SPACETIME_CALLS] = {"calls", "direct calls", "calls_total", 1, true,
		{"own_calls", "itself", REP_COUNT, 0}},
	[HG_SPACETIME_INDIRECT_CALLS] = {"indirect-calls", "indirect calls", "calls_total", 1, true,
		{"own_calls", "itself", REP_COUNT, 0}},
};

const char *rep_series_count_name(unsigned count)
{
	return count < sizeof(series_counts) / sizeof(series_counts[0]) ? series_counts[count].name
									: NULL;
}

/* What the trees are. */
struct call_head {
	const char *verb, *title, *about;
	bool inwards;
	const struct series_count *series; /* NULL: of a trace */
};
static const struct call_head call_heads[] = {
	{"trace tree", "Calls", " by what is allocated below them, recursion removed\n", true,
		NULL},
	{"trace callers", "Callers", " of what allocates, by what they have allocated\n", false,
		NULL},
	{"trace tree", "Places of allocation", ", and outwards those of the calls\n", false, NULL},
};

/* Of a series 'promoted' is what was allocated, and 'peak' blocks. */
static void write_series_amounts(struct rep_emitter *emitter, const struct series_count *series,
	const struct hg_trace_amounts *amounts)
{
	if (series->of_calls) {
		rep_cell_number(emitter, amounts->samples);
		return;
	}
	rep_cell_number(emitter, SERIES_BYTES * amounts->promoted);
	rep_cell_number(emitter, SERIES_BYTES * amounts->live);
	rep_cell_number(emitter, amounts->peak);
}

static void write_call_node(struct rep_trace_context *context, const struct hg_trace_node *node,
	uint64_t all, const struct call_head *head, struct rep_text *label)
{
	struct rep_emitter *emitter = context->emitter;
	const struct hg_trace_info *info = hg_trace_header(context->trace);
	rep_cell_number(emitter, node->depth);
	rep_trace_cell_call(emitter, node->depth, node->name, label);
	if (head->series)
		write_series_amounts(emitter, head->series, &node->total);
	else
		rep_trace_amount_cells(emitter, info, &node->total);
	if (head->inwards)
		rep_cell_number(emitter, head->series ? head->series->unit * node->own.samples
						      : rep_trace_bytes(info, node->own.samples));
	rep_cell_share(emitter, node->total.samples, all);
	rep_row_end(emitter);
}

static void write_call_head(struct rep_trace_context *context, const struct hg_trace_tree *tree,
	const struct call_head *head)
{
	struct rep_emitter *emitter = context->emitter;
	rep_document_begin(emitter, head->verb);
	rep_prose(emitter, REP_BOLD, "%s", head->title);
	rep_prose(emitter, REP_PLAIN, "%s", head->about);
	rep_trace_say_filtered(context);
	rep_value_number(emitter, head->series ? head->series->total : "samples_total", NULL,
		REP_COUNT, tree->all_samples * (head->series ? head->series->unit : 1));
	if (!tree->cut)
		rep_value_number(emitter, "rows_total", NULL, REP_COUNT, tree->count);
}

/* Outwards, nodes allocate nothing themselves. */
static unsigned list_call_columns(struct rep_column *columns, const struct call_head *head)
{
	const struct rep_column *middle = rep_trace_amount_columns;
	unsigned amounts = REP_TRACE_AMOUNTS, count = FIRST_COLUMNS;
	if (head->series) {
		middle = head->series->of_calls ? &series_calls_column : series_call_columns;
		amounts = head->series->of_calls ? 1 : SERIES_AMOUNTS;
	}
	memcpy(columns, first_call_columns, sizeof(first_call_columns));
	memcpy(columns + count, middle, amounts * sizeof(*columns));
	count += amounts;
	if (head->inwards)
		columns[count++] = head->series ? head->series->own : last_call_columns[0];
	columns[count++] = last_call_columns[1];
	return count;
}

static void write_call_tree(struct rep_trace_context *context, const struct hg_trace_tree *tree,
	const struct call_head *head, const bool *kept, uint64_t shown)
{
	struct rep_emitter *emitter = context->emitter;
	struct rep_text label = {0};
	struct rep_column columns[CALL_COLUMNS];
	write_call_head(context, tree, head);
	rep_table_begin(emitter, "rows", columns, list_call_columns(columns, head));
	for (size_t i = 0; i < tree->count && !rep_emitter_broken(emitter); i++)
		if (!kept || kept[i])
			write_call_node(context, tree->nodes[i], tree->all_samples, head, &label);
	rep_table_end(emitter);
	rep_more_rows(emitter, tree->count - shown, "calls", "--limit 0");
	if (tree->cut)
		rep_prose(emitter, REP_PLAIN,
			"(smaller ones are left out: --limit 0%s shows all)\n",
			head->series ? "" : " --min-samples 1");
	rep_document_end(emitter);
	emitter->failed |= label.failed;
	rep_text_release(&label);
}

enum hg_status rep_trace_callers(
	struct rep_trace_context *context, const struct hg_trace_callers_options *options)
{
	struct hg_trace_tree *tree;
	enum hg_status status = hg_list_trace_callers(context->trace, options, &tree);
	if (status != HG_OK)
		return rep_trace_failed(context, status);
	if (options->of && tree->count <= 1)
		status = base_fail(context->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"no function '%s' allocates here: 'trace functions' lists them",
			options->of);
	else
		write_call_tree(
			context, tree, &call_heads[options->places ? 2 : 1], NULL, tree->count);
	rep_trace_note(context, &tree->losses);
	hg_trace_tree_release(&tree);
	return status;
}

/* The largest nodes, of those that are large enough; how many. */
static bool choose_calls(const struct hg_trace_tree *tree, uint64_t min_samples, uint64_t limit,
	bool *kept, uint64_t *shown)
{
	uint64_t *amounts = calloc(tree->count, sizeof(*amounts));
	if (!amounts)
		return false;
	for (size_t i = 0; i < tree->count; i++)
		amounts[i] = tree->nodes[i]->total.samples;
	bool good = rep_keep_largest(amounts, tree->count, limit, kept);
	*shown = 0;
	for (size_t i = 0; i < tree->count; i++) {
		kept[i] = kept[i] && amounts[i] >= min_samples;
		*shown += kept[i];
	}
	free(amounts);
	return good;
}

/* Takes over the tree. */
static enum hg_status report_calls(struct rep_trace_context *context, struct hg_trace_tree *tree,
	const struct call_head *head, uint64_t min_samples, uint64_t limit)
{
	enum hg_status status = HG_OK;
	uint64_t shown;
	bool *kept = calloc(tree->count, sizeof(*kept));
	if (!kept || !choose_calls(tree, min_samples, limit, kept, &shown))
		status = base_no_memory(context->error, tree->count * sizeof(uint64_t));
	else
		write_call_tree(context, tree, head, kept, shown);
	free(kept);
	rep_trace_note(context, &tree->losses);
	hg_trace_tree_release(&tree);
	return status;
}

enum hg_status rep_trace_tree(
	struct rep_trace_context *context, uint64_t min_samples, uint64_t limit)
{
	struct hg_trace_tree *tree;
	enum hg_status status = hg_list_trace_calls(context->trace, HG_TRACE_BY_SAMPLES, &tree);
	if (status != HG_OK)
		return rep_trace_failed(context, status);
	return report_calls(context, tree, &call_heads[0], min_samples, limit);
}

/* A head of a series, and its line about what is counted. */
static bool make_series_head(struct call_head *head, struct rep_text *about, const char *verb,
	const struct hg_spacetime_view *view)
{
	const struct series_count *series = &series_counts[view->count];
	rep_text_printf(
		about, head->inwards ? " by %s below them" : " by %s on their behalf", series->by);
	if (series->of_calls)
		rep_text_put(about, " up to the end");
	else if (view->at.of == HG_SPACETIME_END)
		rep_text_put(about, ": allocated in the whole run, live in the last snapshot");
	else if (view->at.of == HG_SPACETIME_NUMBER)
		rep_text_printf(about, " in snapshot %llu", (unsigned long long)view->at.number);
	else
		rep_text_put(about, " in the snapshot that was asked for");
	rep_text_put(about, view->all_frames ? "\n" : ", recursion removed\n");
	head->verb = verb;
	head->title = head->inwards ? "Calls" : "Callers";
	head->about = rep_text_string(about);
	head->series = series;
	return !about->failed;
}

enum hg_status rep_series_tree(
	struct rep_trace_context *context, const struct hg_spacetime_view *view, uint64_t limit)
{
	struct hg_trace_tree *tree;
	struct rep_text about = {0};
	struct call_head head = {.inwards = true};
	enum hg_status status =
		hg_list_spacetime_calls(context->trace, view, HG_TRACE_BY_SAMPLES, &tree);
	if (status != HG_OK)
		return rep_trace_failed(context, status);
	context->emitter->failed |= !make_series_head(&head, &about, "trace tree", view);
	status = report_calls(context, tree, &head, 0, limit);
	rep_text_release(&about);
	return status;
}

enum hg_status rep_series_callers(struct rep_trace_context *context,
	const struct hg_spacetime_view *view, const struct hg_trace_callers_options *options)
{
	struct hg_trace_tree *tree;
	struct rep_text about = {0};
	struct call_head head = {0};
	enum hg_status status = hg_list_spacetime_callers(context->trace, view, options, &tree);
	if (status != HG_OK)
		return rep_trace_failed(context, status);
	context->emitter->failed |= !make_series_head(
		&head, &about, options->places ? "trace tree" : "trace callers", view);
	if (options->of && tree->count <= 1)
		status = base_fail(context->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"no place '%s' is called here: 'trace top' lists those that allocate",
			options->of);
	else
		write_call_tree(context, tree, &head, NULL, tree->count);
	rep_trace_note(context, &tree->losses);
	hg_trace_tree_release(&tree);
	rep_text_release(&about);
	return status;
}
