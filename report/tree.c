/*
 * The retention tree, a row for each of its nodes.  In text only what retains much is shown, what
 * is left out is said below the children that are, and so is who shares what hangs below all roots.
 */
#include "report/report.h"

#include "report/common.h"
#include "report/paths.h"

#include <stdlib.h>

enum {
	INDENTED_NAMES = 24, /* deeper nodes say their depth instead */
	SHARERS_TOLD = 3
};

static const struct rep_column columns[] = {
	{"depth", NULL, REP_NUMBER, 0},
	{"path", NULL, REP_NAME, 0},
	{NULL, "retained", REP_BYTES, 0},
	{NULL, "  share", REP_SHARE, 0},
	{"blocks", "blocks", REP_COUNT, 0},
	{"bytes", "own bytes", REP_BYTES, 0},
	{"retained_bytes", NULL, REP_BYTES, 0},
	{"offheap_bytes", NULL, REP_BYTES, 0},
	{"retained_offheap_bytes", NULL, REP_BYTES, 0},
	{"made_at", NULL, REP_NAME, 0},
	{"name", NULL, REP_NAME, REP_NOT_CSV},
	{"defined_at", NULL, REP_NAME, REP_NOT_CSV},
	{"retained_share", NULL, REP_SHARE, REP_NOT_CSV},
	{"children", NULL, REP_COUNT, REP_NOT_CSV},
	{"hidden_children", NULL, REP_COUNT, REP_NOT_CSV},
	{"hidden_bytes", NULL, REP_BYTES, REP_NOT_CSV},
	{"largest", NULL, REP_NAME, REP_NOT_CSV},
	{"first", NULL, REP_NAME, REP_NOT_CSV},
	{"any", NULL, REP_NAME, REP_NOT_CSV},
	{NULL, "root, and below it what it holds by class", REP_NAME, REP_LAST | REP_LABEL},
};

/* A tree with what of it is shown. */
struct shown_tree {
	struct hg_retention *tree; /* borrowed */
	size_t count;
	uint64_t min_bytes;
	bool *kept;
	uint64_t *hidden, *hidden_bytes; /* children left out of each row */
	uint32_t *shown;                 /* children shown */
};

static void release_shown_tree(struct shown_tree *t)
{
	free(t->kept);
	free(t->hidden);
	free(t->hidden_bytes);
	free(t->shown);
}

static bool is_candidate(const struct shown_tree *t, const struct rep_tree_request *request,
	const struct hg_retention_row *row)
{
	const struct hg_retention_row *parent = hg_retention_at(t->tree, row->parent);
	bool deep = request->max_depth && row->depth > request->max_depth;
	bool many = request->max_children && row != parent &&
		    t->shown[row->parent] >= request->max_children;
	return t->kept[row->parent] && !deep && !many && row->weight >= t->min_bytes;
}

/* Candidates first, with how many children of each row are; then the largest of these. */
static bool choose_shown(struct shown_tree *t, const struct rep_tree_request *request)
{
	uint64_t *amounts = calloc(t->count, sizeof(*amounts)), candidates = 0;
	bool *kept = calloc(t->count, sizeof(*kept));
	bool fine = amounts && kept;
	t->kept[0] = true;
	for (size_t i = 0; fine && i < t->count; i++) {
		const struct hg_retention_row *row = hg_retention_at(t->tree, i);
		t->kept[i] = is_candidate(t, request, row) || i == 0;
		if (!t->kept[i])
			continue;
		amounts[i] = row->weight + 1;
		candidates++;
		t->shown[row->parent] += i != 0;
	}
	uint64_t limit =
		request->limit && request->limit < candidates ? request->limit : candidates;
	fine = fine && rep_keep_largest(amounts, t->count, limit, kept);
	for (size_t i = 0; fine && i < t->count; i++) {
		t->kept[i] = kept[i];
		t->shown[i] = 0;
	}
	free(amounts);
	free(kept);
	return fine;
}

/* Whoever is left out counts with the row above it. */
static void count_hidden_rows(struct shown_tree *t)
{
	for (size_t i = 1; i < t->count; i++) {
		const struct hg_retention_row *row = hg_retention_at(t->tree, i);
		if (t->kept[i]) {
			t->shown[row->parent]++;
		} else if (t->kept[row->parent]) {
			t->hidden[row->parent]++;
			t->hidden_bytes[row->parent] += row->weight;
		}
	}
}

static bool prune_tree(struct shown_tree *t, const struct rep_tree_request *request)
{
	t->count = hg_retention_count(t->tree);
	t->kept = calloc(t->count, sizeof(*t->kept));
	t->hidden = calloc(t->count, sizeof(*t->hidden));
	t->hidden_bytes = calloc(t->count, sizeof(*t->hidden_bytes));
	t->shown = calloc(t->count, sizeof(*t->shown));
	if (!t->kept || !t->hidden || !t->hidden_bytes || !t->shown)
		return false;
	uint64_t all = hg_retention_at(t->tree, 0)->weight;
	t->min_bytes = rep_part_of(all, request->min_share);
	if (!choose_shown(t, request))
		return false;
	count_hidden_rows(t);
	return true;
}

static void indent_name(struct rep_text *label, uint32_t depth)
{
	uint32_t levels = depth < INDENTED_NAMES ? depth : INDENTED_NAMES;
	for (uint32_t i = 0; i < levels; i++)
		rep_text_put(label, "  ");
	if (depth > INDENTED_NAMES)
		rep_text_printf(label, "(depth %u) ", depth);
}

static void write_path_row(struct rep_context *context, const struct shown_tree *t, size_t number)
{
	struct rep_emitter *emitter = context->emitter;
	const struct hg_retention_row *row = hg_retention_at(t->tree, number);
	const struct hg_retention_row *top = hg_retention_at(t->tree, 0);
	struct rep_text label = {0}, path = {0}, made_at = {0}, defined_at = {0};
	rep_path_made_at(&made_at, t->tree, number);
	rep_path_defined_at(&defined_at, t->tree, number);
	if (emitter->writer->for_people) {
		indent_name(&label, row->depth);
		rep_text_put(&label, row->name);
		rep_path_remark(&label, row, &made_at);
	} else {
		rep_path_name(&path, t->tree, number);
	}
	rep_cell_number(emitter, row->depth);
	rep_cell_string(emitter, rep_text_string(&path));
	rep_cell_number(emitter, row->weight);
	rep_cell_share(emitter, row->weight, top->weight);
	rep_cell_number(emitter, row->blocks);
	rep_cell_number(emitter, row->bytes);
	rep_cell_number(emitter, row->retained_bytes);
	rep_cell_number(emitter, row->offheap_bytes);
	rep_cell_number(emitter, row->retained_offheap_bytes);
	rep_cell_string(emitter, rep_text_string(&made_at));
	rep_cell_string(emitter, row->name);
	rep_cell_string(emitter, rep_text_string(&defined_at));
	rep_cell_share(emitter, row->weight, top->weight);
	rep_cell_number(emitter, row->children);
	rep_cell_number(emitter, t->hidden[number]);
	rep_cell_number(emitter, t->hidden_bytes[number]);
	rep_cell_node(context, row->largest);
	rep_cell_node(context, row->first);
	rep_cell_node(context, row->any);
	rep_cell_string(emitter, rep_text_string(&label));
	rep_row_end(emitter);
	rep_text_release(&label);
	rep_text_release(&path);
	rep_text_release(&made_at);
	rep_text_release(&defined_at);
}

/* "held by global Big.by_name (412,000 pointers), global Big.by_age (412,000)". */
static void remark_sharers(struct rep_context *context, const struct shown_tree *t, size_t number)
{
	const struct hg_retention_row *row = hg_retention_at(t->tree, number);
	struct hg_cross_edges *sharers;
	struct rep_text remark = {0};
	if (row->depth != 1 || row->is_root || hg_list_sharers(t->tree, number, &sharers) != HG_OK)
		return;
	indent_name(&remark, row->depth);
	rep_text_put(&remark, "  held by ");
	rep_path_sharers(&remark, t->tree, sharers, SHARERS_TOLD);
	if (sharers->count)
		rep_row_remark(context->emitter, rep_text_string(&remark));
	hg_cross_edges_release(&sharers);
	rep_text_release(&remark);
}

static void remark_hidden_rows(
	struct rep_emitter *emitter, const struct shown_tree *t, size_t number)
{
	struct rep_text remark = {0};
	bool worth_it = t->shown[number] || t->hidden_bytes[number] > t->min_bytes;
	if (t->hidden[number] && worth_it) {
		indent_name(&remark, hg_retention_at(t->tree, number)->depth + 1);
		rep_text_count(&remark, t->hidden[number]);
		rep_text_put(&remark, " more, ");
		rep_text_size(&remark, t->hidden_bytes[number]);
		rep_row_remark(emitter, rep_text_string(&remark));
	}
	rep_text_release(&remark);
}

static void write_shown_tree(struct rep_context *context, const struct shown_tree *t)
{
	struct rep_emitter *emitter = context->emitter;
	bool text = emitter->writer->for_people;
	size_t last = 0;
	rep_table_begin(emitter, "rows", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < t->count && !rep_emitter_broken(emitter); i++) {
		if (!t->kept[i])
			continue;
		/* Leaving the rows that are not above this one. */
		for (; text && last && last != hg_retention_at(t->tree, i)->parent;
			last = hg_retention_at(t->tree, last)->parent)
			remark_hidden_rows(emitter, t, last);
		write_path_row(context, t, i);
		if (text)
			remark_sharers(context, t, i);
		last = i;
	}
	for (; text && last; last = hg_retention_at(t->tree, last)->parent)
		remark_hidden_rows(emitter, t, last);
	remark_hidden_rows(emitter, t, 0);
	rep_table_end(emitter);
}

/* Programs: the pointers that are no dominance between rows that are shown. */
static void write_cross_edges(
	struct rep_context *context, const struct shown_tree *t, const struct hg_cross_edges *edges)
{
	static const struct rep_column cross_columns[] = {
		{"from", NULL, REP_NAME, 0},
		{"to", NULL, REP_NAME, 0},
		{"pointers", NULL, REP_COUNT, 0},
	};
	struct rep_text from = {0}, to = {0};
	rep_table_begin(context->emitter, "cross_edges", cross_columns, 3);
	for (size_t i = 0; i < edges->count; i++) {
		const struct hg_cross_edge *edge = edges->rows[i];
		if (!t->kept[edge->from] || !t->kept[edge->to])
			continue;
		rep_text_clear(&from);
		rep_text_clear(&to);
		rep_path_name(&from, t->tree, edge->from);
		rep_path_name(&to, t->tree, edge->to);
		rep_cell_string(context->emitter, rep_text_string(&from));
		rep_cell_string(context->emitter, rep_text_string(&to));
		rep_cell_number(context->emitter, edge->pointers);
		rep_row_end(context->emitter);
	}
	rep_table_end(context->emitter);
	rep_text_release(&from);
	rep_text_release(&to);
}

static void write_tree_document(
	struct rep_context *context, const struct shown_tree *t, const struct hg_cross_edges *edges)
{
	rep_begin(context, "tree");
	rep_value_string(context->emitter, "by", NULL, REP_WORD, "path");
	write_shown_tree(context, t);
	if (edges)
		write_cross_edges(context, t, edges);
	rep_document_end(context->emitter);
}

/* The pointers that both the table of programs and the remarks in text are made of. */
static enum hg_status open_shown_tree(struct rep_context *context,
	const struct rep_tree_request *request, struct shown_tree *t, struct hg_cross_edges **edges)
{
	struct hg_retention_options options = {.size = sizeof(options), .from = request->from};
	enum hg_status status = hg_retention_open(context->snapshot, &options, &t->tree);
	if (status == HG_OK && !context->emitter->writer->one_part)
		status = hg_list_cross_edges(t->tree, edges);
	return status == HG_OK ? HG_OK : rep_library_failed(context, status);
}

enum hg_status rep_tree(struct rep_context *context, const struct rep_tree_request *request)
{
	struct shown_tree t = {0};
	struct hg_cross_edges *edges = NULL;
	enum hg_status status = open_shown_tree(context, request, &t, &edges);
	if (status == HG_OK && !prune_tree(&t, request))
		status = rep_no_memory(context);
	if (status == HG_OK)
		write_tree_document(
			context, &t, context->emitter->writer->tells_all ? edges : NULL);
	hg_cross_edges_release(&edges);
	release_shown_tree(&t);
	hg_retention_close(t.tree);
	return status;
}

void rep_tree_part(struct rep_context *context, struct hg_retention *tree,
	const struct rep_tree_request *request)
{
	struct shown_tree t = {.tree = tree};
	if (prune_tree(&t, request))
		write_shown_tree(context, &t);
	else
		context->emitter->failed = true;
	release_shown_tree(&t);
}
