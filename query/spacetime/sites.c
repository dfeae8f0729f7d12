/* Places of allocation, with what is alive at one snapshot and what was allocated. */
#include "query/spacetime/spacetime.h"

#include "query/spacetime/site_rows.h"

#include "query/shared/result.h"

#include "base/grow.h"

#include <string.h>

struct site_table {
	struct hg_trace *trace;
	struct hg_error *error;
	struct query_site_rows keys;
	struct hg_spacetime_site *rows; /* of each of these */
	uint64_t count, capacity;
};

static enum hg_status use_site(
	struct site_table *table, uint64_t row, struct hg_spacetime_site **site)
{
	while (table->count < table->keys.count) {
		BASE_TRY(base_grow(&table->rows, table->count, &table->capacity,
			sizeof(*table->rows), table->error));
		table->rows[table->count] = (struct hg_spacetime_site){
			.location = query_site_location(&table->keys, table->count),
			.in_c = table->keys.rows[table->count].in_c,
			.c_function = query_site_function(&table->keys, table->count)};
		table->count++;
	}
	*site = &table->rows[row];
	return HG_OK;
}

static enum hg_status site_of_annotation(
	struct site_table *table, uint32_t annotation, struct hg_spacetime_site **site)
{
	uint64_t row;
	BASE_TRY(query_site_row_of(&table->keys, annotation, &row));
	return use_site(table, row, site);
}

static enum hg_status add_points_to_sites(struct site_table *table)
{
	for (uint64_t i = 0; i < table->keys.points.count; i++) {
		const struct query_spacetime_point *point = &table->keys.points.points[i];
		struct hg_spacetime_site *site;
		uint64_t row;
		BASE_TRY(query_site_row(&table->keys, point, &row));
		BASE_TRY(use_site(table, row, &site));
		site->ever_allocated += point->words;
		site->points++;
	}
	return HG_OK;
}

static enum hg_status add_snapshot_to_sites(
	struct site_table *table, const struct spacetime_snapshot *snapshot)
{
	struct hg_spacetime_site *site;
	for (uint64_t i = 0; i < snapshot->entry_count; i++) {
		const struct spacetime_entry *entry = &snapshot->entries[i];
		BASE_TRY(site_of_annotation(table, entry->annotation, &site));
		site->blocks += entry->blocks > 0 ? (uint64_t)entry->blocks : 0;
		site->words += entry->words > 0 ? (uint64_t)entry->words : 0;
	}
	for (uint64_t i = 0; i < snapshot->total_count; i++) {
		const struct spacetime_total *total = &snapshot->totals[i];
		BASE_TRY(site_of_annotation(table, total->annotation, &site));
		site->allocated += total->words > 0 ? (uint64_t)total->words : 0;
		site->points += !table->trace->series.complete;
	}
	return HG_OK;
}

static enum hg_status read_snapshot_of_sites(struct site_table *table,
	const struct spacetime_moment *moment, struct hg_spacetime_sites *out)
{
	struct spacetime_snapshot snapshot;
	enum hg_status status =
		spacetime_read_snapshot(&table->trace->series, moment, &snapshot, table->error);
	if (status == HG_OK) {
		out->any_snapshot = true;
		out->time = snapshot.time;
		out->unknown = snapshot.scanned > snapshot.annotated
				       ? (uint64_t)(snapshot.scanned - snapshot.annotated)
				       : 0;
		status = add_snapshot_to_sites(table, &snapshot);
	} else {
		status = query_spacetime_skip(
			table->trace, status, moment->offset, "a snapshot that cannot be read");
	}
	spacetime_snapshot_release(&snapshot);
	return status;
}

static int compare_sites(const void *a, const void *b)
{
	const struct hg_spacetime_site *x = a, *y = b;
	if (x->words != y->words)
		return x->words < y->words ? 1 : -1;
	if (x->allocated != y->allocated)
		return x->allocated < y->allocated ? 1 : -1;
	if (x->ever_allocated != y->ever_allocated)
		return x->ever_allocated < y->ever_allocated ? 1 : -1;
	int order = strcmp(x->location, y->location);
	if (!order)
		order = strcmp(x->c_function, y->c_function);
	return order ? order : x->in_c - y->in_c;
}

static enum hg_status make_site_rows(struct site_table *table, struct hg_spacetime_sites *out)
{
	for (uint64_t i = 0; i < table->count; i++) {
		const struct hg_spacetime_site *row = &table->rows[i];
		out->totals.blocks += row->blocks;
		out->totals.words += row->words;
		out->totals.allocated += row->allocated;
		out->totals.ever_allocated += row->ever_allocated;
		out->totals.points += row->points;
	}
	if (table->count)
		qsort(table->rows, table->count, sizeof(*table->rows), compare_sites);
	out->count = table->count;
	struct hg_spacetime_site *rows = table->rows;
	table->rows = NULL;
	return query_keep_rows_of(table->error, out, rows, table->count, sizeof(*rows), &out->rows);
}

static enum hg_status fill_sites(struct site_table *table, const struct hg_spacetime_choice *choice,
	struct hg_spacetime_sites *out)
{
	const struct spacetime_moment *moment;
	BASE_TRY(query_spacetime_choose(table->trace, choice, &moment, &out->snapshot));
	BASE_TRY(query_site_rows_init(&table->keys, table->trace));
	BASE_TRY(add_points_to_sites(table));
	if (moment)
		BASE_TRY(read_snapshot_of_sites(table, moment, out));
	BASE_TRY(make_site_rows(table, out));
	return query_spacetime_end(table->trace, &out->losses);
}

enum hg_status hg_list_spacetime_sites(struct hg_trace *trace,
	const struct hg_spacetime_choice *choice, struct hg_spacetime_sites **out)
{
	BASE_TRY(query_spacetime_begin(trace, (void *)out));
	struct site_table table = {.trace = trace, .error = &trace->session->error};
	if (!choice)
		return base_fail(table.error, HG_ERROR_USAGE, HG_NO_OFFSET, "no snapshot chosen");
	BASE_TRY(query_answer_of(table.error, sizeof(**out), out));
	enum hg_status status = fill_sites(&table, choice, *out);
	query_site_rows_release(&table.keys);
	free(table.rows);
	if (status != HG_OK)
		hg_spacetime_sites_release(out);
	return status == HG_OK ? HG_OK : query_trace_failed(trace, status);
}

void hg_spacetime_sites_release(struct hg_spacetime_sites **sites)
{
	query_free(sites);
}
