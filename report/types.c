/* The table of declared types, and where types and blocks do not go together. */
#include "report/report.h"

#include "base/pattern.h"
#include "report/common.h"
#include "report/places.h"

static const struct rep_column columns[] = {
	{"type", "type", REP_NAME, REP_LAST | REP_HEAD},
	{"kind", "kind", REP_WORD, 0},
	{"unit", "unit", REP_NAME, 0},
	{"blocks", "blocks", REP_COUNT, 0},
	{"bytes", "bytes", REP_BYTES, 0},
	{"layout", "layout", REP_NAME, REP_LAST | REP_HEAD},
};

static void declared_part_cell(struct rep_context *context, uint32_t id, enum hg_declared_part part)
{
	struct rep_text text = {0};
	rep_name_declared(&text, context->snapshot, id, part);
	rep_cell_string(context->emitter, rep_text_string(&text));
	context->emitter->failed |= text.failed;
	rep_text_release(&text);
}

/* Keeps the rows whose name matches, in their order. */
static enum hg_status filter_types(
	struct rep_context *context, const char *pattern, struct hg_types *types)
{
	struct base_pattern wanted = {0};
	enum hg_status status = HG_OK;
	size_t kept = 0;
	if (!pattern)
		return HG_OK;
	BASE_TRY(base_pattern_compile(&wanted, pattern, context->error));
	for (size_t i = 0; i < types->count && status == HG_OK; i++) {
		struct rep_text text = {0};
		bool matches;
		rep_name_declared(&text, context->snapshot, types->rows[i]->id, HG_DECLARED_NAME);
		status = base_pattern_match(
			&wanted, rep_text_string(&text), &matches, context->error);
		if (matches)
			types->rows[kept++] = types->rows[i];
		rep_text_release(&text);
	}
	types->count = kept;
	base_pattern_release(&wanted);
	return status;
}

static void write_types_head(struct rep_context *context, const struct hg_totals *totals)
{
	struct rep_emitter *emitter = context->emitter;
	struct rep_text line = {0};
	struct hg_info info = *hg_snapshot_info(context->snapshot);
	rep_coverage(&line, totals);
	rep_prose(emitter, REP_BOLD, "Declared types");
	rep_prose(emitter, REP_PLAIN, ": they type %s\n", rep_text_string(&line));
	if (!info.has_types)
		rep_prose(emitter, REP_PLAIN,
			"no type profile, which heapgraph-prof writes: only what blocks say "
			"themselves\n");
	rep_value_number(emitter, "blocks", NULL, REP_COUNT, totals->blocks);
	rep_value_number(emitter, "bytes", NULL, REP_BYTES, totals->bytes);
	rep_value_number(emitter, "typed_blocks", NULL, REP_COUNT, totals->typed_blocks);
	rep_value_number(emitter, "typed_bytes", NULL, REP_BYTES, totals->typed_bytes);
	rep_value_number(emitter, "shape_clashes", NULL, REP_COUNT, totals->shape_clashes);
	rep_value_number(emitter, "type_conflicts", NULL, REP_COUNT, totals->type_conflicts);
	rep_value_number(emitter, "given_up_blocks", NULL, REP_COUNT, totals->given_up_blocks);
	rep_value_number(emitter, "memprof_blocks", NULL, REP_COUNT, totals->memprof_blocks);
	rep_value_number(emitter, "memprof_bytes", NULL, REP_BYTES, totals->memprof_bytes);
	rep_text_release(&line);
}

static void write_type_rows(struct rep_context *context, const struct hg_types *types,
	const struct hg_totals *totals, uint64_t limit)
{
	enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };
	struct rep_emitter *emitter = context->emitter;
	struct rep_column all[COLUMNS + 2];
	size_t shown = limit && limit < types->count ? (size_t)limit : types->count;
	for (unsigned i = 0; i < COLUMNS; i++)
		all[i] = columns[i];
	all[COLUMNS] = rep_made_at_column(context, totals);
	all[COLUMNS + 1] = rep_offheap_column(rep_has_offheap(context->snapshot));
	rep_table_begin(emitter, "rows", all, COLUMNS + 2);
	for (size_t i = 0; i < shown && !rep_emitter_broken(emitter); i++) {
		const struct hg_declared *row = types->rows[i];
		declared_part_cell(context, row->id, HG_DECLARED_NAME);
		declared_part_cell(context, row->id, HG_DECLARED_KIND);
		declared_part_cell(context, row->id, HG_DECLARED_UNIT);
		rep_cell_number(emitter, row->blocks);
		rep_cell_number(emitter, row->bytes);
		declared_part_cell(context, row->id, HG_DECLARED_LAYOUT);
		rep_cell_made_at(context, hg_declared_type(context->snapshot, row->id));
		rep_cell_number(emitter, row->offheap_bytes);
		rep_row_end(emitter);
	}
	rep_table_end(emitter);
	rep_more_rows(emitter, types->count - shown, "types", "--limit 0");
}

/* Clashes */

static const struct rep_column clash_columns[] = {
	{"type", "type said", REP_NAME, REP_HEAD},
	{"holder", "by a field of", REP_NAME, REP_HEAD},
	{"location", "allocated at", REP_NAME, 0},
	{"found", "its type", REP_NAME, REP_HEAD},
	{"tag", "tag", REP_NUMBER, 0},
	{"words", "words", REP_COUNT, 0},
	{"clashes", "clashes", REP_COUNT, 0},
	{"address", "first block", REP_ADDRESS, REP_LAST},
};

static void clash_row(struct rep_context *context, const struct hg_clash *row)
{
	struct rep_emitter *emitter = context->emitter;
	rep_cell_type(context, row->type);
	rep_cell_type(context, row->holder);
	rep_cell_location(context, row->location);
	rep_cell_type(context, row->found);
	rep_cell_number(emitter, row->tag);
	rep_cell_number(emitter, row->words);
	rep_cell_number(emitter, row->clashes);
	rep_cell_number(emitter, row->address);
	rep_row_end(emitter);
}

enum hg_status rep_clashes(struct rep_context *context, uint64_t limit)
{
	struct rep_emitter *emitter = context->emitter;
	struct hg_clashes *clashes;
	const struct hg_totals *totals;
	enum hg_status status = hg_count_totals(context->snapshot, &totals);
	if (status == HG_OK)
		status = hg_list_clashes(context->snapshot, &clashes);
	if (status != HG_OK)
		return rep_library_failed(context, status);
	size_t shown = limit && limit < clashes->count ? (size_t)limit : clashes->count;
	rep_begin(context, "types");
	write_types_head(context, totals);
	rep_table_begin(emitter, "clashes", clash_columns,
		sizeof(clash_columns) / sizeof(clash_columns[0]));
	for (size_t i = 0; i < shown && !rep_emitter_broken(emitter); i++)
		clash_row(context, clashes->rows[i]);
	rep_table_end(emitter);
	rep_more_rows(emitter, clashes->count - shown, "kinds of clashes", "--limit 0");
	if (clashes->clashes != totals->shape_clashes)
		rep_prose(emitter, REP_PLAIN, "not all clashes were noted: these are the first\n");
	rep_document_end(emitter);
	hg_clashes_release(&clashes);
	return HG_OK;
}

static enum hg_status report_types(struct rep_context *context,
	const struct rep_types_request *request, struct hg_types *types,
	const struct hg_totals *totals)
{
	struct rep_places places = {0};
	const char *pattern = request->pattern;
	/* Where a document has one part only it has the places if they were asked for. */
	bool with_rows = !request->places_only;
	bool with_places = request->places_only || (pattern && !context->emitter->writer->one_part);
	BASE_TRY(filter_types(context, pattern, types));
	bool matches = !pattern || (with_rows && types->count > 0);
	if (with_places || !matches)
		BASE_TRY(rep_collect_places(context, pattern, &places));
	if (!matches && places.count == 0) {
		rep_places_release(&places);
		return rep_nothing_matches(context, NULL, pattern);
	}
	rep_begin(context, "types");
	write_types_head(context, totals);
	if (with_rows)
		write_type_rows(context, types, totals, request->limit);
	if (with_places) {
		rep_prose(context->emitter, REP_PLAIN, with_rows ? "\n" : "");
		rep_write_places(context, &places, request->limit);
	}
	rep_document_end(context->emitter);
	rep_places_release(&places);
	return HG_OK;
}

enum hg_status rep_types(struct rep_context *context, const struct rep_types_request *request)
{
	struct hg_types *types = NULL;
	const struct hg_totals *totals;
	enum hg_status status = hg_count_totals(context->snapshot, &totals);
	if (status == HG_OK)
		status = hg_list_types(context->snapshot, request->unused, &types);
	if (status != HG_OK)
		return rep_library_failed(context, status);
	status = report_types(context, request, types, totals);
	hg_types_release(&types);
	return status;
}
