/*
 * Growth over a series of snapshots: in text what grows at every step, with its path and lines,
 * then what changed most; for programs every row in every snapshot.
 */
#include "report/report.h"

#include "report/growth/growth.h"
#include "report/paths.h"

#include <stdlib.h>
#include <string.h>

enum { LEAKS_TOLD = 5 };

/* What is written, and room for what one row was in each snapshot. */
struct trend {
	const struct rep_growth_request *request;
	const struct hg_series *series;
	size_t moments;
	size_t *rows; /* in the order shown */
	size_t shown, all;
	struct hg_measure *points;
	size_t *leaks; /* rows that are told before the others */
	size_t leak_count;
	uint64_t elapsed_ns; /* from the first to the last; 0: not known */
};

/* What a snapshot is, as other verbs say of theirs in a section (rep_snapshot_values()). */
static void write_source(struct rep_emitter *emitter, const struct hg_info *info)
{
	rep_cell_string(emitter, hg_format_name(info->format));
	rep_cell_string(emitter, info->title);
	rep_cell_string(emitter, info->program);
	rep_cell_string(emitter, info->trigger);
	rep_cell_string(emitter, info->ocaml_version);
	rep_cell_bool(emitter, info->native);
	rep_cell_known(emitter, info->reserved_bits);
	rep_cell_known(emitter, info->word_size);
	rep_cell_known(emitter, info->file_bytes);
	rep_cell_string(emitter, info->profile);
	rep_cell_string(emitter, info->profile_note);
	rep_cell_string(emitter, info->type_profile);
	rep_cell_string(emitter, info->type_note);
	rep_cell_string(emitter, rep_roots_word(info->all_roots_alike));
	rep_cell_string(emitter, info->partial);
	rep_cell_known(emitter, info->partial_offset);
}

static void write_moments(struct rep_emitter *emitter, const struct trend *t)
{
	static const struct rep_column columns[] = {
		{"position", "#", REP_NUMBER, 0},
		{"file", "snapshot", REP_PATH, REP_LAST},
		{"pid", NULL, REP_NUMBER, 0},
		{"index", NULL, REP_NUMBER, 0},
		{"time_ns", NULL, REP_NUMBER, 0},
		{"blocks", "blocks", REP_COUNT, 0},
		{"bytes", "bytes", REP_BYTES, 0},
		{"reachable_blocks", "reachable", REP_COUNT, 0},
		{"reachable_bytes", "bytes", REP_BYTES, 0},
		{"offheap_bytes", NULL, REP_BYTES, 0},
		{"format", NULL, REP_WORD, 0},
		{"title", NULL, REP_WORD, 0},
		{"program", NULL, REP_PATH, 0},
		{"trigger", NULL, REP_NAME, 0},
		{"ocaml_version", NULL, REP_WORD, 0},
		{"native", NULL, REP_WORD, 0},
		{"reserved_bits", NULL, REP_NUMBER, 0},
		{"word_size", NULL, REP_NUMBER, 0},
		{"file_bytes", NULL, REP_BYTES, 0},
		{"location_source", NULL, REP_PATH, 0},
		{"location_note", NULL, REP_WORD, 0},
		{"type_source", NULL, REP_PATH, 0},
		{"type_note", NULL, REP_WORD, 0},
		{"roots", NULL, REP_WORD, 0},
		{"partial", NULL, REP_WORD, 0},
		{"partial_offset", NULL, REP_NUMBER, 0},
	};
	if (emitter->writer->one_part)
		return;
	rep_table_begin(emitter, "snapshots", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < t->moments; i++) {
		const struct hg_series_moment *moment = hg_series_moment_at(t->series, i);
		rep_cell_number(emitter, i);
		rep_cell_string(emitter, moment->path);
		rep_cell_known(emitter, moment->pid);
		rep_cell_known(emitter, moment->index);
		rep_cell_known(emitter, moment->time_ns);
		rep_cell_number(emitter, moment->blocks);
		rep_cell_number(emitter, moment->bytes);
		rep_cell_number(emitter, moment->reachable_blocks);
		rep_cell_number(emitter, moment->reachable_bytes);
		rep_cell_number(emitter, moment->offheap_bytes);
		write_source(emitter, moment->info);
		rep_row_end(emitter);
	}
	rep_table_end(emitter);
}

/* One line on all of it: how much, in what time. */
static void prose_growth(struct rep_emitter *emitter, const struct trend *t)
{
	struct hg_measure first, last;
	struct rep_text line = {0};
	hg_series_total(t->series, 0, &first);
	hg_series_total(t->series, t->moments - 1, &last);
	rep_growth_line(&line, "held by roots", t->elapsed_ns, first.weight, last.weight);
	rep_prose(emitter, REP_PLAIN, "\n%s\n", rep_text_string(&line));
	rep_text_release(&line);
}

/* The names of a path, each in a line of its own below the one before. */
static void prose_path(struct rep_emitter *emitter, const char *path)
{
	struct rep_text name = {0}, escaped = {0};
	unsigned depth = 0;
	while (*path) {
		size_t length = hg_path_first_name(path);
		rep_text_clear(&name);
		rep_text_add(&name, path, length);
		rep_prose(emitter, REP_PLAIN, "      %*s%s\n", (int)(2 * depth++), "",
			rep_escaped(&escaped, rep_text_string(&name)));
		path += length;
		path += *path ? strlen(" / ") : 0;
	}
	rep_text_release(&name);
	rep_text_release(&escaped);
}

static void prose_leak(struct rep_emitter *emitter, const struct trend *t, size_t number)
{
	const struct hg_series_row *row = hg_series_at(t->series, number);
	uint64_t from = row->first.weight, to = row->last.weight;
	struct rep_text line = {0}, escaped = {0};
	rep_growth_change(&line, from, to);
	rep_text_put(&line, " (");
	rep_growth_shares(&line, row->alone_share, row->growth_share);
	rep_growth_rate(&line, t->elapsed_ns, from, to);
	rep_text_put(&line, "): ");
	rep_text_count(&line, row->first.blocks);
	rep_text_put(&line, " -> ");
	rep_name_amount(&line, row->last.blocks, "block", "blocks");
	rep_prose(emitter, REP_BOLD, "  * %s\n", rep_text_string(&line));
	if (t->request->by_path)
		prose_path(emitter, row->name);
	else
		rep_prose(emitter, REP_PLAIN, "      %s%s%s\n", row->kind, *row->kind ? " " : "",
			rep_escaped(&escaped, row->name));
	bool is_root = !t->request->by_path && t->request->key == HG_BY_ROOT;
	rep_path_prose_places(emitter, "    ",
		&(struct rep_path_places){row->held_by, row->made_at,
			is_root ? row->made_at : row->defined_at, is_root ? row->kind : row->name});
	rep_growth_prose_parts(emitter, "    ", t->series, row->number);
	rep_text_release(&line);
	rep_text_release(&escaped);
}

/* Only several snapshots can show a leak, and three are the least that do. */
static void prose_leaks(struct rep_emitter *emitter, const struct trend *t)
{
	size_t told = 0, growing = 0;
	for (size_t i = 0; i < hg_series_count(t->series); i++)
		growing += hg_series_at(t->series, i)->grows;
	rep_headline(emitter, "What grows at every step, most likely a leak");
	for (size_t i = 0; i < growing && told < LEAKS_TOLD; i++, told++)
		prose_leak(emitter, t, i);
	if (growing > told)
		rep_prose(emitter, REP_PLAIN, "  (%zu more)\n", growing - told);
	if (growing == 0)
		rep_prose(emitter, REP_PLAIN, "  nothing%s\n",
			t->moments < 3 ? ": it takes three snapshots to tell" : "");
}

static void write_curve_row(
	struct rep_emitter *emitter, const struct trend *t, const struct hg_series_row *row)
{
	struct rep_text curve = {0}, steps = {0};
	uint64_t from = row->first.weight, to = row->last.weight;
	rep_curve(&curve, &t->points->weight, sizeof(*t->points), t->moments);
	rep_text_printf(&steps, "%u of %zu", row->steps_up, t->moments - 1);
	rep_growth_key_cells(emitter, t->request, row);
	rep_cell_number(emitter, from);
	rep_cell_number(emitter, to);
	rep_cell_change(emitter, from, to);
	rep_cell_change(emitter, row->first.blocks, row->last.blocks);
	rep_cell_string(emitter, rep_text_string(&steps));
	rep_cell_string(emitter, rep_text_string(&curve));
	rep_row_end(emitter);
	emitter->failed |= curve.failed || steps.failed;
	rep_text_release(&curve);
	rep_text_release(&steps);
}

/* Paths that grow, or are one leak with such. */
static bool list_leaks(struct trend *t)
{
	size_t count = hg_series_count(t->series);
	t->leaks = calloc(count + 1, sizeof(*t->leaks));
	for (size_t i = 0; t->request->by_path && t->leaks && i < count; i++) {
		const struct hg_series_row *row = hg_series_at(t->series, i);
		if (row->grows || row->part_of != UINT32_MAX)
			t->leaks[t->leak_count++] = i;
	}
	return t->leaks != NULL;
}

/* Whether a path is one of those, or on the way to it, or below it: these are told already. */
static bool is_told(const struct trend *t, const struct hg_series_row *row)
{
	size_t length = strlen(row->name);
	for (size_t i = 0; i < t->leak_count; i++) {
		const struct hg_series_row *leak = hg_series_at(t->series, t->leaks[i]);
		size_t path = strlen(leak->name);
		size_t common = path < length ? path : length;
		if (strncmp(leak->name, row->name, common) == 0 &&
			(path == length || strncmp((path < length ? row : leak)->name + common,
						   " / ", 3) == 0))
			return true;
	}
	return false;
}

/*
 * Whether a row is one of what else changed, and has something to say: what once had a byte of its
 * own and never retained one has not.  Reads its points.
 */
static bool is_untold(const struct trend *t, size_t number)
{
	const struct hg_series_row *row = hg_series_at(t->series, number);
	if (is_told(t, row))
		return false;
	hg_series_points(t->series, number, t->points);
	bool retains = row->first.blocks != row->last.blocks;
	for (size_t i = 0; i < t->moments && !retains; i++)
		retains = t->points[i].weight != 0;
	return retains;
}

static bool has_untold(const struct trend *t)
{
	for (size_t i = 0; i < t->all; i++)
		if (is_untold(t, t->rows[i]))
			return true;
	return false;
}

static void write_curves(struct rep_emitter *emitter, const struct trend *t)
{
	static const struct rep_column measures[] = {
		{NULL, "first", REP_BYTES, 0},
		{NULL, "last", REP_BYTES, 0},
		{NULL, "change", REP_CHANGE_BYTES, 0},
		{NULL, "blocks", REP_CHANGE_COUNT, 0},
		{NULL, "steps up", REP_WORD, 0},
		{NULL, "curve", REP_WORD, 0},
	};
	struct rep_column columns[REP_MAX_COLUMNS];
	unsigned count = rep_growth_columns(t->request, columns);
	size_t most = t->request->limit ? (size_t)t->request->limit : t->all;
	memcpy(columns + count, measures, sizeof(measures));
	rep_headline(emitter, "What else changed: retained bytes, most change first");
	if (!has_untold(t)) {
		rep_prose(emitter, REP_PLAIN, "  nothing\n");
		return;
	}
	rep_table_begin(emitter, "rows", columns, count + sizeof(measures) / sizeof(measures[0]));
	size_t shown = 0, left_out = 0;
	for (size_t i = 0; i < t->all; i++) {
		if (!is_untold(t, t->rows[i]))
			continue;
		if (shown == most) {
			left_out++;
			continue;
		}
		shown++;
		write_curve_row(emitter, t, hg_series_at(t->series, t->rows[i]));
	}
	rep_table_end(emitter);
	rep_more_rows(emitter, left_out,
		t->request->by_path ? "paths" : rep_key_plural(t->request->key), "--limit 0");
}

static void write_point(struct rep_emitter *emitter, const struct trend *t,
	const struct hg_series_row *row, size_t moment)
{
	const struct hg_measure *point = &t->points[moment];
	rep_cell_number(emitter, moment);
	rep_growth_key_cells(emitter, t->request, row);
	rep_cell_number(emitter, point->blocks);
	rep_cell_number(emitter, point->bytes);
	rep_cell_number(emitter, point->retained_bytes);
	rep_cell_number(emitter, point->offheap_bytes);
	rep_cell_number(emitter, point->retained_offheap_bytes);
	rep_cell_number(emitter, row->grows);
	rep_growth_share_cell(emitter, row->growth_share);
	rep_cell_string(emitter, row->made_at);
	rep_cell_string(emitter, row->defined_at);
	rep_cell_number(emitter, row->number);
	rep_cell_string(emitter, row->held_by);
	rep_cell_known(emitter, row->part_of == UINT32_MAX ? HG_UNKNOWN : row->part_of);
	rep_row_end(emitter);
}

/* CSV and JSON: one row for every row of the series in every snapshot that has it. */
static void write_points(struct rep_emitter *emitter, const struct trend *t)
{
	static const struct rep_column measures[] = {
		{"blocks", NULL, REP_COUNT, 0},
		{"bytes", NULL, REP_BYTES, 0},
		{"retained_bytes", NULL, REP_BYTES, 0},
		{"offheap_bytes", NULL, REP_BYTES, 0},
		{"retained_offheap_bytes", NULL, REP_BYTES, 0},
		{"grows", NULL, REP_NUMBER, 0},
		{"growth_share", NULL, REP_CHANGE_COUNT, 0},
		{"made_at", NULL, REP_NAME, 0},
		{"defined_at", NULL, REP_NAME, REP_NOT_CSV},
		{"row", NULL, REP_NUMBER, REP_NOT_CSV},
		{"held_by", NULL, REP_NAME, REP_NOT_CSV},
		{"part_of", NULL, REP_NUMBER, REP_NOT_CSV},
	};
	struct rep_column columns[REP_MAX_COLUMNS] = {{"index", NULL, REP_NUMBER, 0}};
	static const struct hg_measure nothing;
	unsigned count = 1 + rep_growth_columns(t->request, columns + 1);
	memcpy(columns + count, measures, sizeof(measures));
	rep_table_begin(emitter, "rows", columns, count + sizeof(measures) / sizeof(measures[0]));
	for (size_t i = 0; i < t->shown && !rep_emitter_broken(emitter); i++) {
		hg_series_points(t->series, t->rows[i], t->points);
		for (size_t j = 0; j < t->moments; j++)
			if (memcmp(&t->points[j], &nothing, sizeof(nothing)) != 0)
				write_point(emitter, t, hg_series_at(t->series, t->rows[i]), j);
	}
	rep_table_end(emitter);
}

static void write_trend_head(struct rep_emitter *emitter, const struct trend *t)
{
	struct rep_text file = {0}, reason = {0};
	const char *first = NULL;
	for (size_t i = 0; i < t->moments; i++) {
		const struct hg_series_moment *moment = hg_series_moment_at(t->series, i);
		if (!*moment->partial)
			continue;
		first = first ? first : moment->partial;
		rep_prose(emitter, REP_BAD, "PARTIAL: %s: %s\n", rep_escaped(&file, moment->path),
			rep_escaped(&reason, moment->partial));
	}
	if (first)
		rep_value_string(emitter, "partial", NULL, REP_WORD, first);
	rep_value_string(emitter, "by", NULL, REP_WORD, rep_growth_key(t->request));
	rep_baseline_values(emitter, t->series, t->shown);
	if (hg_series_is_sorted(t->series))
		rep_prose(emitter, REP_PLAIN,
			"Sorted by time: they were given in another order "
			"(--keep-order keeps it).\n");
	rep_text_release(&file);
	rep_text_release(&reason);
}

static void write_trend(struct rep_context *context, const struct trend *t)
{
	struct rep_emitter *emitter = context->emitter;
	rep_document_begin(emitter, "trend");
	write_trend_head(emitter, t);
	write_moments(emitter, t);
	if (emitter->writer->for_people) {
		prose_growth(emitter, t);
		prose_leaks(emitter, t);
		write_curves(emitter, t);
	} else {
		write_points(emitter, t);
		rep_baseline_names(emitter, t->series, t->shown);
	}
	rep_document_end(emitter);
}

enum hg_status rep_trend(struct rep_context *context, const struct rep_growth_request *request)
{
	struct trend t = {.request = request,
		.series = request->series,
		.moments = hg_series_moments(request->series),
		.elapsed_ns = rep_growth_period(request->series)};
	BASE_TRY(rep_growth_rows(context, request, &t.rows, &t.shown, &t.all));
	t.points = calloc(t.moments + 1, sizeof(*t.points));
	enum hg_status status = HG_OK;
	if (t.points && list_leaks(&t))
		write_trend(context, &t);
	else
		status = rep_no_memory(context);
	free(t.rows);
	free(t.points);
	free(t.leaks);
	return status;
}
