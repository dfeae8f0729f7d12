/* What is alive of a trace over time, as a chart of areas by place of allocation. */
#include "report/trace/trace.h"

#include "report/common.h"
#include "report/outputs/area_chart.h"

#include <stdlib.h>
#include <string.h>

enum { CHART_POINTS = 450, MOST_BANDS = 10, TITLES = 3, CHART_MICROSECOND = 1000 };

/* Points are those of the bands, and before them the start, where nothing is alive. */
struct live_chart {
	struct rep_area_chart base; /* first: what Graphviz draws is found by it */
	struct rep_trace_context *context;
	const struct hg_trace_info *info;
	const struct hg_trace_bands *bands;
	uint64_t *numbers; /* of all arrays of the chart */
	bool has_rest;
};

static const struct hg_trace_band *rest_of_bands(const struct hg_trace_bands *bands)
{
	return bands->count && bands->rows[bands->count - 1]->is_rest
		       ? bands->rows[bands->count - 1]
		       : NULL;
}

static void fill_area_of_band(
	const struct live_chart *chart, const struct hg_trace_band *band, uint64_t *amounts)
{
	for (size_t i = 0; i < chart->bands->point_count; i++)
		amounts[i + 1] = rep_trace_bytes(chart->info, band->alive[i]);
}

/* Sums are those of what is drawn, each of which is rounded. */
static void fill_sums(const struct live_chart *chart, uint64_t *totals, uint64_t *all)
{
	const struct rep_area_chart *base = &chart->base;
	for (size_t i = 0; i < base->points; i++) {
		for (size_t area = 0; area <= base->count; area++)
			totals[i] += rep_chart_amounts(base, area)[i];
		all[i] = i ? rep_trace_bytes(chart->info, chart->bands->all[i - 1]) : 0;
	}
}

static enum hg_status fill_live_chart(struct live_chart *chart)
{
	struct rep_area_chart *base = &chart->base;
	const struct hg_trace_bands *bands = chart->bands;
	const struct hg_trace_band *rest = rest_of_bands(bands);
	base->points = bands->point_count + 1;
	base->count = bands->count - (rest != NULL);
	chart->numbers = calloc((base->count + 4) * base->points, sizeof(*chart->numbers));
	if (!chart->numbers)
		return base_no_memory(chart->context->error,
			(base->count + 4) * base->points * sizeof(*chart->numbers));
	uint64_t *totals = chart->numbers + (base->count + 1) * base->points;
	uint64_t *all = totals + base->points, *places = all + base->points, most = 0;
	for (size_t i = 0; i < bands->count; i++)
		fill_area_of_band(chart, bands->rows[i], chart->numbers + i * base->points);
	base->amounts = chart->numbers;
	base->totals = totals;
	base->beside = chart->context->filtered ? all : NULL;
	base->places = places;
	fill_sums(chart, totals, all);
	for (size_t i = 0; i < base->points; i++) {
		places[i] = i ? bands->times_us[i - 1] * CHART_MICROSECOND : 0;
		most = totals[i] > most ? totals[i] : most;
		most = base->beside && all[i] > most ? all[i] : most;
	}
	base->up = rep_axis_of_bytes(most);
	base->across = rep_axis_of_time(places[base->points - 1] ? places[base->points - 1] : 1);
	base->first_colour = 1;
	base->is_marked = true;
	return HG_OK;
}

/* "137.9 MB +- 3.3 MB" */
static void put_estimate(struct rep_text *text, const struct hg_trace_info *info, uint64_t samples)
{
	rep_text_size(text, rep_trace_bytes(info, samples));
	rep_text_put(text, " +- ");
	rep_text_size(text, rep_trace_error(info, samples));
}

static uint64_t alive_at_end(const struct hg_trace_bands *bands)
{
	uint64_t alive = 0;
	for (size_t i = 0; i < bands->count; i++)
		alive += bands->rows[i]->alive[bands->point_count - 1];
	return alive;
}

static void draw_live_titles(struct live_chart *chart)
{
	const struct hg_trace_info *info = chart->info;
	const struct hg_trace_bands *bands = chart->bands;
	struct rep_text line = {0};
	rep_chart_shown(&line,
		*info->executable ? rep_base_name(info->executable) : rep_base_name(info->path),
		REP_CHART_TITLE_COLUMNS);
	rep_text_put(&line, ": memory alive over time, by place of allocation");
	rep_chart_title(&chart->base, REP_CHART_BOLD, "13.5", REP_CHART_TEXT, &line);
	rep_text_put(&line, "At most ");
	put_estimate(&line, info, bands->peak);
	rep_text_printf(&line, ", %.3f s after the start; ", (double)bands->peak_us / 1e6);
	put_estimate(&line, info, alive_at_end(bands));
	rep_text_put(&line, " at the end");
	rep_chart_title(&chart->base, REP_CHART_PROPORTIONAL, "10.5", REP_CHART_TEXT, &line);
	rep_text_put(&line, "Estimates from samples: one word of ");
	rep_text_count(&line, rep_trace_bytes(info, 1) / info->word_bytes);
	if (chart->context->filtered)
		rep_text_put(&line, ". Areas are what the options select; the broken line is all "
				    "that is alive");
	rep_chart_title(&chart->base, REP_CHART_PROPORTIONAL, "10.5", REP_CHART_FAINT, &line);
	rep_text_release(&line);
}

static void draw_live_row(struct live_chart *chart, size_t area)
{
	const uint64_t *amounts = rep_chart_amounts(&chart->base, area);
	struct rep_chart_row row = {0};
	uint64_t most = 0;
	for (size_t i = 0; i < chart->base.points; i++)
		most = amounts[i] > most ? amounts[i] : most;
	if (area == chart->base.count)
		rep_text_put(&row.name, "all other places");
	else if (*chart->bands->rows[area]->name)
		rep_chart_shown(&row.name, chart->bands->rows[area]->name, REP_CHART_NAME_COLUMNS);
	else
		rep_text_put(&row.name, "(not told by the backtrace)");
	rep_text_size(&row.amounts[1], most);
	rep_text_size(&row.amounts[2], amounts[chart->base.points - 1]);
	rep_chart_legend_row(&chart->base, area, &row);
}

static bool draw_live_chart(struct rep_drawing *drawing)
{
	struct live_chart *chart = (struct live_chart *)drawing;
	struct rep_area_chart *base = &chart->base;
	struct rep_text across = {0};
	if (!rep_chart_begin(base))
		return false;
	draw_live_titles(chart);
	rep_text_printf(&across, "Time since the start, in %s", base->across.unit);
	bool drawn = rep_chart_draw(
		base, "Bytes alive, estimated (1 KB is 1024 B)", rep_text_string(&across));
	rep_text_release(&across);
	if (!drawn)
		return false;
	rep_chart_mark(base, chart->bands->peak_us * CHART_MICROSECOND, "peak");
	rep_chart_legend_head(base, "place of allocation", "", "at most", "at the end");
	for (size_t area = 0; area < base->count; area++)
		draw_live_row(chart, area);
	if (rep_chart_has_rest(base))
		draw_live_row(chart, base->count);
	rep_chart_end(base);
	return true;
}

enum hg_status rep_trace_chart(
	struct rep_trace_context *context, uint64_t points, const char *picture, FILE *stream)
{
	struct hg_trace_bands *bands;
	struct live_chart chart = {.base.base.is_placed = true,
		.context = context,
		.info = hg_trace_header(context->trace)};
	enum hg_status status = hg_list_trace_bands(
		context->trace, points ? points : CHART_POINTS, MOST_BANDS, &bands);
	if (status != HG_OK)
		return rep_trace_failed(context, status);
	chart.bands = bands;
	status = fill_live_chart(&chart);
	if (status == HG_OK) {
		rep_chart_measure(&chart.base, TITLES + 1,
			(unsigned)(bands->count + 1) * REP_CHART_LEGEND_LINE);
		status = rep_draw_apart(
			&chart.base.base, draw_live_chart, picture, stream, context->error);
	}
	rep_trace_note(context, &bands->losses);
	free(chart.numbers);
	hg_trace_bands_release(&bands);
	return status;
}
