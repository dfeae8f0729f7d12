/* Of the summary: what fills the memory, what holds it, and what looks suspicious. */
#include "report/summary/summary.h"

#include "report/common.h"
#include "report/holders.h"
#include "report/places.h"

enum {
	SHOWN_CLASSES = 8,
	SHOWN_HOLDERS = 2,
	TREE_DEPTH = 5,
	TREE_CHILDREN = 3,
	TREE_ROWS = 12,
	TREE_SHARE = 20000 /* parts per million: 2 % */
};

/* The rows of 'top' that retain most. */
static void write_largest_classes(struct rep_context *context, const struct summary *summary,
	const struct hg_top *top, const char *member)
{
	struct rep_emitter *emitter = context->emitter;
	const char *key = hg_key_name(top->key);
	bool sampled = rep_is_sampled(top->key, summary->totals);
	const struct rep_column columns[] = {
		{key, key, REP_NAME, top->key == HG_BY_TYPE ? REP_LAST | REP_HEAD : REP_LAST},
		{"blocks", "blocks", REP_COUNT, 0},
		{"bytes", "bytes", REP_BYTES, 0},
		{"retained_bytes", "retained", REP_BYTES, 0},
		{"retained_share", "  share", REP_SHARE, 0},
		rep_estimated_column(sampled),
		rep_error_column(sampled),
		rep_offheap_column(false),
		rep_retained_offheap_column(rep_has_offheap(context->snapshot)),
		rep_made_at_column(context, summary->totals),
	};
	bool by_type = top->key == HG_BY_TYPE;
	unsigned count = sizeof(columns) / sizeof(columns[0]) - !by_type;
	size_t shown = top->count < SHOWN_CLASSES ? top->count : SHOWN_CLASSES;
	rep_table_begin(emitter, member, columns, count);
	for (size_t i = 0; i < shown; i++) {
		const struct hg_class *row = top->rows[i];
		rep_class_cells(emitter, context->snapshot, top->key, row->id, row->confidence);
		rep_cell_number(emitter, row->blocks);
		rep_cell_number(emitter, row->bytes);
		rep_cell_number(emitter, row->retained_bytes);
		rep_cell_share(emitter,
			rep_weigh(context, row->retained_bytes, row->retained_offheap_bytes),
			rep_weigh_all(context, summary->totals));
		rep_estimate_cells(emitter, row);
		rep_cell_number(emitter, row->offheap_bytes);
		rep_cell_number(emitter, row->retained_offheap_bytes);
		if (by_type)
			rep_cell_made_at(context, row->id);
		rep_row_end(emitter);
	}
	rep_table_end(emitter);
	if (sampled)
		rep_prose(emitter, REP_PLAIN, "%s", REP_ESTIMATE_MEANING);
}

/* People see types, or locations if there are none; programs both. */
void rep_summary_largest(struct rep_context *context, const struct summary *summary)
{
	bool text = context->emitter->writer->for_people;
	bool locations = summary->totals->located_blocks || summary->info.heap_bytes == HG_UNKNOWN;
	if (summary->info.has_types) {
		rep_headline(context->emitter, "What fills the memory: types that retain most");
		write_largest_classes(context, summary, summary->types, "types");
		locations &= !text;
	}
	/* The places that a trace tells are a table of their own. */
	if (text && (!locations || summary->join))
		return;
	rep_headline(
		context->emitter, "Where the memory was allocated: locations that retain most");
	write_largest_classes(context, summary, summary->locations, "locations");
}

static const struct rep_column dominator_columns[] = {
	{"address", NULL, REP_NAME, 0},
	{"location", NULL, REP_NAME, 0},
	{"children", "holds", REP_COUNT, 0},
	{"retained_bytes", "retained", REP_BYTES, 0},
	{"retained_share", "  share", REP_SHARE, 0},
	{"type", NULL, REP_NAME, 0},
	{NULL, "root or block", REP_NAME, REP_LAST | REP_LABEL},
};

static void dominator_row(
	struct rep_context *context, const struct hg_tree_row *row, uint64_t total)
{
	struct rep_emitter *emitter = context->emitter;
	struct hg_block block = *hg_describe_block(context->snapshot, row->node);
	rep_cell_node(context, row->node);
	rep_cell_location(context, block.location);
	rep_cell_number(emitter, row->children);
	rep_cell_number(emitter, block.retained_bytes);
	rep_cell_share(emitter, block.retained_bytes, total);
	rep_cell_type(context, block.type);
	rep_cell_label(context, &block);
	rep_row_end(emitter);
}

void rep_summary_dominators(struct rep_context *context, const struct summary *summary)
{
	const struct hg_tree *tree = summary->dominators;
	rep_table_begin(context->emitter, "dominators", dominator_columns, 7);
	for (size_t i = 1; i < tree->count; i++)
		if (tree->rows[i]->depth == 1)
			dominator_row(context, tree->rows[i], summary->totals->retained_bytes);
	rep_table_end(context->emitter);
}

struct kind_sums {
	uint64_t roots[HG_ROOT_KINDS];
	/* The last ones are held by several roots together, by none alone. */
	uint64_t bytes[HG_ROOT_KINDS + 1], offheap[HG_ROOT_KINDS + 1];
};

/* A fiber hangs from the block of its continuation: who holds that has its bytes already. */
static bool is_held_by_a_block(struct hg_snapshot *snapshot, const struct hg_class *root)
{
	return hg_describe_block(snapshot, root->id)->idom != hg_virtual_root(snapshot);
}

static struct kind_sums sum_kinds(struct rep_context *context, const struct summary *summary)
{
	struct kind_sums sums = {.bytes[HG_ROOT_KINDS] = summary->totals->retained_bytes,
		.offheap[HG_ROOT_KINDS] = summary->totals->retained_offheap_bytes};
	for (size_t i = 0; i < summary->roots->count; i++) {
		const struct hg_class *row = summary->roots->rows[i];
		enum hg_root_kind kind = hg_kind_of_root(context->snapshot, row->id);
		if (kind >= HG_ROOT_KINDS)
			continue;
		sums.roots[kind]++;
		bool retains = row->retained_bytes || row->retained_offheap_bytes;
		if (!retains || is_held_by_a_block(context->snapshot, row))
			continue;
		sums.bytes[kind] += row->retained_bytes;
		sums.offheap[kind] += row->retained_offheap_bytes;
		sums.bytes[HG_ROOT_KINDS] -= row->retained_bytes;
		sums.offheap[HG_ROOT_KINDS] -= row->retained_offheap_bytes;
	}
	return sums;
}

void rep_summary_kinds(struct rep_context *context, const struct summary *summary)
{
	const struct rep_column columns[] = {
		{"kind", NULL, REP_WORD, 0},
		{"roots", "roots", REP_COUNT, 0},
		{"retained_bytes", "retained", REP_BYTES, 0},
		{"retained_share", "  share", REP_SHARE, 0},
		{NULL, "kind of root", REP_WORD, REP_LAST},
		rep_retained_offheap_column(rep_has_offheap(context->snapshot)),
	};
	struct rep_emitter *emitter = context->emitter;
	struct kind_sums sums = sum_kinds(context, summary);
	uint64_t total = rep_weigh_all(context, summary->totals);
	rep_table_begin(emitter, "roots", columns, 6);
	for (unsigned i = 0; i <= HG_ROOT_KINDS; i++) {
		bool shared = i == HG_ROOT_KINDS;
		uint64_t weight = rep_weigh(context, sums.bytes[i], sums.offheap[i]);
		if (shared ? !sums.bytes[i] && !sums.offheap[i] : !sums.roots[i])
			continue;
		const char *name = shared ? "shared" : hg_root_kind_name((enum hg_root_kind)i);
		rep_cell_string(emitter, name);
		if (shared && emitter->writer->for_people)
			rep_cell_none(emitter);
		else
			rep_cell_number(emitter, shared ? 0 : sums.roots[i]);
		rep_cell_number(emitter, sums.bytes[i]);
		rep_cell_share(emitter, weight, total);
		rep_cell_string(emitter, shared ? "(held by several roots)" : name);
		rep_cell_number(emitter, sums.offheap[i]);
		rep_row_end(emitter);
	}
	rep_table_end(emitter);
}

static void suspect_row(struct rep_context *context, const struct hg_suspect *suspect)
{
	rep_cell_node(context, suspect->node);
	rep_cell_node(context, suspect->accumulation);
	rep_cell_number(context->emitter, suspect->retained_bytes);
	rep_cell_number(context->emitter, suspect->chain);
	rep_cell_number(context->emitter, suspect->children);
	rep_cell_location(context, suspect->location);
	rep_cell_number(context->emitter, suspect->location_bytes);
	rep_cell_type(context, suspect->type);
	rep_cell_number(context->emitter, suspect->type_bytes);
	rep_row_end(context->emitter);
}

void rep_summary_suspects(struct rep_context *context, const struct summary *summary)
{
	static const struct rep_column columns[] = {
		{"address", NULL, REP_NAME, 0},
		{"accumulation", NULL, REP_NAME, 0},
		{"retained_bytes", NULL, REP_BYTES, 0},
		{"chain", NULL, REP_COUNT, 0},
		{"children", NULL, REP_COUNT, 0},
		{"location", NULL, REP_NAME, 0},
		{"location_bytes", NULL, REP_BYTES, 0},
		{"type", NULL, REP_NAME, 0},
		{"type_bytes", NULL, REP_BYTES, 0},
	};
	const struct hg_suspects *suspects = summary->suspects;
	rep_table_begin(context->emitter, "suspects", columns, 9);
	for (size_t i = 0; i < suspects->count; i++)
		suspect_row(context, suspects->rows[i]);
	rep_table_end(context->emitter);
}

void rep_summary_tree(struct rep_context *context, const struct summary *summary)
{
	const struct rep_tree_request request = {.max_depth = TREE_DEPTH,
		.max_children = TREE_CHILDREN,
		.min_share = TREE_SHARE,
		.limit = TREE_ROWS};
	rep_headline(context->emitter,
		"What holds what: what would be freed with a root or class (tree shows more)");
	rep_tree_part(context, summary->tree, &request);
}

void rep_summary_holders(struct rep_context *context, const struct summary *summary)
{
	if (context->emitter->writer->tells_all) {
		rep_holders_table(context, "holders", summary->tree, summary->holders, 0);
		return;
	}
	rep_headline(context->emitter, "Who holds much: a tenth of the memory or more");
	rep_holders_prose(context, summary->tree, summary->holders, SHOWN_HOLDERS);
}
