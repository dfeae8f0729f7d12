/* What a trend says beside its rows, so that it can be read back as a series. */
#include "report/report.h"

#include "report/growth/growth.h"

#include <string.h>

static const char *exact(struct rep_text *text, const char *string)
{
	rep_text_clear(text);
	rep_text_escape_exact(text, string, strlen(string));
	return rep_text_string(text);
}

void rep_baseline_values(struct rep_emitter *emitter, const struct hg_series *series, size_t shown)
{
	const struct hg_series_moment *moment = hg_series_moment_at(series, 0);
	struct rep_text text = {0};
	rep_value_bool(emitter, "complete", NULL, shown == hg_series_count(series));
	rep_value_string(emitter, "program", NULL, REP_PATH,
		exact(&text, rep_base_name(moment ? moment->program : "")));
	emitter->failed |= text.failed;
	rep_text_release(&text);
}

static void write_link(
	struct rep_emitter *emitter, uint32_t number, const struct hg_series_link *link)
{
	static const uint32_t none = UINT32_MAX;
	struct rep_text text = {0};
	rep_cell_number(emitter, number);
	rep_cell_known(emitter, link->parent == none ? HG_UNKNOWN : link->parent);
	rep_cell_string(emitter, exact(&text, link->row->kind));
	rep_cell_string(emitter, exact(&text, link->name));
	rep_cell_number(emitter, link->is_root);
	rep_cell_number(emitter, link->passes);
	rep_cell_number(emitter, link->row->is_memprof);
	rep_cell_number(emitter, link->row->is_inside);
	rep_cell_string(emitter, exact(&text, link->made_at));
	rep_cell_string(emitter, exact(&text, link->defined_at));
	rep_cell_string(emitter, exact(&text, link->row->held_by));
	rep_row_end(emitter);
	emitter->failed |= text.failed;
	rep_text_release(&text);
}

static void write_sharing(struct rep_emitter *emitter, const struct hg_series *series)
{
	static const struct rep_column columns[] = {
		{"row", NULL, REP_NUMBER, 0},
		{"holder", NULL, REP_NUMBER, 0},
	};
	struct hg_series_sharing sharing;
	rep_table_begin(emitter, "sharing", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; hg_series_sharing_at(series, i, &sharing); i++) {
		rep_cell_number(emitter, sharing.shared);
		rep_cell_number(emitter, sharing.holder);
		rep_row_end(emitter);
	}
	rep_table_end(emitter);
}

void rep_baseline_names(struct rep_emitter *emitter, const struct hg_series *series, size_t shown)
{
	static const struct rep_column columns[] = {
		{"row", NULL, REP_NUMBER, 0},
		{"parent", NULL, REP_NUMBER, 0},
		{"kind", NULL, REP_NAME, 0},
		{"name", NULL, REP_NAME, 0},
		{"is_root", NULL, REP_NUMBER, 0},
		{"passes", NULL, REP_NUMBER, 0},
		{"memprof", NULL, REP_NUMBER, 0},
		{"is_inside", NULL, REP_NUMBER, 0},
		{"made_at", NULL, REP_NAME, 0},
		{"defined_at", NULL, REP_NAME, 0},
		{"held_by", NULL, REP_NAME, 0},
	};
	struct hg_series_link link;
	if (!emitter->writer->tells_all || shown < hg_series_count(series))
		return;
	rep_table_begin(emitter, "names", columns, sizeof(columns) / sizeof(columns[0]));
	for (uint32_t i = 0; hg_series_link_at(series, i, &link) && !rep_emitter_broken(emitter);
		i++)
		write_link(emitter, i, &link);
	rep_table_end(emitter);
	write_sharing(emitter, series);
}
