/*
 * One screen about the snapshot.  All that it asks of the library comes first, so that nothing is
 * written before it is complete.
 */
#include "report/report.h"

#include "report/common.h"
#include "report/summary/sites.h"
#include "report/summary/summary.h"

static enum hg_status ask_holders(struct hg_snapshot *snapshot, struct summary *summary)
{
	struct hg_cross_edges *edges;
	enum hg_status status = hg_retention_open(snapshot, NULL, &summary->tree);
	if (status == HG_OK)
		status = hg_list_cross_edges(summary->tree, &edges);
	if (status != HG_OK)
		return status;
	hg_cross_edges_release(&edges);
	for (size_t i = 0; i < hg_retention_count(summary->tree); i++)
		summary->tree_bytes += hg_retention_at(summary->tree, i)->bytes;
	return hg_list_holders(summary->tree, &summary->holders);
}

static enum hg_status ask_summary(struct rep_context *context, struct summary *summary)
{
	struct hg_snapshot *snapshot = context->snapshot;
	struct hg_tree_options shallow = {.size = sizeof(shallow),
		.from = HG_NO_NODE,
		.max_depth = 1,
		.max_children = SUMMARY_DOMINATORS};
	summary->info = *hg_snapshot_info(snapshot);
	enum hg_status status = hg_count_totals(snapshot, &summary->totals);
	if (status == HG_OK)
		status = hg_list_top(snapshot, HG_BY_LOCATION, NULL, &summary->locations);
	if (status == HG_OK && summary->info.has_types)
		status = hg_list_top(snapshot, HG_BY_TYPE, NULL, &summary->types);
	if (status == HG_OK)
		status = hg_list_top(snapshot, HG_BY_ROOT, NULL, &summary->roots);
	if (status == HG_OK)
		status = hg_list_tree(snapshot, &shallow, &summary->dominators);
	if (status == HG_OK)
		status = hg_list_suspects(snapshot, &summary->suspects);
	if (status == HG_OK)
		status = hg_reconcile_memory(snapshot, &summary->memory);
	if (status == HG_OK)
		status = ask_holders(snapshot, summary);
	summary->join = hg_snapshot_join(snapshot);
	if (status == HG_OK && summary->join)
		status = hg_list_join_sites(snapshot, &summary->sites);
	return status == HG_OK ? HG_OK : rep_library_failed(context, status);
}

static void release_summary(struct summary *summary)
{
	hg_top_release(&summary->types);
	hg_top_release(&summary->locations);
	hg_top_release(&summary->roots);
	hg_tree_release(&summary->dominators);
	hg_suspects_release(&summary->suspects);
	hg_holders_release(&summary->holders);
	hg_join_sites_release(&summary->sites);
	hg_retention_close(summary->tree);
}

/* A format of one part has the sections only: tables have other columns, and other verbs. */
static void write_sections(struct rep_emitter *emitter, const struct summary *summary)
{
	rep_section_begin(emitter, "snapshot", NULL);
	rep_snapshot_values(emitter, &summary->info);
	rep_section_end(emitter);
}

static const struct rep_column outside_columns[] = {
	{"pointers", "pointers", REP_COUNT, 0},
	{"address", "lowest", REP_ADDRESS, 0},
	{"holder", "first block", REP_ADDRESS, 0},
	{"place", "lead to", REP_PATH, REP_LAST},
};

/* Where the pointers lead that lead to no block. */
static enum hg_status write_outside(struct rep_context *context)
{
	struct rep_emitter *emitter = context->emitter;
	struct hg_outside *outside;
	char name[1024];
	enum { TEXT_ROWS = 20 };
	enum hg_status status = hg_list_outside(context->snapshot, &outside);
	if (status != HG_OK)
		return rep_library_failed(context, status);
	bool is_text = emitter->writer->for_people;
	size_t shown = is_text && outside->count > TEXT_ROWS ? TEXT_ROWS : outside->count;
	rep_headline(emitter, "Pointers to no block");
	rep_table_begin(emitter, "outside", outside_columns,
		sizeof(outside_columns) / sizeof(outside_columns[0]));
	for (size_t i = 0; i < shown && !rep_emitter_broken(emitter); i++) {
		const struct hg_outside_row *row = outside->rows[i];
		hg_outside_name(context->snapshot, row->address, name, sizeof(name));
		rep_cell_number(emitter, row->pointers);
		rep_cell_number(emitter, row->address);
		rep_cell_number(emitter, row->holder);
		rep_cell_string(emitter, name);
		rep_row_end(emitter);
	}
	rep_table_end(emitter);
	rep_more_rows(emitter, outside->count - shown, "places", "--format csv");
	hg_outside_release(&outside);
	return HG_OK;
}

enum hg_status rep_summary(struct rep_context *context, const struct rep_summary_request *request)
{
	struct summary summary = {0};
	struct rep_emitter *emitter = context->emitter;
	if (request->outside && emitter->writer->one_part)
		return write_outside(context);
	enum hg_status status = ask_summary(context, &summary);
	if (status == HG_OK) {
		rep_begin(context, "summary");
		if (emitter->writer->one_part) {
			write_sections(emitter, &summary);
			rep_summary_values(emitter, &summary);
			rep_summary_process_values(emitter, &summary);
			rep_summary_join_values(emitter, &summary);
		} else if (emitter->writer->tells_all) {
			rep_summary_values(emitter, &summary);
			rep_summary_process_values(emitter, &summary);
			rep_summary_join_values(emitter, &summary);
		} else {
			rep_summary_head(emitter, &summary);
			rep_summary_table(emitter, &summary);
			rep_summary_warning(emitter, &summary);
		}
		if (!emitter->writer->one_part) {
			rep_not_read(emitter, &summary.info);
			rep_summary_largest(context, &summary);
			rep_summary_join(context, &summary);
			if (emitter->writer->tells_all) {
				rep_summary_dominators(context, &summary);
				rep_summary_kinds(context, &summary);
				rep_summary_suspects(context, &summary);
			} else {
				rep_summary_tree(context, &summary);
			}
			rep_summary_holders(context, &summary);
		}
		if (emitter->writer->for_people)
			rep_summary_process(emitter, &summary);
		if (!rep_summary_checks(emitter, &summary, request->sums))
			status = base_fail(context->error, HG_ERROR_INTERNAL, HG_NO_OFFSET,
				"the totals of the analysis do not add up");
		if (request->outside && status == HG_OK)
			status = write_outside(context);
		rep_document_end(emitter);
	}
	release_summary(&summary);
	return status;
}
