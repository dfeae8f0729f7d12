/*
 * What grew and shrank between two snapshots, a row for each class that changed.  A class is named
 * by the newer snapshot that has it.
 */
#include "report/report.h"

#include "report/common.h"

#include <stdlib.h>
#include <string.h>

struct comparison {
	struct hg_snapshot *old_snapshot, *new_snapshot;
	const struct hg_totals *old_totals, *new_totals;
	struct hg_diff *diff;
};

static uint64_t amount_of_growth(const struct hg_growth *row, enum rep_sort sort)
{
	switch (sort) {
	case REP_SORT_RETAINED:
		return rep_difference(row->retained_old, row->retained_new);
	case REP_SORT_BLOCKS:
		return rep_difference(row->blocks_old, row->blocks_new);
	case REP_SORT_NAME:
		return 0;
	default:
		return rep_difference(row->bytes_old, row->bytes_new);
	}
}

/* A class is named by the newer snapshot that has it. */
static const struct hg_snapshot *snapshot_of_growth(
	const struct comparison *comparison, const struct hg_growth *row, uint32_t *id)
{
	bool in_new = row->new_id != UINT32_MAX;
	*id = in_new ? row->new_id : row->old_id;
	return in_new ? comparison->new_snapshot : comparison->old_snapshot;
}

static char *sort_name_of_growth(const struct comparison *comparison, const struct hg_growth *row)
{
	uint32_t id;
	const struct hg_snapshot *snapshot = snapshot_of_growth(comparison, row, &id);
	return rep_sort_name(snapshot, comparison->diff->key, id);
}

/* The rows in the order wanted; NULL when memory runs out. */
static struct rep_ranked *rank_growth(const struct comparison *comparison, enum rep_sort sort)
{
	size_t count = comparison->diff->count;
	struct rep_ranked *rows = calloc(count ? count : 1, sizeof(*rows));
	for (size_t i = 0; rows && i < count; i++) {
		rows[i].amount = amount_of_growth(comparison->diff->rows[i], sort);
		rows[i].position = i;
		if (sort != REP_SORT_NAME)
			continue;
		rows[i].name = sort_name_of_growth(comparison, comparison->diff->rows[i]);
		if (!rows[i].name) {
			rep_ranked_free(rows, count);
			return NULL;
		}
	}
	if (rows)
		rep_rank(rows, count);
	return rows;
}

static unsigned fill_columns(enum hg_key key, struct rep_column *columns)
{
	static const struct rep_column measures[] = {
		{"blocks_old", NULL, REP_COUNT, 0},
		{"blocks_new", "blocks", REP_COUNT, 0},
		{NULL, "change", REP_CHANGE_COUNT, 0},
		{"bytes_old", NULL, REP_BYTES, 0},
		{"bytes_new", "bytes", REP_BYTES, 0},
		{"bytes_delta", "change", REP_CHANGE_BYTES, 0},
		{"retained_old", NULL, REP_BYTES, 0},
		{"retained_new", "retained", REP_BYTES, 0},
		{"retained_delta", "change", REP_CHANGE_BYTES, 0},
	};
	unsigned count = rep_key_columns(key, columns);
	memcpy(columns + count, measures, sizeof(measures));
	return count + (unsigned)(sizeof(measures) / sizeof(measures[0]));
}

static void write_diff_rows(struct rep_context *context, const struct comparison *comparison,
	const struct rep_ranked *ranked, size_t shown)
{
	struct rep_emitter *emitter = context->emitter;
	struct rep_column columns[REP_MAX_COLUMNS];
	unsigned count = fill_columns(comparison->diff->key, columns);
	if (emitter->writer->for_people && shown == 0)
		return;
	rep_table_begin(emitter, "rows", columns, count);
	for (size_t i = 0; i < shown && !rep_emitter_broken(emitter); i++) {
		const struct hg_growth *row = comparison->diff->rows[ranked[i].position];
		uint32_t id;
		const struct hg_snapshot *snapshot = snapshot_of_growth(comparison, row, &id);
		rep_class_cells(emitter, snapshot, comparison->diff->key, id, HG_EXACT);
		rep_cell_number(emitter, row->blocks_old);
		rep_cell_number(emitter, row->blocks_new);
		rep_cell_change(emitter, row->blocks_old, row->blocks_new);
		rep_cell_number(emitter, row->bytes_old);
		rep_cell_number(emitter, row->bytes_new);
		rep_cell_change(emitter, row->bytes_old, row->bytes_new);
		rep_cell_number(emitter, row->retained_old);
		rep_cell_number(emitter, row->retained_new);
		rep_cell_change(emitter, row->retained_old, row->retained_new);
		rep_row_end(emitter);
	}
	rep_table_end(emitter);
}

static void total_line(struct rep_emitter *emitter, const char *what, uint64_t old_blocks,
	uint64_t new_blocks, uint64_t old_bytes, uint64_t new_bytes)
{
	struct rep_text line = {0};
	rep_text_count(&line, old_blocks);
	rep_text_put(&line, " -> ");
	rep_name_amount(&line, new_blocks, "block", "blocks");
	rep_text_put(&line, ", ");
	rep_text_size(&line, old_bytes);
	rep_text_put(&line, " -> ");
	rep_text_size(&line, new_bytes);
	rep_text_put(&line, new_bytes < old_bytes ? " (-" : " (+");
	rep_text_size(&line, rep_difference(old_bytes, new_bytes));
	rep_prose(emitter, REP_PLAIN, "  %-12s %s)\n", what, rep_text_string(&line));
	rep_text_release(&line);
}

static void write_diff_head(struct rep_context *context, const struct comparison *comparison)
{
	const struct hg_totals *from = comparison->old_totals, *to = comparison->new_totals;
	struct rep_emitter *emitter = context->emitter;
	struct rep_text old_name = {0}, new_name = {0};
	const struct hg_info *old_info = hg_snapshot_info(comparison->old_snapshot);
	const struct hg_info *new_info = hg_snapshot_info(comparison->new_snapshot);
	rep_value_string(emitter, "by", NULL, REP_WORD, hg_key_name(comparison->diff->key));
	rep_prose(emitter, REP_BOLD, "%s -> %s\n",
		rep_escaped(&old_name, rep_base_name(old_info->path)),
		rep_escaped(&new_name, rep_base_name(new_info->path)));
	total_line(emitter, "all blocks", from->blocks, to->blocks, from->bytes, to->bytes);
	total_line(emitter, "reachable", from->reachable_blocks, to->reachable_blocks,
		from->reachable_bytes, to->reachable_bytes);
	if (comparison->diff->count == 0)
		rep_prose(emitter, REP_PLAIN, "\nNo difference by %s%s.\n",
			hg_key_name(comparison->diff->key),
			comparison->diff->key == HG_BY_ROOT && from->bytes != to->bytes
				? ": what changed is held by several roots or by none"
				: "");
	else
		rep_prose(emitter, REP_PLAIN, "\n");
	rep_text_release(&old_name);
	rep_text_release(&new_name);
}

static void write_diff(struct rep_context *context, const struct comparison *comparison,
	const struct rep_ranked *ranked, uint64_t limit)
{
	size_t count = comparison->diff->count;
	size_t shown = limit && limit < count ? (size_t)limit : count;
	rep_begin(context, "diff", comparison->old_snapshot);
	write_diff_head(context, comparison);
	write_diff_rows(context, comparison, ranked, shown);
	rep_more_rows(context->emitter, count - shown, rep_key_plural(comparison->diff->key),
		"--limit 0");
	rep_document_end(context->emitter);
}

enum hg_status rep_diff(struct rep_context *context, struct hg_snapshot *old_snapshot,
	enum hg_key key, enum rep_sort sort, uint64_t limit)
{
	struct comparison comparison = {
		.old_snapshot = old_snapshot, .new_snapshot = context->snapshot};
	enum hg_status status = hg_count_totals(old_snapshot, &comparison.old_totals);
	if (status == HG_OK)
		status = hg_count_totals(context->snapshot, &comparison.new_totals);
	if (status == HG_OK)
		status = hg_compare_snapshots(
			old_snapshot, context->snapshot, key, &comparison.diff);
	if (status != HG_OK)
		return rep_library_failed(context, status);
	struct rep_ranked *ranked = rank_growth(&comparison, sort);
	if (ranked)
		write_diff(context, &comparison, ranked, limit);
	else
		status = rep_no_memory(context);
	rep_ranked_free(ranked, comparison.diff->count);
	hg_diff_release(&comparison.diff);
	return status;
}
