/*
 * A chart of a series of snapshots, by Graphviz: areas stacked by path or another key over time,
 * with axes, and below them a legend that names the rows, their growth and where they are made.
 *
 * Graphviz places nothing here: the graph is one node that cannot be seen, of the size of the
 * chart, and what is drawn are operations of xdot in the background of the graph.
 */
#include "report/outputs/outputs.h"

#include "report/common.h"
#include "report/growth/areas.h"
#include "report/growth/growth.h"
#include "report/outputs/axis.h"
#include "report/outputs/drawing.h"
#include "report/outputs/xdot.h"
#include "report/paths.h"
#include "report/writers/fit.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Points, 1280 pixels being 960 of them, from the upper left corner; letters have 12 pixels or
 * more. */
enum {
	CHART_WIDTH = 960,
	MARGIN = 16,
	TITLE_LINE = 18,
	PLOT_LEFT = 82,
	PLOT_RIGHT = 916,
	PLOT_HEIGHT = 330,
	AXIS_HEIGHT = 56,
	LEGEND_LINE = 17,
	LEGEND_SECOND_LINE = 14,
	NAME_LEFT = 58,
	FIRST_RIGHT = 786,
	LAST_RIGHT = 862,
	CHANGE_RIGHT = 944,
	NAME_COLUMNS = 108, /* of letters 0.6 * 9.75 points wide */
	NOTE_COLUMNS = 160, /* of letters 0.6 * 9 points wide */
	TITLE_COLUMNS = 50,
	MOST_PARTIAL = 3,   /* lines about partial snapshots */
	MOST_DOTS = 60,     /* snapshots that are marked on the sum */
	LEAST_LABELLED = 11 /* height of an area that has its number beside it */
};

enum { NS_IN_SECOND = 1000000000 };

#define TEXT_COLOUR "#1c1f22"
#define FAINT_COLOUR "#5b6770"
#define ALARM_COLOUR "#a3281a"
#define REST_COLOUR "#c3c8cc"
#define PROPORTIONAL "Helvetica"
#define BOLD "Helvetica-Bold"
#define FIXED_WIDTH "Courier"

/* Told apart by colour-blind people, too: neighbours differ in how light they are. */
static const char *const area_colours[REP_MOST_AREAS] = {"#d55e00", "#0072b2", "#e69f00", "#56b4e9",
	"#117733", "#cc79a7", "#332288", "#ddcc77", "#44aa99", "#882255"};

struct series_chart {
	struct rep_drawing base;
	struct rep_context *context;
	const struct rep_growth_request *request;
	struct rep_areas areas;
	struct rep_xdot xdot;
	struct rep_axis across, up;
	bool has_times;   /* across is time */
	unsigned partial; /* snapshots that are */
	unsigned growing; /* rows that grow */
	unsigned plot_top;
	unsigned line; /* where the next line of text stands */
};

/* In the line that is next. */
static void put_in_line(
	struct series_chart *chart, unsigned x, enum rep_align align, const struct rep_text *string)
{
	rep_xdot_string(&chart->xdot, (uint64_t)x * REP_FINE, (uint64_t)chart->line * REP_FINE,
		align, rep_text_string(string));
}

/* Text of any bytes as one that can be seen, without its middle if it is long. */
static void add_shown(struct rep_text *text, const char *name, size_t columns)
{
	struct rep_text shown = {0};
	rep_text_escape_terminal(&shown, name, strlen(name));
	rep_fit_cut(text, rep_text_string(&shown), shown.length, columns, 0, "...");
	rep_text_release(&shown);
}

static uint64_t part_of_length(uint64_t value, uint64_t whole, uint64_t length)
{
	__extension__ unsigned __int128 scaled = value;
	return whole ? (uint64_t)(scaled * length / whole) : 0;
}

static uint64_t x_of(const struct series_chart *chart, uint64_t at)
{
	uint64_t length = (uint64_t)(PLOT_RIGHT - PLOT_LEFT) * REP_FINE;
	return (uint64_t)PLOT_LEFT * REP_FINE + part_of_length(at, chart->across.end, length);
}

static uint64_t y_of(const struct series_chart *chart, uint64_t bytes)
{
	uint64_t length = (uint64_t)PLOT_HEIGHT * REP_FINE;
	return (uint64_t)chart->plot_top * REP_FINE + length -
	       part_of_length(bytes, chart->up.end, length);
}

static const struct hg_series_moment *moment_of(const struct series_chart *chart, size_t number)
{
	return hg_series_moment_at(chart->request->series, number);
}

/* The edges of what stands for a snapshot; they differ only where there is but one. */
static void find_edges(
	const struct series_chart *chart, size_t moment, uint64_t *left, uint64_t *right)
{
	uint64_t third = (uint64_t)(PLOT_RIGHT - PLOT_LEFT) * REP_FINE / 3;
	if (chart->areas.moments == 1) {
		*left = (uint64_t)PLOT_LEFT * REP_FINE + third;
		*right = *left + third;
		return;
	}
	*left = *right = x_of(chart,
		chart->has_times ? moment_of(chart, moment)->time_ns - moment_of(chart, 0)->time_ns
				 : moment);
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

static void choose_axes(struct series_chart *chart)
{
	const struct hg_series *series = chart->request->series;
	uint64_t most = 0;
	for (size_t i = 0; i < chart->areas.moments; i++)
		most = chart->areas.totals[i] > most ? chart->areas.totals[i] : most;
	chart->up = rep_axis_of_bytes(most);
	chart->has_times = are_times_useful(series);
	chart->across = chart->has_times ? rep_axis_of_time(rep_growth_period(series))
					 : rep_axis_of_numbers(chart->areas.moments);
}

static bool has_rest(const struct series_chart *chart)
{
	const uint64_t *rest = rep_area_amounts(&chart->areas, chart->areas.count);
	for (size_t i = 0; i < chart->areas.moments; i++)
		if (rest[i])
			return true;
	return false;
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
	unsigned legend = LEGEND_LINE;
	for (size_t i = 0; i < chart->areas.moments; i++)
		chart->partial += *moment_of(chart, i)->partial != '\0';
	for (size_t i = 0; i < hg_series_count(series); i++)
		chart->growing += hg_series_at(series, i)->grows;
	for (size_t i = 0; i < chart->areas.count; i++)
		legend += has_note(chart, i) ? LEGEND_LINE + LEGEND_SECOND_LINE : LEGEND_LINE;
	if (has_rest(chart))
		legend += LEGEND_LINE;
	unsigned notes = chart->partial > MOST_PARTIAL ? MOST_PARTIAL + 1 : chart->partial;
	chart->plot_top = MARGIN + (4 + notes) * TITLE_LINE + MARGIN;
	chart->xdot.height = chart->plot_top + PLOT_HEIGHT + AXIS_HEIGHT + legend + MARGIN;
	/* The middle is in whole points. */
	chart->xdot.height += chart->xdot.height % 2;
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
	rep_xdot_font(&chart->xdot, FIXED_WIDTH, "9.75", ALARM_COLOUR);
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
		add_shown(&line, rep_text_string(&note), NAME_COLUMNS + 40);
		put_in_line(chart, MARGIN, REP_ALIGN_LEFT, &line);
		chart->line += TITLE_LINE;
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
	add_shown(&line, rep_base_name(*first->program ? first->program : first->path),
		TITLE_COLUMNS);
	rep_text_printf(&line, ": memory by %s in ", rep_growth_key(chart->request));
	rep_name_amount(&line, areas->moments, "snapshot", "snapshots");
	put_dates(&line, chart);
	chart->line = MARGIN + TITLE_LINE - 4;
	rep_xdot_font(&chart->xdot, BOLD, "13.5", TEXT_COLOUR);
	put_in_line(chart, MARGIN, REP_ALIGN_LEFT, &line);
	chart->line += TITLE_LINE;
	rep_text_clear(&line);
	if (areas->moments > 1) {
		rep_growth_line(&line, what, rep_growth_period(chart->request->series),
			areas->totals[0], areas->totals[areas->moments - 1]);
	} else {
		rep_text_size(&line, areas->totals[0]);
		rep_text_printf(&line, " %s", what);
	}
	rep_xdot_font(&chart->xdot, PROPORTIONAL, "10.5", TEXT_COLOUR);
	put_in_line(chart, MARGIN, REP_ALIGN_LEFT, &line);
	chart->line += TITLE_LINE;
	rep_text_clear(&line);
	put_verdict(&line, chart);
	rep_xdot_font(
		&chart->xdot, PROPORTIONAL, "10.5", chart->growing ? ALARM_COLOUR : TEXT_COLOUR);
	put_in_line(chart, MARGIN, REP_ALIGN_LEFT, &line);
	chart->line += TITLE_LINE;
	rep_text_release(&line);
	draw_partial_notes(chart);
}

/* What the heights mean, above the axis. */
static void draw_height_meaning(struct series_chart *chart)
{
	const char *key = rep_growth_key(chart->request);
	bool in_heap = chart->context->weight == HG_WEIGHT_HEAP;
	struct rep_text line = {0};
	if (chart->areas.retained)
		rep_text_printf(&line, "Bytes retained by each %s, %s", key,
			in_heap ? "in the heap alone" : "in the heap and outside");
	else
		rep_text_printf(&line, "Own bytes of blocks by %s, unreachable ones too, %s", key,
			in_heap ? "in the heap alone" : "in the heap and outside");
	rep_text_put(&line, " (1 KB is 1024 B)");
	chart->line = chart->plot_top - 14;
	rep_xdot_font(&chart->xdot, PROPORTIONAL, "9.75", FAINT_COLOUR);
	put_in_line(chart, MARGIN, REP_ALIGN_LEFT, &line);
	rep_text_release(&line);
}

/* Over the areas, so that their heights can be read. */
static void draw_height_marks(struct series_chart *chart)
{
	uint64_t left = (uint64_t)PLOT_LEFT * REP_FINE, right = (uint64_t)PLOT_RIGHT * REP_FINE;
	rep_xdot_style(&chart->xdot, "setlinewidth(0.75)");
	for (unsigned i = 0; i < chart->up.count; i++) {
		uint64_t y = y_of(chart, chart->up.ticks[i].at);
		rep_xdot_colour(&chart->xdot, i ? "#00000026" : FAINT_COLOUR, "#000000");
		rep_xdot_line(&chart->xdot, left, y, right, y);
		rep_xdot_font(&chart->xdot, PROPORTIONAL, "9.75", TEXT_COLOUR);
		rep_xdot_string(&chart->xdot, left - 8 * REP_FINE, y + 7 * REP_FINE / 2,
			REP_ALIGN_RIGHT, chart->up.ticks[i].label);
	}
}

static void draw_time_marks(struct series_chart *chart)
{
	uint64_t bottom = y_of(chart, 0);
	struct rep_text line = {0};
	rep_xdot_font(&chart->xdot, PROPORTIONAL, "9.75", TEXT_COLOUR);
	for (unsigned i = 0; i < chart->across.count; i++) {
		uint64_t x = x_of(chart, chart->across.ticks[i].at);
		if (chart->areas.moments == 1)
			x = (uint64_t)(PLOT_LEFT + PLOT_RIGHT) * REP_FINE / 2;
		rep_xdot_line(&chart->xdot, x, bottom, x, bottom + 5 * REP_FINE);
		rep_xdot_string(&chart->xdot, x, bottom + 17 * REP_FINE, REP_ALIGN_CENTRE,
			chart->across.ticks[i].label);
	}
	if (chart->has_times)
		rep_text_printf(&line, "Time since the first snapshot, in %s", chart->across.unit);
	else
		rep_text_put(&line, "Snapshot, counted from 0");
	rep_xdot_font(&chart->xdot, PROPORTIONAL, "9.75", FAINT_COLOUR);
	chart->line = chart->plot_top + PLOT_HEIGHT + 33;
	put_in_line(chart, (PLOT_LEFT + PLOT_RIGHT) / 2, REP_ALIGN_CENTRE, &line);
	rep_text_release(&line);
}

static const char *colour_of_area(const struct series_chart *chart, size_t area)
{
	/* The first is the colour of an alarm, which has to have a reason. */
	size_t first = chart->areas.count && row_of_area(chart, 0)->grows ? 0 : 1;
	return area < chart->areas.count ? area_colours[(first + area) % REP_MOST_AREAS]
					 : REST_COLOUR;
}

/* From 'below', what lies under it in each snapshot, to itself on top of that. */
static void draw_area(struct series_chart *chart, size_t area, uint64_t *below)
{
	const uint64_t *amounts = rep_area_amounts(&chart->areas, area);
	size_t count = chart->areas.moments;
	uint64_t left, right;
	rep_xdot_colour(&chart->xdot, colour_of_area(chart, area), colour_of_area(chart, area));
	rep_xdot_begin(&chart->xdot, 'P', 4 * count);
	for (size_t i = 0; i < count; i++) {
		find_edges(chart, i, &left, &right);
		rep_xdot_point(&chart->xdot, left, y_of(chart, below[i] + amounts[i]));
		rep_xdot_point(&chart->xdot, right, y_of(chart, below[i] + amounts[i]));
	}
	for (size_t i = count; i-- > 0;) {
		find_edges(chart, i, &left, &right);
		rep_xdot_point(&chart->xdot, right, y_of(chart, below[i]));
		rep_xdot_point(&chart->xdot, left, y_of(chart, below[i]));
	}
	for (size_t i = 0; i < count; i++)
		below[i] += amounts[i];
}

/* The number that an area has in the legend, right of where it ends. */
static void draw_area_number(struct series_chart *chart, size_t area, const uint64_t *below)
{
	size_t last = chart->areas.moments - 1;
	uint64_t amount = rep_area_amounts(&chart->areas, area)[last], left, right;
	uint64_t top = y_of(chart, below[last]), bottom = y_of(chart, below[last] - amount);
	char number[32];
	struct rep_text text = rep_text_over(number, sizeof(number));
	if (bottom - top < LEAST_LABELLED * REP_FINE)
		return;
	if (area < chart->areas.count)
		rep_text_number(&text, area + 1);
	else
		rep_text_put(&text, "rest");
	find_edges(chart, last, &left, &right);
	rep_xdot_font(&chart->xdot, BOLD, "9.75", TEXT_COLOUR);
	rep_xdot_string(&chart->xdot, right + 8 * REP_FINE, (top + bottom) / 2 + 7 * REP_FINE / 2,
		REP_ALIGN_LEFT, number);
}

/* The sum, with a dot at each snapshot. */
static void draw_sum(struct series_chart *chart)
{
	size_t count = chart->areas.moments;
	uint64_t left, right;
	rep_xdot_colour(&chart->xdot, TEXT_COLOUR, TEXT_COLOUR);
	rep_xdot_style(&chart->xdot, "setlinewidth(1)");
	rep_xdot_begin(&chart->xdot, 'L', 2 * count);
	for (size_t i = 0; i < count; i++) {
		find_edges(chart, i, &left, &right);
		rep_xdot_point(&chart->xdot, left, y_of(chart, chart->areas.totals[i]));
		rep_xdot_point(&chart->xdot, right, y_of(chart, chart->areas.totals[i]));
	}
	for (size_t i = 0; i < count && count > 1 && count <= MOST_DOTS; i++) {
		find_edges(chart, i, &left, &right);
		rep_xdot_dot(&chart->xdot, left, y_of(chart, chart->areas.totals[i]));
	}
}

/* What grows stands on top, so that what is under it is seen not to grow. */
static bool draw_areas(struct series_chart *chart)
{
	uint64_t *below = calloc(chart->areas.moments, sizeof(*below));
	if (!below)
		return false;
	rep_xdot_style(&chart->xdot, "setlinewidth(0.25)");
	for (size_t area = chart->areas.count + 1; area-- > 0;) {
		if (area == chart->areas.count && !has_rest(chart))
			continue;
		draw_area(chart, area, below);
		draw_area_number(chart, area, below);
	}
	free(below);
	draw_height_marks(chart);
	draw_sum(chart);
	draw_time_marks(chart);
	return true;
}

static void draw_legend_number(
	struct series_chart *chart, unsigned right, uint64_t from, uint64_t to, bool is_change)
{
	struct rep_text text = {0};
	if (is_change && from != to)
		rep_growth_change(&text, from, to);
	else
		rep_text_size(&text, is_change ? 0 : to);
	put_in_line(chart, right, REP_ALIGN_RIGHT, &text);
	rep_text_release(&text);
}

static void draw_legend_amounts(struct series_chart *chart, size_t area)
{
	const uint64_t *amounts = rep_area_amounts(&chart->areas, area);
	uint64_t first = amounts[0], last = amounts[chart->areas.moments - 1];
	if (chart->areas.moments > 1) {
		draw_legend_number(chart, FIRST_RIGHT, 0, first, false);
		draw_legend_number(chart, LAST_RIGHT, 0, last, false);
		draw_legend_number(chart, CHANGE_RIGHT, first, last, true);
	} else {
		draw_legend_number(chart, CHANGE_RIGHT, 0, last, false);
	}
}

static void draw_swatch(struct series_chart *chart, size_t area)
{
	uint64_t left = (uint64_t)MARGIN * REP_FINE, right = left + 12 * REP_FINE;
	uint64_t bottom = (uint64_t)chart->line * REP_FINE + REP_FINE, top = bottom - 11 * REP_FINE;
	rep_xdot_colour(&chart->xdot, colour_of_area(chart, area), colour_of_area(chart, area));
	rep_xdot_box(&chart->xdot, left, top, right, bottom);
}

/* The names of a row in one. */
static void put_row_name(struct rep_text *text, const struct series_chart *chart, size_t area)
{
	const struct hg_series_row *row = row_of_area(chart, area);
	struct rep_text name = {0};
	if (!chart->request->by_path && chart->request->key == HG_BY_TAG)
		rep_text_put(&name, "tag ");
	rep_text_printf(&name, "%s%s%s", row->kind, *row->kind && *row->name ? " " : "", row->name);
	add_shown(text, name.length ? rep_text_string(&name) : "(unknown)", NAME_COLUMNS);
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
	add_shown(&line, rep_text_string(&note), NOTE_COLUMNS);
	chart->line += LEGEND_SECOND_LINE;
	rep_xdot_font(&chart->xdot, FIXED_WIDTH, "9", ALARM_COLOUR);
	put_in_line(chart, NAME_LEFT, REP_ALIGN_LEFT, &line);
	rep_text_release(&places);
	rep_text_release(&note);
	rep_text_release(&line);
}

static void draw_legend_row(struct series_chart *chart, size_t area)
{
	bool is_rest = area == chart->areas.count;
	bool grows = !is_rest && row_of_area(chart, area)->grows;
	struct rep_text number = {0}, name = {0};
	chart->line += LEGEND_LINE;
	draw_swatch(chart, area);
	if (is_rest) {
		rep_text_put(&name, chart->areas.count ? "the rest" : "all of it");
	} else {
		rep_text_number(&number, area + 1);
		put_row_name(&name, chart, area);
	}
	rep_xdot_font(&chart->xdot, grows ? BOLD : PROPORTIONAL, "9.75", TEXT_COLOUR);
	put_in_line(chart, NAME_LEFT - 8, REP_ALIGN_RIGHT, &number);
	draw_legend_amounts(chart, area);
	rep_xdot_font(&chart->xdot, grows ? FIXED_WIDTH "-Bold" : FIXED_WIDTH, "9.75", TEXT_COLOUR);
	put_in_line(chart, NAME_LEFT, REP_ALIGN_LEFT, &name);
	if (!is_rest && has_note(chart, area))
		draw_growing_note(chart, area);
	rep_text_release(&number);
	rep_text_release(&name);
}

static void draw_legend(struct series_chart *chart)
{
	chart->line = chart->plot_top + PLOT_HEIGHT + AXIS_HEIGHT;
	rep_xdot_font(&chart->xdot, PROPORTIONAL, "9.75", FAINT_COLOUR);
	uint64_t y = (uint64_t)chart->line * REP_FINE;
	rep_xdot_string(&chart->xdot, (uint64_t)NAME_LEFT * REP_FINE, y, REP_ALIGN_LEFT,
		rep_growth_key(chart->request));
	if (chart->areas.moments > 1) {
		rep_xdot_string(&chart->xdot, (uint64_t)FIRST_RIGHT * REP_FINE, y, REP_ALIGN_RIGHT,
			"first");
		rep_xdot_string(
			&chart->xdot, (uint64_t)LAST_RIGHT * REP_FINE, y, REP_ALIGN_RIGHT, "last");
		rep_xdot_string(&chart->xdot, (uint64_t)CHANGE_RIGHT * REP_FINE, y, REP_ALIGN_RIGHT,
			"change");
	}
	for (size_t area = 0; area < chart->areas.count; area++)
		draw_legend_row(chart, area);
	if (has_rest(chart))
		draw_legend_row(chart, chart->areas.count);
}

/* The node that gives the picture its size. */
static bool draw_canvas(struct series_chart *chart)
{
	const struct rep_drawing_default defaults[] = {
		{AGRAPH, "_background", ""},
		{AGRAPH, "bgcolor", "white"},
		{AGRAPH, "pad", "0"},
		{AGRAPH, "margin", "0"},
		{AGNODE, "shape", "box"},
		{AGNODE, "style", "invis"},
		{AGNODE, "fixedsize", "true"},
		{AGNODE, "label", ""},
		{AGNODE, "width", ""},
		{AGNODE, "height", ""},
		{AGNODE, "pos", ""},
	};
	rep_set_defaults(&chart->base, defaults, sizeof(defaults) / sizeof(defaults[0]));
	Agnode_t *node = rep_new_node(&chart->base, "chart");
	if (!node)
		return false;
	/* Inches of 72 points. */
	const struct {
		const char *name;
		unsigned points;
	} sizes[] = {{"width", CHART_WIDTH}, {"height", chart->xdot.height}};
	for (unsigned i = 0; i < 2; i++) {
		uint64_t parts = (uint64_t)sizes[i].points * 1000000 / 72;
		rep_text_printf(&chart->base.text, "%llu.%06u",
			(unsigned long long)(parts / 1000000), (unsigned)(parts % 1000000));
		rep_set_text(&chart->base, node, sizes[i].name);
	}
	rep_text_printf(&chart->base.text, "%u,%u", CHART_WIDTH / 2, chart->xdot.height / 2);
	rep_set_text(&chart->base, node, "pos");
	return true;
}

static bool draw_series_chart(struct rep_drawing *base)
{
	struct series_chart *chart = (struct series_chart *)base;
	if (!draw_canvas(chart))
		return false;
	draw_titles(chart);
	draw_height_meaning(chart);
	if (!draw_areas(chart))
		return false;
	draw_legend(chart);
	rep_set_text(base, base->graph, "_background");
	return true;
}

enum hg_status rep_trend_chart(struct rep_context *context,
	const struct rep_growth_request *request, const char *picture, FILE *stream)
{
	struct series_chart chart = {
		.base = {.is_placed = true}, .context = context, .request = request};
	BASE_TRY(rep_choose_areas(context, request, &chart.areas));
	chart.xdot.text = &chart.base.text;
	choose_axes(&chart);
	measure_chart(&chart);
	enum hg_status status =
		rep_draw_apart(&chart.base, draw_series_chart, picture, stream, context->error);
	rep_areas_release(&chart.areas);
	return status;
}
