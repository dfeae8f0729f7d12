/* What is alive or was allocated over the snapshots of a series, as a chart of areas by place. */
#include "report/trace/trace.h"

#include "report/common.h"
#include "report/outputs/area_chart.h"

#include <stdlib.h>
#include <string.h>

enum {
	TREND_WORD_BYTES = 8,
	MOST_PLACES = 10,
	TREND_TITLES = 3,
	EVENT_COLUMNS = 24,
	EVENT_LETTER = 6 /* points of a letter, and some between two names */
};

/* Words of what is counted. */
static const struct {
	const char *title, *heights;
} trend_charts[] = {
	[HG_SPACETIME_ALLOCATED] = {"memory allocated since the start",
		"Bytes allocated since the start (1 KB is 1024 B)"},
	[HG_SPACETIME_LIVE] = {"memory alive", "Bytes alive (1 KB is 1024 B)"},
	[HG_SPACETIME_BLOCKS] = {"blocks alive", "Blocks alive"},
};

struct trend_chart {
	struct rep_area_chart base; /* first: what Graphviz draws is found by it */
	struct rep_trace_context *context;
	const struct hg_spacetime_trend *trend;
	enum hg_spacetime_count count;
	size_t rows[MOST_PLACES]; /* of the trend; an area each */
	bool has_unknown;         /* the last area is of words without a place */
	uint64_t *numbers;        /* of all arrays of the chart */
	uint64_t *event_places;
};

static uint64_t point_amount(
	enum hg_spacetime_count count, const struct hg_spacetime_trend_point *point)
{
	switch (count) {
	case HG_SPACETIME_BLOCKS:
		return point->blocks;
	case HG_SPACETIME_ALLOCATED:
		return TREND_WORD_BYTES * point->allocated;
	default:
		return TREND_WORD_BYTES * point->words;
	}
}

/* The largest ever, in the order of that; what grows is not before it. */
static void choose_places(struct trend_chart *chart, size_t most)
{
	const struct hg_spacetime_trend *trend = chart->trend;
	for (size_t i = 0; i < trend->count; i++) {
		size_t at = chart->base.count;
		uint64_t amount = trend->rows[i]->most;
		while (at > 0 && trend->rows[chart->rows[at - 1]]->most < amount)
			at--;
		if (!amount || at >= most)
			continue;
		size_t kept = chart->base.count < most ? chart->base.count : most - 1;
		memmove(chart->rows + at + 1, chart->rows + at, (kept - at) * sizeof(*chart->rows));
		chart->rows[at] = i;
		chart->base.count = kept + 1;
	}
}

static void fill_unknown(struct trend_chart *chart, uint64_t *amounts)
{
	for (size_t i = 0; i < chart->base.points; i++)
		amounts[i] = TREND_WORD_BYTES * chart->trend->moments[i]->unknown;
}

static void fill_places(struct trend_chart *chart)
{
	struct rep_area_chart *base = &chart->base;
	size_t places = base->count - chart->has_unknown;
	uint64_t *rest = chart->numbers + base->count * base->points;
	uint64_t *totals = rest + base->points;
	if (chart->has_unknown)
		fill_unknown(chart, chart->numbers + places * base->points);
	for (size_t i = 0; i < chart->trend->count; i++) {
		const struct hg_spacetime_trend_row *row = chart->trend->rows[i];
		uint64_t *amounts = rest;
		for (size_t area = 0; area < places; area++)
			if (chart->rows[area] == i)
				amounts = chart->numbers + area * base->points;
		for (size_t j = 0; j < row->point_count; j++)
			amounts[row->points[j].snapshot] +=
				point_amount(chart->count, &row->points[j]);
	}
	for (size_t area = 0; area <= base->count; area++)
		for (size_t i = 0; i < base->points; i++)
			totals[i] += rep_chart_amounts(base, area)[i];
}

/* Times are those of a clock that starts with the program, unless it gave others. */
static bool are_trend_times_useful(const struct hg_spacetime_trend *trend)
{
	double last = 0;
	for (size_t i = 0; i < trend->moment_count; i++) {
		double time = trend->moments[i]->time;
		if (!(time >= last && time < 1e9))
			return false;
		last = time;
	}
	return trend->moment_count > 1 && last > trend->moments[0]->time;
}

/* Events stand at their time, or without times behind the snapshot that is before them. */
static void place_trend(struct trend_chart *chart, uint64_t *places)
{
	const struct hg_spacetime_trend *trend = chart->trend;
	struct rep_area_chart *base = &chart->base;
	bool has_times = are_trend_times_useful(trend);
	base->across = rep_axis_of_numbers(base->points);
	if (has_times) {
		for (size_t i = 0; i < base->points; i++)
			places[i] = (uint64_t)(trend->moments[i]->time * 1e9);
		base->across = rep_axis_of_time(places[base->points - 1]);
		base->places = places;
	}
	for (size_t i = 0; i < trend->event_count; i++) {
		const struct hg_spacetime_trend_event *event = trend->events[i];
		uint64_t before = event->snapshot ? event->snapshot - 1 : 0, at = before;
		if (has_times)
			at = event->time >= 0 && event->time < 1e9 ? (uint64_t)(event->time * 1e9)
								   : places[before];
		chart->event_places[i] = at < base->across.end ? at : base->across.end;
	}
}

static enum hg_status fill_trend_chart(struct trend_chart *chart)
{
	struct rep_area_chart *base = &chart->base;
	const struct hg_spacetime_trend *trend = chart->trend;
	uint64_t most = 0;
	base->points = trend->moment_count;
	base->is_marked = trend->event_count != 0;
	for (size_t i = 0; i < trend->moment_count && chart->count == HG_SPACETIME_LIVE; i++)
		chart->has_unknown |= trend->moments[i]->unknown != 0;
	choose_places(chart, MOST_PLACES - chart->has_unknown);
	base->count += chart->has_unknown;
	size_t arrays = base->count + 3;
	chart->numbers = calloc(arrays * base->points, sizeof(*chart->numbers));
	chart->event_places = calloc(trend->event_count + 1, sizeof(*chart->event_places));
	if (!chart->numbers || !chart->event_places)
		return base_no_memory(
			chart->context->error, arrays * base->points * sizeof(*chart->numbers));
	base->amounts = chart->numbers;
	base->totals = chart->numbers + (base->count + 1) * base->points;
	base->first_colour = base->count && !(chart->has_unknown && base->count == 1) &&
					     trend->rows[chart->rows[0]]->grows
				     ? 0
				     : 1;
	fill_places(chart);
	place_trend(chart, chart->numbers + (base->count + 2) * base->points);
	for (size_t i = 0; i < base->points; i++)
		most = base->totals[i] > most ? base->totals[i] : most;
	base->up = chart->count == HG_SPACETIME_BLOCKS ? rep_axis_of_counts(most)
						       : rep_axis_of_bytes(most);
	return HG_OK;
}

static void put_counted(struct rep_text *text, const struct trend_chart *chart, uint64_t amount)
{
	if (chart->count == HG_SPACETIME_BLOCKS)
		rep_text_count(text, amount);
	else
		rep_text_size(text, amount);
}

static void draw_trend_titles(struct trend_chart *chart)
{
	const struct hg_spacetime_trend *trend = chart->trend;
	const uint64_t *totals = chart->base.totals;
	unsigned growing = 0;
	struct rep_text line = {0};
	for (size_t i = 0; i < trend->count; i++)
		growing += trend->rows[i]->grows;
	rep_chart_shown(&line, rep_base_name(hg_trace_header(chart->context->trace)->path),
		REP_CHART_TITLE_COLUMNS);
	rep_text_printf(&line, ": %s, by place of allocation", trend_charts[chart->count].title);
	rep_chart_title(&chart->base, REP_CHART_BOLD, "13.5", REP_CHART_TEXT, &line);
	put_counted(&line, chart, totals[0]);
	rep_text_put(&line, " -> ");
	put_counted(&line, chart, totals[chart->base.points - 1]);
	rep_text_put(&line, " in ");
	rep_name_amount(&line, trend->moment_count, "snapshot", "snapshots");
	rep_chart_title(&chart->base, REP_CHART_PROPORTIONAL, "10.5", REP_CHART_TEXT, &line);
	if (growing)
		rep_name_amount(&line, growing, "place", "places");
	rep_text_put(&line, growing == 1 ? " grows at every step (bold)"
			    : growing    ? " grow at every step (bold)"
			    : trend->readable < 3
				    ? "Whether something grows at every step: it takes three "
				      "snapshots to tell"
				    : "Nothing grows at every step");
	rep_chart_title(&chart->base, REP_CHART_PROPORTIONAL, "10.5",
		growing ? REP_CHART_ALARM : REP_CHART_TEXT, &line);
	rep_text_release(&line);
}

/* Names that would be on each other are left out; their lines stay. */
static void draw_trend_events(struct trend_chart *chart)
{
	uint64_t free_from = 0;
	for (size_t i = 0; i < chart->trend->event_count; i++) {
		struct rep_text name = {0};
		rep_chart_shown(&name, chart->trend->events[i]->name, EVENT_COLUMNS);
		uint64_t x = rep_chart_across(&chart->base, chart->event_places[i]) / REP_FINE;
		uint64_t width = name.length * EVENT_LETTER;
		bool is_left = rep_chart_is_left(&chart->base, chart->event_places[i]);
		uint64_t from = is_left ? x : x > width ? x - width : 0;
		bool fits = from >= free_from;
		if (fits)
			free_from = from + width;
		else
			rep_text_clear(&name);
		rep_chart_mark(&chart->base, chart->event_places[i], rep_text_string(&name));
		rep_text_release(&name);
	}
}

static void draw_trend_row(struct trend_chart *chart, size_t area)
{
	const uint64_t *amounts = rep_chart_amounts(&chart->base, area);
	uint64_t most = 0;
	struct rep_chart_row row = {0};
	if (area == chart->base.count) {
		rep_text_put(&row.name, "all other places");
	} else if (chart->has_unknown && area + 1 == chart->base.count) {
		rep_text_put(&row.name, "(without a place of allocation)");
	} else {
		const struct hg_spacetime_trend_row *place = chart->trend->rows[chart->rows[area]];
		rep_chart_shown(&row.name, *place->location ? place->location : "(no place known)",
			REP_CHART_NAME_COLUMNS - sizeof(" (in C)"));
		rep_text_put(&row.name, place->in_c ? " (in C)" : "");
		row.is_bold = place->grows;
	}
	for (size_t i = 0; i < chart->base.points; i++)
		most = amounts[i] > most ? amounts[i] : most;
	put_counted(&row.amounts[0], chart, amounts[0]);
	put_counted(&row.amounts[1], chart, most);
	put_counted(&row.amounts[2], chart, amounts[chart->base.points - 1]);
	rep_chart_legend_row(&chart->base, area, &row);
}

static bool draw_trend_chart(struct rep_drawing *drawing)
{
	struct trend_chart *chart = (struct trend_chart *)drawing;
	struct rep_area_chart *base = &chart->base;
	struct rep_text across = {0};
	if (!rep_chart_begin(base))
		return false;
	draw_trend_titles(chart);
	if (base->places)
		rep_text_printf(&across, "CPU time of the program, in %s", base->across.unit);
	else
		rep_text_put(&across, "Snapshot, counted from 0");
	bool drawn =
		rep_chart_draw(base, trend_charts[chart->count].heights, rep_text_string(&across));
	rep_text_release(&across);
	if (!drawn)
		return false;
	draw_trend_events(chart);
	rep_chart_legend_head(base, "place of allocation", "first", "at most", "last");
	for (size_t area = 0; area < base->count; area++)
		draw_trend_row(chart, area);
	if (rep_chart_has_rest(base))
		draw_trend_row(chart, base->count);
	rep_chart_end(base);
	return true;
}

enum hg_status rep_series_chart(struct rep_trace_context *context, enum hg_spacetime_count count,
	const char *picture, FILE *stream)
{
	struct hg_spacetime_trend *trend;
	struct trend_chart chart = {
		.base.base.is_placed = true, .context = context, .count = count};
	enum hg_status status = hg_list_spacetime_trend(context->trace, count, &trend);
	if (status != HG_OK)
		return rep_trace_failed(context, status);
	chart.trend = trend;
	if (!trend->moment_count)
		status = base_fail(context->error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"there is no snapshot to draw a chart of");
	if (status == HG_OK)
		status = fill_trend_chart(&chart);
	if (status == HG_OK) {
		rep_chart_measure(&chart.base, TREND_TITLES + 1,
			(unsigned)(chart.base.count + 2) * REP_CHART_LEGEND_LINE);
		status = rep_draw_apart(
			&chart.base.base, draw_trend_chart, picture, stream, context->error);
	}
	rep_trace_note(context, &trend->losses);
	free(chart.numbers);
	free(chart.event_places);
	hg_spacetime_trend_release(&trend);
	return status;
}
