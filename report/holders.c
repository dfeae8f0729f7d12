/*
 * What holds a tenth of the memory or more: the way from the root to where it is gathered, with the
 * fields, what it is made of, the lines that make it, and what to do about it.
 */
#include "report/holders.h"

#include "report/paths.h"

#include <stdlib.h>
#include <string.h>

enum { SHARERS_TOLD = 3 };

static const struct rep_column columns[] = {
	{"root", NULL, REP_NAME, 0},
	{"path", NULL, REP_NAME, 0},
	{"blocks", NULL, REP_COUNT, 0},
	{"retained_bytes", NULL, REP_BYTES, 0},
	{"retained_offheap_bytes", NULL, REP_BYTES, 0},
	{"made_of", NULL, REP_NAME, 0},
	{"made_of_bytes", NULL, REP_BYTES, 0},
	{"made_at", NULL, REP_NAME, 0},
	{"defined_at", NULL, REP_NAME, 0},
	{"shared_by", NULL, REP_NAME, REP_NOT_CSV},
	{"command", NULL, REP_NAME, REP_NOT_CSV},
};

static void put_sharers(struct rep_text *text, const struct hg_retention *tree, size_t row)
{
	struct hg_cross_edges *sharers;
	/* The edges were made before the first byte was written. */
	if (hg_list_sharers((struct hg_retention *)tree, row, &sharers) != HG_OK)
		return;
	rep_path_sharers(text, tree, sharers, SHARERS_TOLD);
	hg_cross_edges_release(&sharers);
}

/* "heapgraph tree --from 'root:^global Cache[.]table$' SNAPSHOT"; "" if nothing selects it. */
static void put_command(struct rep_text *text, const struct rep_context *context,
	const struct hg_retention *tree, size_t row)
{
	struct rep_text shown = {0};
	size_t length = hg_retention_pattern(tree, row, NULL, 0);
	char *pattern = length ? malloc(length + 1) : NULL;
	if (!pattern)
		return;
	hg_retention_pattern(tree, row, pattern, length + 1);
	rep_text_put(text, "heapgraph tree --from ");
	rep_text_mask(&shown, pattern, strlen(pattern), '.');
	rep_text_escape_shell(text, rep_text_string(&shown));
	rep_text_put(text, context->words ? context->words : " SNAPSHOT");
	rep_text_release(&shown);
	free(pattern);
}

/* The names from the holder to where its memory is gathered. */
static void prose_way(struct rep_context *context, const struct hg_retention *tree,
	const struct hg_holder *holder)
{
	struct rep_text line = {0}, escaped = {0};
	const struct hg_retention_row *last = hg_retention_at(tree, holder->accumulation);
	for (size_t row = holder->row; row <= holder->accumulation; row++) {
		char field[1024];
		const struct hg_retention_row *at = hg_retention_at(tree, row);
		rep_text_clear(&line);
		if (row > holder->row) {
			hg_retention_field(tree, row, field, sizeof(field));
			rep_text_printf(&line, "%s%s", field, *field ? "  " : "");
		}
		rep_text_put(&line, at->name);
		if (at == last && at->blocks > 1) {
			rep_text_put(&line, ": ");
			rep_name_amount(&line, at->blocks, "block", "blocks");
		}
		rep_prose(context->emitter, REP_PLAIN, "      %*s%s\n", (int)(2 * (at->depth - 1)),
			"", rep_escaped(&escaped, rep_text_string(&line)));
	}
	rep_text_release(&line);
	rep_text_release(&escaped);
}

static void prose_parts(struct rep_context *context, const struct hg_retention *tree,
	const struct hg_holder *holder)
{
	struct rep_text line = {0}, escaped = {0};
	for (uint32_t i = 0; i < holder->part_count; i++) {
		rep_text_put(&line, i ? ", " : "");
		rep_text_size(&line, holder->part_bytes[i]);
		rep_text_printf(&line, " %s", hg_retention_at(tree, holder->parts[i])->name);
	}
	rep_prose(context->emitter, REP_PLAIN, "    made of %s\n",
		rep_escaped(&escaped, rep_text_string(&line)));
	rep_text_release(&line);
	rep_text_release(&escaped);
}

/* One sentence to act on, by what holds it. */
static const char *advice_for(const struct hg_retention_row *row, bool is_many)
{
	if (!row->is_root)
		return "it is freed when all of these let go of it";
	switch (row->kind) {
	case HG_ROOT_GLOBAL:
		return is_many ? "it is kept as long as the program runs: remove from it what is "
				 "no "
				 "longer needed, or give it a bound"
			       : "it is kept as long as the program runs: set it to something "
				 "small "
				 "when it is no longer needed";
	case HG_ROOT_FINALISER:
		return "a function given to Gc.finalise is kept until it has run, with all that it "
		       "captures: if that is the value itself, it never runs";
	case HG_ROOT_STACK:
	case HG_ROOT_LOCAL:
		return "it is freed when the function returns or does not use it any more";
	case HG_ROOT_C_GLOBAL:
	case HG_ROOT_NAMED_VALUE:
		return "C code keeps it: it is freed when that removes the root";
	case HG_ROOT_MEMPROF:
		return "Gc.Memprof keeps it while it samples";
	default:
		return "it is kept as long as this root is";
	}
}

static void prose_text(struct rep_context *context, const char *before, struct rep_text *text)
{
	struct rep_text escaped = {0};
	if (text->length)
		rep_prose(context->emitter, REP_PLAIN, "    %s%s\n", before,
			rep_escaped(&escaped, rep_text_string(text)));
	rep_text_release(&escaped);
	rep_text_clear(text);
}

static void prose_holder(struct rep_context *context, const struct hg_retention *tree,
	const struct hg_holder *holder)
{
	const struct hg_retention_row *row = hg_retention_at(tree, holder->row);
	const struct hg_retention_row *top = hg_retention_at(tree, 0);
	bool is_many = hg_retention_at(tree, holder->accumulation)->blocks > 1;
	struct rep_text line = {0}, root = {0};
	rep_text_size(&line, row->weight);
	rep_text_put(&line, " (");
	rep_text_percent(&line, row->weight, top->weight);
	rep_text_put(&line, ")");
	if (row->retained_offheap_bytes) {
		rep_text_put(&line, ", ");
		rep_text_size(&line, row->retained_offheap_bytes);
		rep_text_put(&line,
			context->weight == HG_WEIGHT_TOTAL ? " of it off-heap" : " more off-heap");
	}
	rep_prose(context->emitter, REP_BOLD, "  * %s\n", rep_text_string(&line));
	rep_text_clear(&line);
	prose_way(context, tree, holder);
	if (!row->is_root)
		put_sharers(&line, tree, holder->row);
	prose_text(context, "held by ", &line);
	prose_parts(context, tree, holder);
	rep_path_made_at(&line, tree, holder->accumulation);
	rep_path_defined_at(&root, tree, holder->row);
	const struct rep_path_places places = {
		"", rep_text_string(&line), rep_text_string(&root), row->name};
	rep_path_prose_places(context->emitter, "    ", &places);
	rep_text_clear(&line);
	rep_text_put(&line, advice_for(row, is_many));
	prose_text(context, "", &line);
	put_command(&line, context, tree, holder->row);
	prose_text(context, "$ ", &line);
	rep_text_release(&line);
	rep_text_release(&root);
}

void rep_holders_prose(struct rep_context *context, const struct hg_retention *tree,
	const struct hg_holders *holders, uint64_t limit)
{
	size_t shown = limit && limit < holders->count ? (size_t)limit : holders->count;
	for (size_t i = 0; i < shown; i++)
		prose_holder(context, tree, holders->rows[i]);
	if (holders->count == 0)
		rep_prose(context->emitter, REP_PLAIN,
			"  none: nothing holds a tenth of the memory alone\n");
	rep_more_rows(context->emitter, holders->count - shown, "holders", "heapgraph holders");
}

static void write_holder_row(struct rep_context *context, const struct hg_retention *tree,
	const struct hg_holder *holder)
{
	struct rep_emitter *emitter = context->emitter;
	const struct hg_retention_row *row = hg_retention_at(tree, holder->row);
	struct rep_text text = {0};
	rep_cell_string(emitter, row->is_root ? row->name : "");
	rep_path_name(&text, tree, holder->accumulation);
	rep_cell_string(emitter, rep_text_string(&text));
	rep_cell_number(emitter, hg_retention_at(tree, holder->accumulation)->blocks);
	rep_cell_number(emitter, holder->retained_bytes);
	rep_cell_number(emitter, holder->retained_offheap_bytes);
	rep_cell_string(
		emitter, holder->part_count ? hg_retention_at(tree, holder->parts[0])->name : "");
	rep_cell_number(emitter, holder->part_count ? holder->part_bytes[0] : 0);
	rep_text_clear(&text);
	rep_path_made_at(&text, tree, holder->accumulation);
	rep_cell_string(emitter, rep_text_string(&text));
	rep_text_clear(&text);
	rep_path_defined_at(&text, tree, holder->row);
	rep_cell_string(emitter, rep_text_string(&text));
	rep_text_clear(&text);
	if (!row->is_root)
		put_sharers(&text, tree, holder->row);
	rep_cell_string(emitter, rep_text_string(&text));
	rep_text_clear(&text);
	put_command(&text, context, tree, holder->row);
	rep_cell_string(emitter, rep_text_string(&text));
	rep_row_end(emitter);
	rep_text_release(&text);
}

void rep_holders_table(struct rep_context *context, const char *member,
	const struct hg_retention *tree, const struct hg_holders *holders, uint64_t limit)
{
	size_t shown = limit && limit < holders->count ? (size_t)limit : holders->count;
	rep_table_begin(context->emitter, member, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < shown; i++)
		write_holder_row(context, tree, holders->rows[i]);
	rep_table_end(context->emitter);
}

/* Everything that can fail, before the first byte. */
static enum hg_status ask_holders(
	struct rep_context *context, struct hg_retention **tree, struct hg_holders **holders)
{
	struct hg_cross_edges *edges = NULL;
	enum hg_status status = hg_retention_open(context->snapshot, NULL, tree);
	if (status == HG_OK)
		status = hg_list_cross_edges(*tree, &edges);
	if (status == HG_OK)
		status = hg_list_holders(*tree, holders);
	hg_cross_edges_release(&edges);
	return status == HG_OK ? HG_OK : rep_library_failed(context, status);
}

enum hg_status rep_holders(struct rep_context *context, uint64_t limit)
{
	struct hg_retention *tree = NULL;
	struct hg_holders *holders = NULL;
	enum hg_status status = ask_holders(context, &tree, &holders);
	if (status == HG_OK && holders) {
		rep_begin(context, "holders");
		rep_value_number(
			context->emitter, "threshold", NULL, REP_BYTES, holders->threshold);
		if (context->emitter->writer->for_people)
			rep_holders_prose(context, tree, holders, limit);
		else
			rep_holders_table(context, "rows", tree, holders, limit);
		rep_document_end(context->emitter);
	}
	hg_holders_release(&holders);
	hg_retention_close(tree);
	return status;
}
