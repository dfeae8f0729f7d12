/*
 * Of the summary: the places of allocation that a trace beside the snapshot tells, with the types
 * of their blocks and what holds them.
 */
#include "report/summary/sites.h"

#include "report/common.h"

enum { SHOWN_SITES = 12 };

static void put_join_part(struct rep_text *text, uint64_t count, const char *one, const char *many)
{
	if (!count)
		return;
	rep_text_put(text, "; ");
	rep_text_count(text, count);
	rep_text_put(text, count == 1 ? one : many);
}

void rep_put_join(struct rep_text *text, const struct hg_join *join)
{
	rep_text_put(text, "the place of allocation of ");
	rep_text_count(text, join->placed);
	rep_text_put(text, " of ");
	rep_name_amount(text, join->ids, "sampled block", "sampled blocks");
	put_join_part(text, join->unplaced,
		" has none: its call stack is cut short, or of code without -g",
		" have none: their call stacks are cut short, or of code without -g");
	put_join_part(text, join->missing,
		" is not in the trace: it was not written yet, or is lost",
		" are not in the trace: they were not written yet, or are lost");
	put_join_part(text, join->differing, " has another size in the trace and is left out",
		" have another size in the trace and are left out");
}

void rep_summary_join_values(struct rep_emitter *emitter, const struct summary *summary)
{
	const struct hg_join *join = summary->join;
	if (!join)
		return;
	rep_section_begin(emitter, "join", NULL);
	rep_value_string(emitter, "trace", NULL, REP_PATH, join->trace);
	rep_value_number(emitter, "ids", NULL, REP_COUNT, join->ids);
	rep_value_number(emitter, "placed", NULL, REP_COUNT, join->placed);
	rep_value_number(emitter, "unplaced", NULL, REP_COUNT, join->unplaced);
	rep_value_number(emitter, "missing", NULL, REP_COUNT, join->missing);
	rep_value_number(emitter, "differing", NULL, REP_COUNT, join->differing);
	rep_value_bool(emitter, "trace_is_partial", NULL, join->losses.first != NULL);
	rep_section_end(emitter);
}

static void holder_cell(struct rep_context *context, hg_node holder)
{
	if (holder != HG_NO_NODE)
		rep_cell_node(context, holder);
	else if (context->emitter->writer->for_people)
		rep_cell_string(context->emitter, "(no root alone)");
	else
		rep_cell_none(context->emitter);
}

static void site_row(struct rep_context *context, const struct hg_join_site *site, uint64_t all)
{
	struct rep_emitter *emitter = context->emitter;
	rep_cell_number(emitter, site->blocks);
	rep_cell_number(emitter, site->bytes);
	rep_cell_known(emitter, site->estimated_bytes);
	rep_cell_known(emitter, site->estimated_error);
	rep_cell_number(emitter, site->retained_bytes);
	rep_cell_share(emitter,
		rep_weigh(context, site->retained_bytes, site->retained_offheap_bytes), all);
	rep_cell_number(emitter, site->retained_offheap_bytes);
	rep_cell_location(context, site->location);
	rep_cell_type(context, site->type);
	rep_cell_number(emitter, site->type_blocks);
	holder_cell(context, site->holder);
	rep_cell_number(emitter, site->holder_blocks);
	rep_row_end(emitter);
}

void rep_summary_join(struct rep_context *context, const struct summary *summary)
{
	const struct hg_join_sites *sites = summary->sites;
	struct rep_emitter *emitter = context->emitter;
	if (!summary->join)
		return;
	const struct rep_column columns[] = {
		{"blocks", "sampled", REP_COUNT, 0},
		{"bytes", NULL, REP_BYTES, 0},
		{"estimated_bytes", "estimated", REP_BYTES, 0},
		{"estimated_error", "+-", REP_BYTES, 0},
		{"retained_bytes", "retained", REP_BYTES, 0},
		{"retained_share", "  share", REP_SHARE, 0},
		rep_retained_offheap_column(rep_has_offheap(context->snapshot)),
		{"location", "made at", REP_NAME, REP_LAST},
		{"type", summary->info.has_types ? "mostly" : NULL, REP_NAME, REP_LAST | REP_HEAD},
		{"type_blocks", NULL, REP_COUNT, 0},
		{"holder", "held by", REP_NAME, REP_LAST},
		{"holder_blocks", NULL, REP_COUNT, 0},
	};
	bool for_people = emitter->writer->for_people;
	size_t shown = for_people && sites->count > SHOWN_SITES ? SHOWN_SITES : sites->count;
	uint64_t all = rep_weigh_all(context, summary->totals);
	rep_headline(emitter, "Where sampled blocks were made, as the trace tells: those that "
			      "retain most");
	rep_table_begin(emitter, "allocation_sites", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < shown && !rep_emitter_broken(emitter); i++)
		site_row(context, sites->rows[i], all);
	rep_table_end(emitter);
	rep_prose(emitter, REP_PLAIN, "%s", REP_ESTIMATE_MEANING);
	rep_more_rows(emitter, sites->count - shown, "places", "top --by location --limit 0");
}
