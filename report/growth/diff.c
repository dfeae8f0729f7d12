/* What grew and shrank between two snapshots, a row for each path or class that changed. */
#include "report/report.h"

#include "report/growth/growth.h"

#include <stdlib.h>
#include <string.h>

struct comparison {
	const struct rep_growth_request *request;
	const struct hg_series_moment *from, *to;
	size_t *rows; /* in the order shown */
	size_t shown, all;
};

static unsigned fill_columns(const struct rep_growth_request *request, struct rep_column *columns)
{
	static const struct rep_column measures[] = {
		{"blocks_old", NULL, REP_COUNT, 0},
		{"blocks_new", "blocks", REP_COUNT, 0},
		{NULL, "change", REP_CHANGE_COUNT, 0},
		{"bytes_old", NULL, REP_BYTES, 0},
		{"bytes_new", NULL, REP_BYTES, 0},
		{"bytes_delta", NULL, REP_CHANGE_BYTES, 0},
		{"retained_old", NULL, REP_BYTES, 0},
		{"retained_new", NULL, REP_BYTES, 0},
		{"retained_delta", NULL, REP_CHANGE_BYTES, 0},
		{NULL, "retained", REP_BYTES, 0},
		{NULL, "change", REP_CHANGE_BYTES, 0},
		{NULL, "of growth", REP_WORD, 0},
		{"offheap_delta", NULL, REP_CHANGE_BYTES, 0},
		{"retained_offheap_delta", NULL, REP_CHANGE_BYTES, 0},
		{"growth_share", NULL, REP_CHANGE_COUNT, 0},
		{"made_at", NULL, REP_NAME, 0},
		{"defined_at", NULL, REP_NAME, REP_NOT_CSV},
		{"held_by", NULL, REP_NAME, REP_NOT_CSV},
	};
	unsigned count = rep_growth_columns(request, columns);
	memcpy(columns + count, measures, sizeof(measures));
	return count + (unsigned)(sizeof(measures) / sizeof(measures[0]));
}

static void write_diff_row(struct rep_emitter *emitter, const struct rep_growth_request *request,
	const struct hg_series_row *row)
{
	const struct hg_measure *from = &row->first, *to = &row->last;
	struct rep_text share = {0};
	rep_growth_key_cells(emitter, request, row);
	rep_cell_number(emitter, from->blocks);
	rep_cell_number(emitter, to->blocks);
	rep_cell_change(emitter, from->blocks, to->blocks);
	rep_cell_number(emitter, from->bytes);
	rep_cell_number(emitter, to->bytes);
	rep_cell_change(emitter, from->bytes, to->bytes);
	rep_cell_number(emitter, from->retained_bytes);
	rep_cell_number(emitter, to->retained_bytes);
	rep_cell_change(emitter, from->retained_bytes, to->retained_bytes);
	rep_cell_number(emitter, to->weight);
	rep_cell_change(emitter, from->weight, to->weight);
	rep_growth_share(&share, row->growth_share);
	rep_cell_string(emitter, rep_text_string(&share));
	rep_cell_change(emitter, from->offheap_bytes, to->offheap_bytes);
	rep_cell_change(emitter, from->retained_offheap_bytes, to->retained_offheap_bytes);
	rep_growth_share_cell(emitter, row->growth_share);
	rep_cell_string(emitter, row->made_at);
	rep_cell_string(emitter, row->defined_at);
	rep_cell_string(emitter, row->held_by);
	rep_row_end(emitter);
	emitter->failed |= share.failed;
	rep_text_release(&share);
}

static void write_diff_rows(struct rep_context *context, const struct comparison *c)
{
	struct rep_emitter *emitter = context->emitter;
	struct rep_column columns[REP_MAX_COLUMNS];
	unsigned count = fill_columns(c->request, columns);
	if (emitter->writer->for_people && c->shown == 0)
		return;
	rep_table_begin(emitter, "rows", columns, count);
	for (size_t i = 0; i < c->shown && !rep_emitter_broken(emitter); i++)
		write_diff_row(emitter, c->request, hg_series_at(c->request->series, c->rows[i]));
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

static void prose_held(struct rep_emitter *emitter, const struct hg_series *series)
{
	struct hg_measure from, to;
	struct rep_text line = {0};
	hg_series_total(series, 0, &from);
	hg_series_total(series, 1, &to);
	rep_growth_line(&line, "held by roots", rep_growth_period(series), from.weight, to.weight);
	rep_prose(emitter, REP_PLAIN, "\n%s\n\n", rep_text_string(&line));
	rep_text_release(&line);
}

static void write_diff_head(struct rep_context *context, const struct comparison *c)
{
	const struct hg_series_moment *from = c->from, *to = c->to;
	struct rep_emitter *emitter = context->emitter;
	struct rep_text old_name = {0}, new_name = {0};
	rep_value_string(emitter, "by", NULL, REP_WORD, rep_growth_key(c->request));
	rep_prose(emitter, REP_BOLD, "%s -> %s\n",
		rep_escaped(&old_name, rep_base_name(from->path)),
		rep_escaped(&new_name, rep_base_name(to->path)));
	total_line(emitter, "all blocks", from->blocks, to->blocks, from->bytes, to->bytes);
	total_line(emitter, "reachable", from->reachable_blocks, to->reachable_blocks,
		from->reachable_bytes, to->reachable_bytes);
	if (c->all == 0)
		rep_prose(emitter, REP_PLAIN, "\nNo difference by %s%s.\n",
			rep_growth_key(c->request),
			hg_series_count(c->request->series) ? " that these options show" : "");
	else
		prose_held(emitter, c->request->series);
	rep_text_release(&old_name);
	rep_text_release(&new_name);
}

static void write_diff(struct rep_context *context, const struct comparison *c)
{
	rep_begin_pair(context, "diff", c->from->info, c->to->info);
	write_diff_head(context, c);
	write_diff_rows(context, c);
	rep_more_rows(context->emitter, c->all - c->shown,
		c->request->by_path ? "paths" : rep_key_plural(c->request->key), "--limit 0");
	rep_document_end(context->emitter);
}

enum hg_status rep_diff(struct rep_context *context, const struct rep_growth_request *request)
{
	struct comparison c = {.request = request,
		.from = hg_series_moment_at(request->series, 0),
		.to = hg_series_moment_at(request->series, 1)};
	BASE_TRY(rep_growth_rows(context, request, &c.rows, &c.shown, &c.all));
	write_diff(context, &c);
	free(c.rows);
	return HG_OK;
}
