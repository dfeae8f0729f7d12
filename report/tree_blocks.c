/*
 * The dominator tree block by block, a row for each node.  In text, chains of blocks alike become
 * one row, and what is left out is said below the children that are shown.
 */
#include "report/report.h"

#include "report/common.h"

#include <stdlib.h>

enum {
	INDENTED_LEVELS = 24, /* deeper nodes say their depth instead */
	CHAIN_LEVELS = 1000   /* text looks that deep for the ends of chains */
};

static const struct rep_column columns[] = {
	{"depth", NULL, REP_NUMBER, 0},
	{"address", NULL, REP_NAME, 0},
	{"type", NULL, REP_NAME, 0},
	{"location", NULL, REP_NAME, 0},
	{"bytes", NULL, REP_BYTES, 0},
	{"retained_bytes", "retained", REP_BYTES, 0},
	{NULL, "  share", REP_SHARE, 0},
	{"children", "holds", REP_COUNT, 0},
	{"retained_share", NULL, REP_SHARE, REP_NOT_CSV},
	{"hidden_children", NULL, REP_COUNT, REP_NOT_CSV},
	{"hidden_bytes", NULL, REP_BYTES, REP_NOT_CSV},
	{NULL, "root or block, and below it what it alone holds", REP_NAME, REP_LAST | REP_LABEL},
};

/*
 * A tree with what is left of it to show.  In text a chain of blocks that look the same, each the
 * largest child of the one before (the cells of a list), is one row, that of its first block.
 */
struct pruned {
	struct hg_tree *tree;
	const struct hg_totals *totals;
	uint64_t min_bytes; /* what hidden children must retain to be worth a line */
	uint64_t *retained;
	size_t *parents; /* position of the parent row; of the first: its own */
	uint64_t *shown; /* children shown of each row */
	uint64_t *chain; /* text: blocks merged into this row, itself not counted */
	bool *kept;
};

static void release_pruned(struct pruned *pruned)
{
	hg_tree_release(&pruned->tree);
	free(pruned->retained);
	free(pruned->parents);
	free(pruned->shown);
	free(pruned->chain);
	free(pruned->kept);
}

static bool allocate_pruned(struct pruned *pruned)
{
	size_t count = pruned->tree->count ? pruned->tree->count : 1;
	pruned->retained = calloc(count, sizeof(*pruned->retained));
	pruned->parents = calloc(count, sizeof(*pruned->parents));
	pruned->shown = calloc(count, sizeof(*pruned->shown));
	pruned->chain = calloc(count, sizeof(*pruned->chain));
	pruned->kept = calloc(count, sizeof(*pruned->kept));
	return pruned->retained && pruned->parents && pruned->shown && pruned->chain &&
	       pruned->kept;
}

/* In depth-first order the parent is the nearest earlier row that is less deep: climb to it. */
static size_t find_tree_parent(const struct pruned *pruned, size_t position)
{
	struct hg_tree_row *const *rows = pruned->tree->rows;
	size_t parent = position - 1;
	while (parent > 0 && rows[parent]->depth >= rows[position]->depth)
		parent = pruned->parents[parent];
	return parent;
}

static void find_tree_parents(struct pruned *pruned, struct hg_snapshot *snapshot)
{
	for (size_t i = 0; i < pruned->tree->count; i++) {
		struct hg_block block = *hg_describe_block(snapshot, pruned->tree->rows[i]->node);
		pruned->retained[i] = block.retained_bytes;
		pruned->parents[i] = i ? find_tree_parent(pruned, i) : 0;
	}
}

static bool nodes_look_the_same(struct hg_snapshot *snapshot, hg_node left, hg_node right)
{
	struct hg_block a = *hg_describe_block(snapshot, left);
	struct hg_block b = *hg_describe_block(snapshot, right);
	return rep_look_the_same(&a, &b);
}

/*
 * Merges chains: a row that is the largest child (which follows its parent at once) and looks like
 * its parent joins the parent's chain, and its children become those of the chain.
 */
static bool merge_chains(struct pruned *pruned, struct hg_snapshot *snapshot, bool *merged)
{
	struct hg_tree_row **rows = pruned->tree->rows;
	size_t *heads = calloc(pruned->tree->count, sizeof(*heads));
	if (!heads)
		return false;
	for (size_t i = 1; i < pruned->tree->count; i++) {
		size_t parent = pruned->parents[i], head = heads[parent];
		/* The rest of a list is most of it; a branch of a tree is not. */
		bool rest =
			parent == i - 1 && pruned->retained[i] >= pruned->retained[parent] / 10 * 7;
		merged[i] =
			rest && nodes_look_the_same(snapshot, rows[i]->node, rows[parent]->node);
		heads[i] = merged[i] ? head : i;
		pruned->parents[i] = head;
		rows[i]->depth = merged[i] ? rows[head]->depth : rows[head]->depth + 1;
		if (merged[i]) {
			pruned->chain[head]++;
			rows[head]->hidden_children += rows[i]->hidden_children;
			rows[head]->hidden_bytes += rows[i]->hidden_bytes;
		}
	}
	free(heads);
	return true;
}

/* Whoever is dropped is counted with the row above it. */
static void count_hidden(struct pruned *pruned, const bool *merged)
{
	struct hg_tree_row **rows = pruned->tree->rows;
	for (size_t i = 1; i < pruned->tree->count; i++) {
		size_t parent = pruned->parents[i];
		if (pruned->kept[i]) {
			pruned->shown[parent]++;
		} else if (pruned->kept[parent] && !merged[i]) {
			rows[parent]->hidden_children++;
			rows[parent]->hidden_bytes += pruned->retained[i];
		}
	}
}

static bool prune(struct pruned *pruned, struct rep_context *context,
	const struct rep_tree_blocks_request *request)
{
	size_t count = pruned->tree->count;
	bool *merged = calloc(count ? count : 1, sizeof(*merged));
	uint64_t *amounts = calloc(count ? count : 1, sizeof(*amounts));
	bool text = context->emitter->writer->for_people;
	bool fine = merged && amounts && allocate_pruned(pruned);
	if (fine && (text || request->limit))
		find_tree_parents(pruned, context->snapshot);
	if (fine && text)
		fine = merge_chains(pruned, context->snapshot, merged);
	/* Rows that are no candidates have no amount, and go first. */
	uint64_t candidates = 0;
	for (size_t i = 0; fine && i < count; i++) {
		bool deep = request->max_depth && pruned->tree->rows[i]->depth > request->max_depth;
		amounts[i] = merged[i] || deep ? 0 : pruned->retained[i] + 1;
		candidates += amounts[i] != 0;
	}
	uint64_t limit =
		request->limit && request->limit < candidates ? request->limit : candidates;
	if (fine)
		fine = rep_keep_largest(amounts, count, limit, pruned->kept);
	if (fine && (text || request->limit))
		count_hidden(pruned, merged);
	free(merged);
	free(amounts);
	return fine;
}

static void indent_label(struct rep_text *label, uint32_t depth)
{
	uint32_t levels = depth < INDENTED_LEVELS ? depth : INDENTED_LEVELS;
	for (uint32_t i = 0; i < levels; i++)
		rep_text_put(label, "  ");
	if (depth > INDENTED_LEVELS)
		rep_text_printf(label, "(depth %u) ", depth);
}

static void label_chain(struct rep_text *label, const struct pruned *pruned, size_t position)
{
	if (pruned->chain[position] == 0)
		return;
	rep_text_put(label, ", and ");
	rep_text_count(label, pruned->chain[position]);
	if (pruned->chain[position] >= CHAIN_LEVELS / 2)
		rep_text_put(label, " or more");
	rep_text_put(label, " alike below it, one by one");
}

static void write_tree_row(
	struct rep_context *context, const struct pruned *pruned, size_t position)
{
	struct rep_emitter *emitter = context->emitter;
	const struct hg_tree_row *row = pruned->tree->rows[position];
	struct rep_text label = {0};
	struct hg_block block = *hg_describe_block(context->snapshot, row->node);
	if (emitter->writer->for_people) {
		indent_label(&label, row->depth);
		rep_name_label(&label, context->snapshot, &block);
		label_chain(&label, pruned, position);
	}
	rep_cell_number(emitter, row->depth);
	rep_cell_node(context, row->node);
	rep_cell_type(context, block.type);
	rep_cell_location(context, block.location);
	rep_cell_number(emitter, block.bytes);
	rep_cell_number(emitter, block.retained_bytes);
	rep_cell_share(emitter, block.retained_bytes, pruned->totals->retained_bytes);
	rep_cell_number(emitter, row->children);
	rep_cell_share(emitter, block.retained_bytes, pruned->totals->retained_bytes);
	rep_cell_number(emitter, row->hidden_children);
	rep_cell_number(emitter, row->hidden_bytes);
	rep_cell_string(emitter, rep_text_string(&label));
	rep_row_end(emitter);
	rep_text_release(&label);
}

/* Below the children shown of a row: how many are not. */
static void remark_hidden(struct rep_emitter *emitter, const struct pruned *pruned, size_t position)
{
	const struct hg_tree_row *row = pruned->tree->rows[position];
	struct rep_text remark = {0};
	bool worth_it = pruned->shown[position] || row->hidden_bytes > pruned->min_bytes;
	/* Of a chain without end, the one child hidden is the rest of it. */
	if (pruned->chain[position] >= CHAIN_LEVELS / 2 && row->hidden_children == 1)
		return;
	if (row->hidden_children && worth_it) {
		indent_label(&remark, row->depth + 1);
		rep_text_count(&remark, row->hidden_children);
		rep_text_put(&remark, " more, ");
		rep_text_size(&remark, row->hidden_bytes);
		rep_row_remark(emitter, rep_text_string(&remark));
	}
	rep_text_release(&remark);
}

/* Blocks that no root reaches stand beside the tree, so that all bytes of the file are in it. */
static void write_unreachable(struct rep_emitter *emitter, const struct hg_totals *totals)
{
	rep_cell_number(emitter, 0);
	rep_cell_labelled(emitter, "(unreachable)", "");
	rep_cell_string(emitter, "");
	rep_cell_string(emitter, "");
	rep_cell_number(emitter, totals->unreachable_bytes);
	rep_cell_number(emitter, 0);
	rep_cell_none(emitter);
	rep_cell_number(emitter, totals->unreachable_blocks);
	rep_cell_number(emitter, 0);
	rep_cell_number(emitter, 0);
	rep_cell_number(emitter, 0);
	rep_cell_none(emitter);
	rep_row_end(emitter);
}

static void prose_unreachable(struct rep_emitter *emitter, const struct hg_totals *totals)
{
	struct rep_text text = {0};
	if (totals->unreachable_blocks == 0)
		return;
	rep_name_amount(
		&text, totals->unreachable_blocks, "unreachable block", "unreachable blocks");
	rep_text_put(&text, ", ");
	rep_text_size(&text, totals->unreachable_bytes);
	rep_prose(emitter, REP_PLAIN, "\nBeside the tree: %s.\n", rep_text_string(&text));
	rep_text_release(&text);
}

static void write_tree(struct rep_context *context, const struct pruned *pruned)
{
	struct rep_emitter *emitter = context->emitter;
	bool text = emitter->writer->for_people;
	size_t last = 0;
	rep_begin(context, "tree");
	rep_value_string(context->emitter, "by", NULL, REP_WORD, "block");
	rep_table_begin(emitter, "rows", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < pruned->tree->count && !rep_emitter_broken(emitter); i++) {
		if (!pruned->kept[i])
			continue;
		/* Leaving the rows that are not above this one. */
		for (; text && last && last != pruned->parents[i]; last = pruned->parents[last])
			remark_hidden(emitter, pruned, last);
		write_tree_row(context, pruned, i);
		last = i;
	}
	for (; text && last; last = pruned->parents[last])
		remark_hidden(emitter, pruned, last);
	if (pruned->tree->count)
		remark_hidden(emitter, pruned, 0);
	if (!text)
		write_unreachable(emitter, pruned->totals);
	rep_table_end(emitter);
	prose_unreachable(emitter, pruned->totals);
	rep_document_end(emitter);
}

static uint32_t levels_to_ask_for(
	const struct rep_context *context, const struct rep_tree_blocks_request *request)
{
	bool text = context->emitter->writer->for_people;
	bool more = request->max_depth && request->max_depth < CHAIN_LEVELS;
	return text && more ? CHAIN_LEVELS : request->max_depth;
}

enum hg_status rep_tree_blocks(
	struct rep_context *context, const struct rep_tree_blocks_request *request)
{
	struct pruned pruned = {0};
	enum hg_status status = hg_count_totals(context->snapshot, &pruned.totals);
	if (status == HG_OK) {
		struct hg_tree_options options = {.size = sizeof(options),
			.from = request->from,
			.max_depth = levels_to_ask_for(context, request),
			.max_children = request->max_children,
			.min_bytes = rep_share_bytes(pruned.totals, request->min_share)};
		pruned.min_bytes = options.min_bytes;
		status = hg_list_tree(context->snapshot, &options, &pruned.tree);
	}
	if (status != HG_OK) {
		status = rep_library_failed(context, status);
	} else if (!prune(&pruned, context, request)) {
		status = rep_no_memory(context);
	} else {
		write_tree(context, &pruned);
	}
	release_pruned(&pruned);
	return status;
}
