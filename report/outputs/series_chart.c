/*
 * A chart of a series of snapshots: areas stacked by path or another key over time, and below them
 * a legend that names the rows, their growth and where they are made.
 */
#include "report/outputs/outputs.h"

#include "report/common.h"
#include "report/growth/areas.h"
#include "report/growth/growth.h"
#include "report/outputs/area_chart.h"
#include "report/paths.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	LEGEND_SECOND_LINE = 14,
	NOTE_COLUMNS = 160, /* of letters 0.6 * 9 points wide */
	MOST_PARTIAL = 3    /* lines about partial snapshots */
};

enum { NS_IN_SECOND = 1000000000 };

struct series_chart {
	struct rep_area_chart base; /* first: what Graphviz draws is found by it */
	struct rep_context *context;
	const struct rep_growth_request *request;
	struct rep_areas areas;
	uint64_t *times;  /* of snapshots since the first; NULL: across are their numbers */
	unsigned partial; /* snapshots that are */
	unsigned growing; /* rows that grow */
};

static const struct hg_series_moment *moment_of(const struct series_chart *chart, size_t number)
{
	return hg_series_moment_at(chart->request->series, number);
}

/* All times are known, none is before the one in front of it, and some are later. */
static bool are_times_useful(const struct hg_series *series)
{
	size_t count = hg_series_moments(series);
	for (size_t i = 0; i < count; i++) {
		uint64_t now = hg_series_moment_at(series, i)->time_ns;
		if (now == HG_UNKNOWN || (i && now < hg_series_moment_at(series, i - 1)->time_ns))
			return false;
	}
	return rep_growth_period(series) > 0;
}

static enum hg_status choose_axes(struct series_chart *chart)
{
	struct rep_area_chart *base = &chart->base;
	const struct hg_series *series = chart->request->series;
	size_t count = chart->areas.moments;
	uint64_t most = 0;
	for (size_t i = 0; i < count; i++)
		most = chart->areas.totals[i] > most ? chart->areas.totals[i] : most;
	base->up = rep_axis_of_bytes(most);
	base->points = count;
	base->across = rep_axis_of_numbers(count);
	if (!are_times_useful(series))
		return HG_OK;
	base->across = rep_axis_of_time(rep_growth_period(series));
	chart->times = calloc(count, sizeof(*chart->times));
	if (!chart->times)
		return rep_no_memory(chart->context);
	for (size_t i = 0; i < count; i++)
		chart->times[i] = moment_of(chart, i)->time_ns - moment_of(chart, 0)->time_ns;
	base->places = chart->times;
	return HG_OK;
}

static const struct hg_series_row *row_of_area(const struct series_chart *chart, size_t area)
{
	return hg_series_at(chart->request->series, chart->areas.rows[area]);
}

/* What grows, or is one leak with such, is explained in a line of its own. */
static bool has_note(const struct series_chart *chart, size_t area)
{
	const struct hg_series_row *row = row_of_area(chart, area);
	return row->grows || row->part_of != UINT32_MAX;
}

/* How many lines there are decides how high the chart is. */
static void measure_chart(struct series_chart *chart)
{
	const struct hg_series *series = chart->request->series;
	unsigned legend = REP_CHART_LEGEND_LINE;
	for (size_t i = 0; i < chart->areas.moments; i++)
		chart->partial += *moment_of(chart, i)->partial != '\0';
	for (size_t i = 0; i < hg_series_count(series); i++)
		chart->growing += hg_series_at(series, i)->grows;
	for (size_t i = 0; i < chart->areas.count; i++)
		legend += REP_CHART_LEGEND_LINE + (has_note(chart, i) ? LEGEND_SECOND_LINE : 0u);
	if (rep_chart_has_rest(&chart->base))
		legend += REP_CHART_LEGEND_LINE;
	unsigned notes = chart->partial > MOST_PARTIAL ? MOST_PARTIAL + 1 : chart->partial;
	rep_chart_measure(&chart->base, 4 + notes, legend);
}

static void put_moment_time(struct rep_text *text, uint64_t time_ns, const char *format)
{
	char buffer[64];
	struct tm parts;
	time_t seconds = (time_t)(time_ns / NS_IN_SECOND);
	if (gmtime_r(&seconds, &parts) && strftime(buffer, sizeof(buffer), format, &parts))
		rep_text_put(text, buffer);
}

/* ", 2026-01-31 12:00:05 to 14:30:00 UTC" */
static void put_dates(struct rep_text *text, const struct series_chart *chart)
{
	enum { DAY = 86400 };
	size_t last = chart->areas.moments - 1;
	for (size_t i = 0; i <= last; i++)
		if (moment_of(chart, i)->time_ns == HG_UNKNOWN)
			return;
	uint64_t from = moment_of(chart, 0)->time_ns, to = moment_of(chart, last)->time_ns;
	rep_text_put(text, ", ");
	put_moment_time(text, from, "%Y-%m-%d %H:%M:%S");
	if (from / NS_IN_SECOND != to / NS_IN_SECOND) {
		bool same_day = from / NS_IN_SECOND / DAY == to / NS_IN_SECOND / DAY;
		rep_text_put(text, " to ");
		put_moment_time(text, to, same_day ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S");
	}
	rep_text_put(text, " UTC");
}

/* Which of the rows grow is what the chart is made for. */
static void put_verdict(struct rep_text *text, const struct series_chart *chart)
{
	const struct rep_growth_request *request = chart->request;
	if (chart->areas.moments < 3) {
		rep_text_put(text, "Whether something grows at every step: it takes three "
				   "snapshots to tell");
		return;
	}
	if (chart->growing == 0) {
		rep_text_put(text, "Nothing grows at every step");
		return;
	}
	rep_name_amount(text, chart->growing, rep_growth_key(request),
		request->by_path ? "paths" : rep_key_plural(request->key));
	rep_text_put(text, chart->growing == 1 ? " grows at every step, most likely a leak (bold)"
					       : " grow at every step, most likely leaks (bold)");
	if (chart->areas.growing_left)
		rep_text_printf(text, "; %zu of them not drawn apart", chart->areas.growing_left);
}

static void draw_partial_notes(struct series_chart *chart)
{
	unsigned told = 0;
	for (size_t i = 0; i < chart->areas.moments && told <= MOST_PARTIAL; i++) {
		const struct hg_series_moment *moment = moment_of(chart, i);
		struct rep_text note = {0}, line = {0};
		if (!*moment->partial)
			continue;
		if (told++ < MOST_PARTIAL)
			rep_text_printf(&note, "PARTIAL: %s: %s", rep_base_name(moment->path),
				moment->partial);
		else
			rep_text_printf(&note, "PARTIAL: %u more", chart->partial - MOST_PARTIAL);
		rep_chart_shown(&line, rep_text_string(&note), REP_CHART_NAME_COLUMNS + 40);
		rep_chart_title(&chart->base, REP_CHART_FIXED, "9.75", REP_CHART_ALARM, &line);
		rep_text_release(&note);
		rep_text_release(&line);
	}
}

static void draw_titles(struct series_chart *chart)
{
	const struct hg_series_moment *first = moment_of(chart, 0);
	const struct rep_areas *areas = &chart->areas;
	const char *what = areas->retained                         ? "held by roots"
			   : chart->request->key == HG_BY_FUNCTION ? "in closures"
								   : "in blocks";
	struct rep_text line = {0};
	rep_chart_shown(&line, rep_base_name(*first->program ? first->program : first->path),
		REP_CHART_TITLE_COLUMNS);
	rep_text_printf(&line, ": memory by %s in ", rep_growth_key(chart->request));
	rep_name_amount(&line, areas->moments, "snapshot", "snapshots");
	put_dates(&line, chart);
	rep_chart_title(&chart->base, REP_CHART_BOLD, "13.5", REP_CHART_TEXT, &line);
	if (areas->moments > 1) {
		rep_growth_line(&line, what, rep_growth_period(chart->request->series),
			areas->totals[0], areas->totals[areas->moments - 1]);
	} else {
		rep_text_size(&line, areas->totals[0]);
		rep_text_printf(&line, " %s", what);
	}
	rep_chart_title(&chart->base, REP_CHART_PROPORTIONAL, "10.5", REP_CHART_TEXT, &line);
	put_verdict(&line, chart);
	rep_chart_title(&chart->base, REP_CHART_PROPORTIONAL, "10.5",
		chart->growing ? REP_CHART_ALARM : REP_CHART_TEXT, &line);
	rep_text_release(&line);
	draw_partial_notes(chart);
}

/* What the heights mean. */
static void put_height_meaning(struct rep_text *line, const struct series_chart *chart)
{
	const char *key = rep_growth_key(chart->request);
	bool in_heap = chart->context->weight == HG_WEIGHT_HEAP;
	if (chart->areas.retained)
		rep_text_printf(line, "Bytes retained by each %s, %s", key,
			in_heap ? "in the heap alone" : "in the heap and outside");
	else
		rep_text_printf(line, "Own bytes of blocks by %s, unreachable ones too, %s", key,
			in_heap ? "in the heap alone" : "in the heap and outside");
	rep_text_put(line, " (1 KB is 1024 B)");
}

static bool draw_growth_areas(struct series_chart *chart)
{
	struct rep_text height = {0}, across = {0};
	put_height_meaning(&height, chart);
	if (chart->times)
		rep_text_printf(
			&across, "Time since the first snapshot, in %s", chart->base.across.unit);
	else
		rep_text_put(&across, "Snapshot, counted from 0");
	bool drawn =
		rep_chart_draw(&chart->base, rep_text_string(&height), rep_text_string(&across));
	rep_text_release(&height);
	rep_text_release(&across);
	return drawn;
}

/* Of one snapshot there is but one amount, and it stands last. */
static void put_legend_amounts(
	struct rep_text *amounts, const struct series_chart *chart, size_t area)
{
	const uint64_t *points = rep_area_amounts(&chart->areas, area);
	uint64_t first = points[0], last = points[chart->areas.moments - 1];
	if (chart->areas.moments == 1) {
		rep_text_size(&amounts[2], last);
		return;
	}
	rep_text_size(&amounts[0], first);
	rep_text_size(&amounts[1], last);
	if (first == last)
		rep_text_size(&amounts[2], 0);
	else
		rep_growth_change(&amounts[2], first, last);
}

/* The names of a row in one. */
static void put_row_name(struct rep_text *text, const struct series_chart *chart, size_t area)
{
	const struct hg_series_row *row = row_of_area(chart, area);
	struct rep_text name = {0};
	if (!chart->request->by_path && chart->request->key == HG_BY_TAG)
		rep_text_put(&name, "tag ");
	rep_text_printf(&name, "%s%s%s", row->kind, *row->kind && *row->name ? " " : "", row->name);
	rep_chart_shown(
		text, name.length ? rep_text_string(&name) : "(unknown)", REP_CHART_NAME_COLUMNS);
	rep_text_release(&name);
}

/* "in step with 1: " */
static void put_leader(struct rep_text *text, const struct series_chart *chart, uint32_t number)
{
	rep_text_put(text, "in step with ");
	for (size_t i = 0; i < chart->areas.count; i++)
		if (row_of_area(chart, i)->number == number)
			rep_text_number(text, i + 1);
	rep_text_put(text, ": ");
}

/* Its share of the growth, how fast it is, and where it comes from. */
static void draw_growing_note(struct series_chart *chart, size_t area)
{
	const struct hg_series_row *row = row_of_area(chart, area);
	const uint64_t *amounts = rep_area_amounts(&chart->areas, area);
	struct rep_text note = {0}, line = {0}, places = {0};
	if (row->grows)
		rep_text_put(&note, chart->areas.retained ? "grows at every step: "
							  : "grows at every step, retains ");
	else
		put_leader(&note, chart, row->part_of);
	rep_growth_shares(&note, row->alone_share, row->growth_share);
	rep_growth_rate(&note, rep_growth_period(chart->request->series), amounts[0],
		amounts[chart->areas.moments - 1]);
	rep_path_other_places(&places, row->made_at, row->defined_at);
	if (places.length)
		rep_text_printf(&note, "; made at %s", rep_text_string(&places));
	if (*row->held_by)
		rep_text_printf(&note, "; held by %s", row->held_by);
	if (*row->defined_at)
		rep_text_printf(&note, "; %s %s", rep_path_definition(row->held_by, row->name),
			row->defined_at);
	rep_chart_shown(&line, rep_text_string(&note), NOTE_COLUMNS);
	chart->base.line += LEGEND_SECOND_LINE;
	rep_xdot_font(&chart->base.xdot, REP_CHART_FIXED, "9", REP_CHART_ALARM);
	rep_chart_put(&chart->base, REP_CHART_NAME_LEFT, REP_ALIGN_LEFT, &line);
	rep_text_release(&places);
	rep_text_release(&note);
	rep_text_release(&line);
}

static void draw_growth_row(struct series_chart *chart, size_t area)
{
	bool is_rest = area == chart->areas.count;
	struct rep_chart_row row = {
		.is_bold = !is_rest && row_of_area(chart, area)->grows,
	};
	if (is_rest)
		rep_text_put(&row.name, chart->areas.count ? "the rest" : "all of it");
	else
		put_row_name(&row.name, chart, area);
	put_legend_amounts(row.amounts, chart, area);
	rep_chart_legend_row(&chart->base, area, &row);
	if (!is_rest && has_note(chart, area))
		draw_growing_note(chart, area);
}

static void draw_growth_legend(struct series_chart *chart)
{
	bool is_series = chart->areas.moments > 1;
	rep_chart_legend_head(&chart->base, rep_growth_key(chart->request),
		is_series ? "first" : "", is_series ? "last" : "", is_series ? "change" : "");
	for (size_t area = 0; area < chart->areas.count; area++)
		draw_growth_row(chart, area);
	if (rep_chart_has_rest(&chart->base))
		draw_growth_row(chart, chart->areas.count);
}

static bool draw_series_chart(struct rep_drawing *drawing)
{
	struct series_chart *chart = (struct series_chart *)drawing;
	if (!rep_chart_begin(&chart->base))
		return false;
	draw_titles(chart);
	if (!draw_growth_areas(chart))
		return false;
	draw_growth_legend(chart);
	rep_chart_end(&chart->base);
	return true;
}

enum hg_status rep_trend_chart(struct rep_context *context,
	const struct rep_growth_request *request, const char *picture, FILE *stream)
{
	struct series_chart chart = {
		.base.base.is_placed = true, .context = context, .request = request};
	BASE_TRY(rep_choose_areas(context, request, &chart.areas));
	enum hg_status status = choose_axes(&chart);
	chart.base.count = chart.areas.count;
	chart.base.amounts = chart.areas.amounts;
	chart.base.totals = chart.areas.totals;
	/* The first colour is that of an alarm, which has to have a reason. */
	chart.base.first_colour = chart.areas.count && row_of_area(&chart, 0)->grows ? 0 : 1;
	measure_chart(&chart);
	if (status == HG_OK)
		status = rep_draw_apart(
			&chart.base.base, draw_series_chart, picture, stream, context->error);
	free(chart.times);
	rep_areas_release(&chart.areas);
	return status;
}
