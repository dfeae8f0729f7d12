/* Places of allocation, with what is alive at one snapshot and what was allocated. */
#include "query/spacetime/spacetime.h"

#include "query/spacetime/points.h"

#include "query/shared/result.h"

#include "base/grow.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct site_table {
	struct hg_trace *trace;
	struct hg_error *error;
	struct query_spacetime_points points;
	struct base_map row_of; /* by place and whether C allocated */
	struct hg_spacetime_site *rows;
	uint64_t count, capacity;
};

static enum hg_status find_site(
	struct site_table *table, uint32_t place, bool in_c, struct hg_spacetime_site **site)
{
	uint64_t row = table->count;
	bool added;
	BASE_TRY(base_map_add(
		&table->row_of, (uint64_t)place << 1 | in_c, &row, &added, table->error));
	if (added) {
		BASE_TRY(base_grow(&table->rows, table->count, &table->capacity,
			sizeof(*table->rows), table->error));
		table->rows[table->count++] = (struct hg_spacetime_site){
			.location = place == QUERY_NO_PLACE
					    ? ""
					    : trace_name(&table->trace->names, place),
			.in_c = in_c};
	}
	*site = &table->rows[row];
	return HG_OK;
}

/* Of a series that is not complete annotations are all that there is. */
static enum hg_status site_of_annotation(
	struct site_table *table, uint32_t annotation, struct hg_spacetime_site **site)
{
	char text[32];
	uint64_t number;
	uint32_t place;
	if (base_map_get(&table->points.by_annotation, annotation, &number)) {
		const struct query_spacetime_point *point = &table->points.points[number];
		return find_site(table, point->place, point->in_c, site);
	}
	int length = snprintf(text, sizeof(text), "annotation %" PRIu32, annotation);
	BASE_TRY(trace_names_add(&table->trace->names, text, (size_t)length, &place, table->error));
	return find_site(table, place, false, site);
}

static enum hg_status add_points_to_sites(struct site_table *table)
{
	for (uint64_t i = 0; i < table->points.count; i++) {
		const struct query_spacetime_point *point = &table->points.points[i];
		struct hg_spacetime_site *site;
		BASE_TRY(find_site(table, point->place, point->in_c, &site));
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
	BASE_TRY(query_spacetime_points_init(&table->points, table->trace));
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
	query_spacetime_points_release(&table.points);
	base_map_release(&table.row_of);
	free(table.rows);
	if (status != HG_OK)
		hg_spacetime_sites_release(out);
	return status == HG_OK ? HG_OK : query_trace_failed(trace, status);
}

void hg_spacetime_sites_release(struct hg_spacetime_sites **sites)
{
	query_free(sites);
}
