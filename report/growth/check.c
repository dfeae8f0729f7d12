/* What exceeds the limits that check was given: failures, then what is known and suppressed. */
#include "report/report.h"

#include "report/growth/growth.h"
#include "report/paths.h"

enum { HALF_OF_GROWTH = 5000 }; /* ten-thousandths */

static const struct rep_column columns[] = {
	{"path", NULL, REP_NAME, 0},
	{"blocks_first", NULL, REP_COUNT, 0},
	{"blocks_last", NULL, REP_COUNT, 0},
	{"retained_first", NULL, REP_BYTES, 0},
	{"retained_last", NULL, REP_BYTES, 0},
	{"growth_share", NULL, REP_CHANGE_COUNT, 0},
	{"made_at", NULL, REP_NAME, 0},
	{"defined_at", NULL, REP_NAME, 0},
	{"limit", NULL, REP_WORD, 0},
	{"held_by", NULL, REP_NAME, REP_NOT_CSV},
};

static void put_growth(struct rep_text *text, const struct hg_check_row *row)
{
	uint64_t from = row->first.weight, to = row->last.weight;
	rep_text_size(text, from);
	rep_text_put(text, " -> ");
	rep_text_size(text, to);
}

void rep_check_reason(struct rep_text *text, const struct hg_check_row *row)
{
	switch (row->kind) {
	case HG_CHECK_GROWS:
		rep_text_put(text, "grows at every step, ");
		put_growth(text, row);
		rep_text_put(text, ", ");
		rep_growth_shares(text, row->alone_share, row->growth_share);
		break;
	case HG_CHECK_GROWTH:
		put_growth(text, row);
		rep_text_put(text, " is more growth than allowed");
		break;
	case HG_CHECK_TYPE:
		rep_name_amount(text, row->last.blocks, "block", "blocks");
		rep_text_put(text, ", more than allowed");
		break;
	default:
		rep_text_put(text, "retains ");
		rep_text_size(text, row->last.weight);
		rep_text_put(text, ", more than allowed");
	}
	rep_text_printf(text, " (limit: %s)", row->limit);
}

static void write_check_row(struct rep_emitter *emitter, const struct hg_check_row *row)
{
	rep_cell_string(emitter, row->path);
	rep_cell_number(emitter, row->first.blocks);
	rep_cell_number(emitter, row->last.blocks);
	rep_cell_number(emitter, row->first.weight);
	rep_cell_number(emitter, row->last.weight);
	rep_growth_share_cell(emitter, row->growth_share);
	rep_cell_string(emitter, row->made_at);
	rep_cell_string(emitter, row->defined_at);
	rep_cell_string(emitter, row->limit);
	rep_cell_string(emitter, row->held_by);
	rep_row_end(emitter);
}

/* Failures, or what is suppressed. */
static void write_check_rows(struct rep_emitter *emitter, const struct hg_check *check,
	const char *member, bool suppressed)
{
	rep_table_begin(emitter, member, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < check->count; i++)
		if (!check->rows[i]->suppressed == !suppressed)
			write_check_row(emitter, check->rows[i]);
	rep_table_end(emitter);
}

/* What is one leak with a path that fails, or is suppressed, as that stands for it. */
static void write_check_parts(
	struct rep_emitter *emitter, const struct hg_series *series, const struct hg_check *check)
{
	static const struct rep_column part_columns[] = {
		{"path", NULL, REP_NAME, 0},
		{"part_of", NULL, REP_NAME, 0},
		{"growth_share", NULL, REP_CHANGE_COUNT, 0},
		{"made_at", NULL, REP_NAME, 0},
		{"defined_at", NULL, REP_NAME, 0},
		{"held_by", NULL, REP_NAME, 0},
	};
	size_t count = hg_series_count(series);
	rep_table_begin(
		emitter, "parts", part_columns, sizeof(part_columns) / sizeof(part_columns[0]));
	for (size_t i = 0; i < check->count; i++) {
		const struct hg_check_row *row = check->rows[i];
		for (size_t k = row->kind == HG_CHECK_GROWS ? 0 : count;
			(k = rep_growth_next_part(series, row->number, k)) < count; k++) {
			const struct hg_series_row *part = hg_series_at(series, k);
			rep_cell_string(emitter, part->name);
			rep_cell_string(emitter, row->path);
			rep_growth_share_cell(emitter, part->alone_share);
			rep_cell_string(emitter, part->made_at);
			rep_cell_string(emitter, part->defined_at);
			rep_cell_string(emitter, part->held_by);
			rep_row_end(emitter);
		}
	}
	rep_table_end(emitter);
}

/* The path nearest to the roots that gathers half of the growth or more in blocks of its own; or
 * NULL. */
static const struct hg_series_row *find_most_growth(const struct hg_series *series)
{
	const struct hg_series_row *most = NULL;
	for (size_t i = 0; i < hg_series_count(series); i++) {
		const struct hg_series_row *row = hg_series_at(series, i);
		if (row->growth_share >= HALF_OF_GROWTH && row->last.blocks > row->first.blocks &&
			!row->is_memprof && (!most || row->depth < most->depth))
			most = row;
	}
	return most;
}

static void prose_most_growth(struct rep_emitter *emitter, const struct hg_series *series)
{
	const struct hg_series_row *most = find_most_growth(series);
	struct rep_text share = {0}, escaped = {0};
	if (!most)
		return;
	rep_growth_share(&share, most->growth_share);
	rep_prose(emitter, REP_PLAIN, "            %s of the growth: %s\n", rep_text_string(&share),
		rep_escaped(&escaped, most->name));
	rep_path_prose_places(emitter, "            ",
		&(struct rep_path_places){
			most->held_by, most->made_at, most->defined_at, most->name});
	emitter->failed |= share.failed || escaped.failed;
	rep_text_release(&share);
	rep_text_release(&escaped);
}

static void prose_check_row(
	struct rep_emitter *emitter, const struct hg_series *series, const struct hg_check_row *row)
{
	struct rep_text reason = {0}, escaped = {0};
	rep_check_reason(&reason, row);
	if (row->suppressed)
		rep_prose(emitter, REP_DIM, "  known     %s\n",
			rep_escaped(&escaped, row->suppressed->reason));
	rep_prose(emitter, row->suppressed ? REP_DIM : REP_BAD, "  %s  %s\n",
		row->suppressed ? "        " : "FAIL    ", rep_escaped(&escaped, row->path));
	rep_prose(emitter, REP_PLAIN, "            %s\n", rep_text_string(&reason));
	rep_path_prose_places(emitter, "            ",
		&(struct rep_path_places){row->held_by, row->made_at, row->defined_at, row->path});
	if (row->kind == HG_CHECK_GROWS)
		rep_growth_prose_parts(emitter, "            ", series, row->number);
	if (row->kind == HG_CHECK_GROWTH)
		prose_most_growth(emitter, series);
	rep_text_release(&reason);
	rep_text_release(&escaped);
}

static void prose_check(struct rep_emitter *emitter, const struct rep_growth_request *request,
	const struct hg_check *check)
{
	size_t moments = hg_series_moments(request->series);
	for (size_t i = 0; i < check->count; i++)
		prose_check_row(emitter, request->series, check->rows[i]);
	if (check->failures == 0)
		rep_prose(emitter, REP_GOOD, "  OK        %zu snapshots keep to their limits\n",
			moments);
	if (check->unused)
		rep_prose(emitter, REP_PLAIN,
			"  %zu suppression%s not needed any more, or out of date\n", check->unused,
			check->unused == 1 ? " is" : "s are");
}

void rep_check(struct rep_context *context, const struct rep_growth_request *request,
	const struct hg_check *check)
{
	struct rep_emitter *emitter = context->emitter;
	rep_document_begin(emitter, "check");
	rep_value_bool(emitter, "passed", NULL, check->failures == 0);
	rep_value_number(emitter, "failures", NULL, REP_COUNT, check->failures);
	rep_value_number(emitter, "unused_suppressions", NULL, REP_COUNT, check->unused);
	if (emitter->writer->for_people)
		prose_check(emitter, request, check);
	else
		write_check_rows(emitter, check, "rows", false);
	if (emitter->writer->tells_all) {
		write_check_rows(emitter, check, "suppressed", true);
		write_check_parts(emitter, request->series, check);
	}
	rep_document_end(emitter);
}
