/*
 * What sets of blocks retain as a whole, by whom they are dominated, and who holds what they share.
 * Programs get one table with a row for each of these; people three, without the columns that are
 * empty.
 */
#include "report/report.h"

#include "report/common.h"

static const struct rep_column row_columns[] = {
	{"part", NULL, REP_WORD, 0},
	{"name", NULL, REP_NAME, 0},
	{"nodes", NULL, REP_COUNT, 0},
	{"reachable", NULL, REP_COUNT, 0},
	{"blocks", NULL, REP_COUNT, 0},
	{"bytes", NULL, REP_BYTES, 0},
	{"offheap_bytes", NULL, REP_BYTES, 0},
	{"retained_blocks", NULL, REP_COUNT, 0},
	{"retained_bytes", NULL, REP_BYTES, 0},
	{"retained_offheap_bytes", NULL, REP_BYTES, 0},
	{"shared_blocks", NULL, REP_COUNT, 0},
	{"shared_bytes", NULL, REP_BYTES, 0},
	{"shared_offheap_bytes", NULL, REP_BYTES, 0},
	{"largest", NULL, REP_NAME, 0},
};
enum { ROW_COLUMNS = sizeof(row_columns) / sizeof(*row_columns) };

static const struct rep_column set_columns[] = {
	{NULL, "blocks", REP_COUNT, 0},
	{NULL, "bytes", REP_BYTES, 0},
	{NULL, "retained", REP_BYTES, 0},
	{NULL, "  share", REP_SHARE, 0},
	{NULL, "in blocks", REP_COUNT, 0},
	{NULL, "shared", REP_BYTES, 0},
	{NULL, "set", REP_NAME, REP_LAST | REP_HEAD},
};
enum { SET_COLUMNS = sizeof(set_columns) / sizeof(*set_columns) };

static const struct rep_column holder_columns[] = {
	{NULL, "holders", REP_COUNT, 0},
	{NULL, "hold", REP_BYTES, 0},
	{NULL, "blocks", REP_COUNT, 0},
	{NULL, "class, and the one that retains most", REP_NAME, REP_LAST | REP_LABEL},
};
enum { HOLDER_COLUMNS = sizeof(holder_columns) / sizeof(*holder_columns) };

static uint64_t weigh_amount(const struct rep_context *context, const struct hg_amount *amount)
{
	return rep_weigh(context, amount->bytes, amount->offheap_bytes);
}

static void amount_cells(struct rep_emitter *emitter, const struct hg_amount *amount)
{
	if (!amount) {
		for (unsigned i = 0; i < 3; i++)
			rep_cell_none(emitter);
		return;
	}
	rep_cell_number(emitter, amount->blocks);
	rep_cell_number(emitter, amount->bytes);
	rep_cell_number(emitter, amount->offheap_bytes);
}

static void write_set_row(struct rep_emitter *emitter, const char *part, const char *name,
	const struct hg_set_row *row)
{
	rep_cell_string(emitter, part);
	rep_cell_string(emitter, name);
	rep_cell_number(emitter, row->nodes);
	rep_cell_number(emitter, row->reachable);
	amount_cells(emitter, &row->own);
	amount_cells(emitter, &row->retained);
	amount_cells(emitter, &row->shared);
	rep_cell_none(emitter);
	rep_row_end(emitter);
}

static void write_jointly_row(struct rep_emitter *emitter, const struct hg_amount *jointly)
{
	rep_cell_string(emitter, "jointly");
	for (unsigned i = 0; i < 3; i++)
		rep_cell_none(emitter);
	amount_cells(emitter, NULL);
	amount_cells(emitter, jointly);
	amount_cells(emitter, NULL);
	rep_cell_none(emitter);
	rep_row_end(emitter);
}

static void write_holder_rows(struct rep_context *context, const char *part,
	struct hg_set_holder *const *holders, size_t count, bool shares)
{
	struct rep_emitter *emitter = context->emitter;
	for (size_t i = 0; i < count; i++) {
		const struct hg_set_holder *holder = holders[i];
		rep_cell_string(emitter, holder->is_member ? "member" : part);
		rep_cell_string(emitter, holder->name);
		rep_cell_number(emitter, holder->nodes);
		rep_cell_none(emitter);
		amount_cells(emitter, shares ? NULL : &holder->held);
		amount_cells(emitter, NULL);
		amount_cells(emitter, shares ? &holder->held : NULL);
		rep_cell_node(context, holder->largest);
		rep_row_end(emitter);
	}
}

static void write_retained_rows(
	struct rep_context *context, const char *const *patterns, const struct hg_sets *sets)
{
	struct rep_emitter *emitter = context->emitter;
	rep_table_begin(emitter, "rows", row_columns, ROW_COLUMNS);
	for (size_t i = 0; i < sets->sets_count; i++)
		write_set_row(emitter, "set", patterns[i], sets->sets[i]);
	write_set_row(emitter, "all", "", &sets->all);
	write_jointly_row(emitter, &sets->jointly);
	write_holder_rows(context, "dominator", sets->dominators, sets->dominators_count, false);
	write_holder_rows(context, "sharer", sets->sharers, sets->sharers_count, true);
	rep_table_end(emitter);
}

/* A row for people; 'own' and 'shared' are NULL where they mean nothing. */
static void write_set_line(struct rep_context *context, const struct hg_sets *sets,
	const char *name, const struct hg_amount *own, struct hg_amount retained,
	const struct hg_amount *shared)
{
	struct rep_emitter *emitter = context->emitter;
	if (own) {
		rep_cell_number(emitter, own->blocks);
		rep_cell_number(emitter, weigh_amount(context, own));
	} else {
		rep_cell_none(emitter);
		rep_cell_none(emitter);
	}
	rep_cell_number(emitter, weigh_amount(context, &retained));
	rep_cell_share(emitter, weigh_amount(context, &retained),
		weigh_amount(context, &sets->everything));
	rep_cell_number(emitter, retained.blocks);
	if (shared)
		rep_cell_number(emitter, weigh_amount(context, shared));
	else
		rep_cell_none(emitter);
	rep_cell_string(emitter, name);
	rep_row_end(emitter);
}

static void write_set_lines(
	struct rep_context *context, const char *const *patterns, const struct hg_sets *sets)
{
	struct rep_emitter *emitter = context->emitter;
	rep_prose(emitter, REP_BOLD, "What would be freed without them");
	rep_prose(emitter, REP_PLAIN, ", and what they share with others\n");
	rep_table_begin(emitter, "sets", set_columns, SET_COLUMNS);
	for (size_t i = 0; i < sets->sets_count; i++) {
		const struct hg_set_row *row = sets->sets[i];
		write_set_line(context, sets, patterns[i], &row->own, row->retained, &row->shared);
	}
	if (sets->sets_count > 1) {
		const struct hg_set_row *all = &sets->all;
		write_set_line(
			context, sets, "all of them", &all->own, all->retained, &all->shared);
		write_set_line(
			context, sets, "only all of them, none alone", NULL, sets->jointly, NULL);
	}
	rep_table_end(emitter);
	if (context->weight == HG_WEIGHT_TOTAL && sets->everything.offheap_bytes)
		rep_prose(emitter, REP_PLAIN, "  bytes are those of the heap and outside it\n");
	uint64_t lost = sets->all.nodes - sets->all.reachable;
	if (lost) {
		struct rep_text text = {0};
		rep_name_amount(&text, lost, "node is", "nodes are");
		rep_prose(emitter, REP_PLAIN, "  %s unreachable: no root holds %s\n",
			rep_text_string(&text), lost == 1 ? "it" : "them");
		rep_text_release(&text);
	}
}

static void holder_label(
	struct rep_text *label, struct rep_context *context, const struct hg_set_holder *holder)
{
	rep_text_put(label, holder->name);
	if (holder->is_member)
		rep_text_put(label, ", of the set itself");
	if (holder->is_root)
		return;
	rep_text_put(label, holder->nodes == 1 ? ", " : ", largest ");
	rep_name_node(label, context->snapshot, holder->largest);
}

static void write_holder_lines(struct rep_context *context, const char *headline,
	struct hg_set_holder *const *holders, size_t count, uint64_t limit)
{
	struct rep_emitter *emitter = context->emitter;
	size_t shown = limit && limit < count ? (size_t)limit : count;
	if (count == 0)
		return;
	rep_headline(emitter, headline);
	rep_table_begin(emitter, "holders", holder_columns, HOLDER_COLUMNS);
	for (size_t i = 0; i < shown && !rep_emitter_broken(emitter); i++) {
		struct rep_text label = {0};
		holder_label(&label, context, holders[i]);
		rep_cell_number(emitter, holders[i]->nodes);
		rep_cell_number(emitter, weigh_amount(context, &holders[i]->held));
		rep_cell_number(emitter, holders[i]->held.blocks);
		rep_cell_string(emitter, rep_text_string(&label));
		rep_row_end(emitter);
		rep_text_release(&label);
	}
	rep_table_end(emitter);
	rep_more_rows(emitter, count - shown, "classes", "--limit 0");
}

enum hg_status rep_retained(
	struct rep_context *context, const struct rep_retained_request *request, uint64_t limit)
{
	struct hg_sets *sets;
	enum hg_status status =
		hg_compare_sets(context->snapshot, request->sets, request->count, &sets);
	if (status != HG_OK)
		return rep_library_failed(context, status);
	rep_begin(context, "retained");
	if (context->emitter->writer->for_people) {
		write_set_lines(context, request->patterns, sets);
		write_holder_lines(context,
			"Immediate dominators: the nearest that every path to them passes",
			sets->dominators, sets->all.own.blocks ? sets->dominators_count : 0, limit);
		write_holder_lines(context, "Who else holds what they share", sets->sharers,
			sets->sharers_count, limit);
	} else {
		write_retained_rows(context, request->patterns, sets);
	}
	rep_document_end(context->emitter);
	hg_sets_release(&sets);
	return HG_OK;
}
