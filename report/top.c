/* Blocks, bytes and retained bytes by a key, a row for each class. */
#include "report/report.h"

#include "report/common.h"
#include "report/places.h"

#include <stdlib.h>

static uint64_t amount_of_class(
	const struct rep_context *context, const struct hg_class *row, enum rep_sort sort)
{
	switch (sort) {
	case REP_SORT_OFFHEAP:
		return row->offheap_bytes;
	case REP_SORT_RETAINED_OFFHEAP:
		return row->retained_offheap_bytes;
	case REP_SORT_RETAINED:
		return row->retained_bytes;
	case REP_SORT_BYTES:
		return row->bytes;
	case REP_SORT_BLOCKS:
		return row->blocks;
	case REP_SORT_NAME:
		return 0;
	default:
		return rep_weigh(context, row->retained_bytes, row->retained_offheap_bytes);
	}
}

/* The rows in the order wanted; NULL when memory runs out. */
static struct rep_ranked *rank_classes(
	struct rep_context *context, const struct hg_top *top, enum rep_sort sort)
{
	struct rep_ranked *rows = calloc(top->count ? top->count : 1, sizeof(*rows));
	for (size_t i = 0; rows && i < top->count; i++) {
		rows[i].amount = amount_of_class(context, top->rows[i], sort);
		rows[i].position = i;
		if (sort != REP_SORT_NAME)
			continue;
		rows[i].name = rep_sort_name(context->snapshot, top->key, top->rows[i]->id);
		if (!rows[i].name) {
			rep_ranked_free(rows, top->count);
			return NULL;
		}
	}
	/* The library's order breaks ties: retained bytes, then name. */
	if (rows)
		rep_rank(rows, top->count);
	return rows;
}

/* Other keys are places themselves, or say nothing of them. */
static bool has_places(enum hg_key key)
{
	return key == HG_BY_TYPE || key == HG_BY_FUNCTION;
}

static void write_class_rows(struct rep_context *context, const struct hg_top *top,
	const struct rep_ranked *ranked, size_t shown, const struct hg_totals *totals)
{
	struct rep_emitter *emitter = context->emitter;
	struct rep_column columns[REP_KEY_COLUMNS + 10];
	bool sampled = rep_is_sampled(top->key, totals);
	unsigned count = rep_key_columns(top->key, columns);
	columns[count++] = (struct rep_column){"blocks", "blocks", REP_COUNT, 0};
	columns[count++] = (struct rep_column){"bytes", "bytes", REP_BYTES, 0};
	columns[count++] = (struct rep_column){"retained_bytes", "retained", REP_BYTES, 0};
	columns[count++] = (struct rep_column){"retained_share", "  share", REP_SHARE, REP_NOT_CSV};
	columns[count++] = (struct rep_column){"confidence", NULL, REP_WORD, 0};
	columns[count++] = rep_estimated_column(sampled);
	columns[count++] = rep_error_column(sampled);
	columns[count++] = rep_offheap_column(false);
	columns[count++] = rep_retained_offheap_column(rep_has_offheap(context->snapshot));
	if (has_places(top->key))
		columns[count++] = rep_made_at_column(context, totals);
	if (top->key == HG_BY_FUNCTION)
		columns[count - 1].title = "made at";
	bool guessed = false;
	rep_table_begin(emitter, "rows", columns, count);
	for (size_t i = 0; i < shown && !rep_emitter_broken(emitter); i++) {
		const struct hg_class *row = top->rows[ranked[i].position];
		rep_class_cells(emitter, context->snapshot, top->key, row->id, row->confidence);
		guessed |= row->confidence == HG_GUESSED;
		rep_cell_number(emitter, row->blocks);
		rep_cell_number(emitter, row->bytes);
		rep_cell_number(emitter, row->retained_bytes);
		rep_cell_share(emitter,
			rep_weigh(context, row->retained_bytes, row->retained_offheap_bytes),
			rep_weigh_all(context, totals));
		rep_cell_string(emitter, hg_confidence_name(row->confidence));
		rep_estimate_cells(emitter, row);
		rep_cell_number(emitter, row->offheap_bytes);
		rep_cell_number(emitter, row->retained_offheap_bytes);
		if (top->key == HG_BY_TYPE)
			rep_cell_made_at(context, row->id);
		else if (top->key == HG_BY_FUNCTION)
			rep_cell_function_place(context, row->id);
		rep_row_end(emitter);
	}
	rep_table_end(emitter);
	if (sampled)
		rep_prose(emitter, REP_PLAIN, "%s", REP_ESTIMATE_MEANING);
	bool by_type = top->key == HG_BY_TYPE || top->key == HG_BY_TYPE_LOCATION;
	if (guessed)
		rep_prose(emitter, REP_PLAIN, "  %s\n",
			by_type ? REP_TYPE_GUESS_MEANING : REP_GUESS_MEANING);
}

static void write_top_headline(struct rep_context *context, const struct hg_top *top,
	const char *type, const struct hg_totals *totals)
{
	static const char *const titles[] = {"Blocks by location of allocation", "Blocks by tag",
		"Blocks by module of allocation", "What roots point to, and retain alone",
		"Blocks by type", "Blocks by type and location of allocation",
		"Blocks by call stack of allocation", "Closures by function"};
	struct rep_text amount = {0}, escaped = {0};
	rep_name_amount(&amount, top->blocks, "block", "blocks");
	rep_text_put(&amount, ", ");
	rep_text_size(&amount, top->bytes);
	rep_put_offheap(&amount, top->offheap_bytes);
	rep_prose(context->emitter, REP_BOLD, "%s", titles[top->key]);
	if (type)
		rep_prose(context->emitter, REP_BOLD, ", of types that match '%s'",
			rep_escaped(&escaped, type));
	if (top->key == HG_BY_ROOT)
		rep_prose(context->emitter, REP_PLAIN, "\n");
	else
		rep_prose(context->emitter, REP_PLAIN, ": %s\n", rep_text_string(&amount));
	if (hg_has_types(context->snapshot) && !type) {
		rep_text_clear(&amount);
		rep_coverage(&amount, totals);
		rep_prose(context->emitter, REP_PLAIN, "types: %s\n", rep_text_string(&amount));
	}
	rep_text_release(&amount);
	rep_text_release(&escaped);
}

/* A core of which one row would say that nothing is known of any block. */
static void write_top_hint(
	struct rep_context *context, enum hg_key key, const struct hg_totals *totals)
{
	struct hg_info info = *hg_snapshot_info(context->snapshot);
	if (info.has_types || totals->located_blocks || key == HG_BY_TAG || key == HG_BY_ROOT ||
		info.format != HG_FORMAT_ELFCORE)
		return;
	rep_prose(context->emitter, REP_PLAIN,
		"neither types nor locations are known: heapgraph-prof writes exe.prof, which "
		"tells types; Heapgraph.sample notes locations\n");
}

static void write_top_values(
	struct rep_emitter *emitter, const struct hg_top *top, const struct hg_totals *totals)
{
	rep_value_string(emitter, "by", NULL, REP_WORD, hg_key_name(top->key));
	rep_value_number(emitter, "blocks", NULL, REP_COUNT, top->blocks);
	rep_value_number(emitter, "bytes", NULL, REP_BYTES, top->bytes);
	rep_value_number(emitter, "offheap_bytes", NULL, REP_BYTES, top->offheap_bytes);
	rep_value_number(emitter, "rows_total", NULL, REP_COUNT, top->count);
	rep_value_number(emitter, "typed_blocks", NULL, REP_COUNT, totals->typed_blocks);
	rep_value_number(emitter, "typed_bytes", NULL, REP_BYTES, totals->typed_bytes);
	rep_value_number(emitter, "shape_clashes", NULL, REP_COUNT, totals->shape_clashes);
	rep_value_number(emitter, "given_up_blocks", NULL, REP_COUNT, totals->given_up_blocks);
	rep_value_number(emitter, "memprof_blocks", NULL, REP_COUNT, totals->memprof_blocks);
	rep_value_number(emitter, "memprof_bytes", NULL, REP_BYTES, totals->memprof_bytes);
}

enum hg_status rep_top(struct rep_context *context, const struct rep_top_request *request)
{
	uint64_t limit = request->limit;
	const struct hg_totals *totals;
	struct hg_top *top = NULL;
	enum hg_status status = hg_count_totals(context->snapshot, &totals);
	if (status == HG_OK)
		status = hg_list_top(context->snapshot, request->key, request->type, &top);
	if (status != HG_OK)
		return rep_library_failed(context, status);
	struct rep_ranked *ranked = rank_classes(context, top, request->sort);
	if (!ranked) {
		status = rep_no_memory(context);
	} else {
		size_t shown = limit && limit < top->count ? (size_t)limit : top->count;
		rep_begin(context, "top");
		write_top_headline(context, top, request->type, totals);
		write_top_hint(context, top->key, totals);
		write_top_values(context->emitter, top, totals);
		write_class_rows(context, top, ranked, shown, totals);
		rep_more_rows(context->emitter, top->count - shown, rep_key_plural(top->key),
			"--limit 0");
		rep_document_end(context->emitter);
		rep_ranked_free(ranked, top->count);
	}
	hg_top_release(&top);
	return status;
}
