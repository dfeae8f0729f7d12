/* Stacked areas, their axes and the parts of a legend, as operations of xdot. */
#include "report/outputs/area_chart.h"

#include "report/writers/escape.h"
#include "report/writers/fit.h"

#include <stdlib.h>
#include <string.h>

enum {
	PLOT_HEIGHT = 330,
	AXIS_HEIGHT = 56,
	MOST_COLOURS = 10,
	MOST_DOTS = 60,     /* points that are marked on the sum */
	LEAST_LABELLED = 11 /* height of an area that has its number beside it */
};

#define REST_COLOUR "#c3c8cc"

/* Told apart by colour-blind people, too: neighbours differ in how light they are. */
static const char *const area_colours[MOST_COLOURS] = {"#d55e00", "#0072b2", "#e69f00", "#56b4e9",
	"#117733", "#cc79a7", "#332288", "#ddcc77", "#44aa99", "#882255"};

void rep_chart_put(struct rep_area_chart *chart, unsigned x, enum rep_align align,
	const struct rep_text *string)
{
	rep_xdot_string(&chart->xdot, (uint64_t)x * REP_FINE, (uint64_t)chart->line * REP_FINE,
		align, rep_text_string(string));
}

void rep_chart_title(struct rep_area_chart *chart, const char *font, const char *size,
	const char *colour, struct rep_text *string)
{
	rep_xdot_font(&chart->xdot, font, size, colour);
	rep_chart_put(chart, REP_CHART_MARGIN, REP_ALIGN_LEFT, string);
	chart->line += REP_CHART_TITLE_LINE;
	rep_text_clear(string);
}

void rep_chart_shown(struct rep_text *text, const char *name, size_t columns)
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

uint64_t rep_chart_across(const struct rep_area_chart *chart, uint64_t at)
{
	uint64_t length = (uint64_t)(REP_CHART_RIGHT - REP_CHART_LEFT) * REP_FINE;
	return (uint64_t)REP_CHART_LEFT * REP_FINE + part_of_length(at, chart->across.end, length);
}

static uint64_t y_of(const struct rep_area_chart *chart, uint64_t amount)
{
	uint64_t length = (uint64_t)PLOT_HEIGHT * REP_FINE;
	return (uint64_t)chart->plot_top * REP_FINE + length -
	       part_of_length(amount, chart->up.end, length);
}

/* The edges of what stands for a point; they differ only where there is but one. */
static void find_edges(
	const struct rep_area_chart *chart, size_t point, uint64_t *left, uint64_t *right)
{
	uint64_t third = (uint64_t)(REP_CHART_RIGHT - REP_CHART_LEFT) * REP_FINE / 3;
	if (chart->points == 1) {
		*left = (uint64_t)REP_CHART_LEFT * REP_FINE + third;
		*right = *left + third;
		return;
	}
	*left = *right = rep_chart_across(chart, chart->places ? chart->places[point] : point);
}

bool rep_chart_has_rest(const struct rep_area_chart *chart)
{
	const uint64_t *rest = rep_chart_amounts(chart, chart->count);
	for (size_t i = 0; i < chart->points; i++)
		if (rest[i])
			return true;
	return false;
}

void rep_chart_measure(struct rep_area_chart *chart, unsigned lines, unsigned legend)
{
	lines += chart->is_marked;
	chart->plot_top = REP_CHART_MARGIN + lines * REP_CHART_TITLE_LINE + REP_CHART_MARGIN;
	chart->xdot.height =
		chart->plot_top + PLOT_HEIGHT + AXIS_HEIGHT + legend + REP_CHART_MARGIN;
	/* The middle is in whole points. */
	chart->xdot.height += chart->xdot.height % 2;
	chart->line = REP_CHART_MARGIN + REP_CHART_TITLE_LINE - 4;
}

/* The node that gives the picture its size. */
bool rep_chart_begin(struct rep_area_chart *chart)
{
	const struct rep_drawing_default defaults[] = {
		{REP_GRAPH, "_background", ""},
		{REP_GRAPH, "bgcolor", "white"},
		{REP_GRAPH, "pad", "0"},
		{REP_GRAPH, "margin", "0"},
		{REP_NODES, "shape", "box"},
		{REP_NODES, "style", "invis"},
		{REP_NODES, "fixedsize", "true"},
		{REP_NODES, "label", ""},
		{REP_NODES, "width", ""},
		{REP_NODES, "height", ""},
		{REP_NODES, "pos", ""},
	};
	rep_set_defaults(&chart->base, defaults, sizeof(defaults) / sizeof(defaults[0]));
	struct rep_node *node = rep_new_node(&chart->base, "chart");
	if (!node)
		return false;
	/* Inches of 72 points. */
	const struct {
		const char *name;
		unsigned points;
	} sizes[] = {{"width", REP_CHART_WIDTH}, {"height", chart->xdot.height}};
	for (unsigned i = 0; i < 2; i++) {
		uint64_t parts = (uint64_t)sizes[i].points * 1000000 / 72;
		rep_text_printf(&chart->base.text, "%llu.%06u",
			(unsigned long long)(parts / 1000000), (unsigned)(parts % 1000000));
		rep_set_text(&chart->base, node, sizes[i].name);
	}
	rep_text_printf(&chart->base.text, "%u,%u", REP_CHART_WIDTH / 2, chart->xdot.height / 2);
	rep_set_text(&chart->base, node, "pos");
	chart->xdot.text = &chart->base.text;
	return true;
}

void rep_chart_end(struct rep_area_chart *chart)
{
	rep_set_text(&chart->base, chart->base.graph, "_background");
}

/* Over the areas, so that their heights can be read. */
static void draw_height_marks(struct rep_area_chart *chart)
{
	uint64_t left = (uint64_t)REP_CHART_LEFT * REP_FINE;
	uint64_t right = (uint64_t)REP_CHART_RIGHT * REP_FINE;
	rep_xdot_style(&chart->xdot, "setlinewidth(0.75)");
	for (unsigned i = 0; i < chart->up.count; i++) {
		uint64_t y = y_of(chart, chart->up.ticks[i].at);
		rep_xdot_colour(&chart->xdot, i ? "#00000026" : REP_CHART_FAINT, "#000000");
		rep_xdot_line(&chart->xdot, left, y, right, y);
		rep_xdot_font(&chart->xdot, REP_CHART_PROPORTIONAL, "9.75", REP_CHART_TEXT);
		rep_xdot_string(&chart->xdot, left - 8 * REP_FINE, y + 7 * REP_FINE / 2,
			REP_ALIGN_RIGHT, chart->up.ticks[i].label);
	}
}

static void draw_time_marks(struct rep_area_chart *chart, const char *meaning)
{
	uint64_t bottom = y_of(chart, 0);
	unsigned middle = (REP_CHART_LEFT + REP_CHART_RIGHT) / 2;
	rep_xdot_font(&chart->xdot, REP_CHART_PROPORTIONAL, "9.75", REP_CHART_TEXT);
	for (unsigned i = 0; i < chart->across.count; i++) {
		uint64_t x = rep_chart_across(chart, chart->across.ticks[i].at);
		if (chart->points == 1)
			x = (uint64_t)(REP_CHART_LEFT + REP_CHART_RIGHT) * REP_FINE / 2;
		rep_xdot_line(&chart->xdot, x, bottom, x, bottom + 5 * REP_FINE);
		rep_xdot_string(&chart->xdot, x, bottom + 17 * REP_FINE, REP_ALIGN_CENTRE,
			chart->across.ticks[i].label);
	}
	rep_xdot_font(&chart->xdot, REP_CHART_PROPORTIONAL, "9.75", REP_CHART_FAINT);
	rep_xdot_string(&chart->xdot, (uint64_t)middle * REP_FINE,
		(uint64_t)(chart->plot_top + PLOT_HEIGHT + 33) * REP_FINE, REP_ALIGN_CENTRE,
		meaning);
}

static const char *colour_of_area(const struct rep_area_chart *chart, size_t area)
{
	return area < chart->count ? area_colours[(chart->first_colour + area) % MOST_COLOURS]
				   : REST_COLOUR;
}

/* From 'below', what lies under it at each point, to itself on top of that. */
static void draw_area(struct rep_area_chart *chart, size_t area, uint64_t *below)
{
	const uint64_t *amounts = rep_chart_amounts(chart, area);
	size_t count = chart->points;
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
static void draw_area_number(struct rep_area_chart *chart, size_t area, const uint64_t *below)
{
	size_t last = chart->points - 1;
	uint64_t amount = rep_chart_amounts(chart, area)[last], left, right;
	uint64_t top = y_of(chart, below[last]), bottom = y_of(chart, below[last] - amount);
	char number[32];
	struct rep_text text = rep_text_over(number, sizeof(number));
	if (bottom - top < LEAST_LABELLED * REP_FINE)
		return;
	if (area < chart->count)
		rep_text_number(&text, area + 1);
	else
		rep_text_put(&text, "rest");
	find_edges(chart, last, &left, &right);
	rep_xdot_font(&chart->xdot, REP_CHART_BOLD, "9.75", REP_CHART_TEXT);
	rep_xdot_string(&chart->xdot, right + 8 * REP_FINE, (top + bottom) / 2 + 7 * REP_FINE / 2,
		REP_ALIGN_LEFT, number);
}

/* The sum, with a dot at each point. */
static void draw_sum(struct rep_area_chart *chart)
{
	size_t count = chart->points;
	uint64_t left, right;
	rep_xdot_colour(&chart->xdot, REP_CHART_TEXT, REP_CHART_TEXT);
	rep_xdot_style(&chart->xdot, "setlinewidth(1)");
	rep_xdot_begin(&chart->xdot, 'L', 2 * count);
	for (size_t i = 0; i < count; i++) {
		find_edges(chart, i, &left, &right);
		rep_xdot_point(&chart->xdot, left, y_of(chart, chart->totals[i]));
		rep_xdot_point(&chart->xdot, right, y_of(chart, chart->totals[i]));
	}
	for (size_t i = 0; i < count && count > 1 && count <= MOST_DOTS; i++) {
		find_edges(chart, i, &left, &right);
		rep_xdot_dot(&chart->xdot, left, y_of(chart, chart->totals[i]));
	}
}

static void draw_beside(struct rep_area_chart *chart)
{
	uint64_t left, right;
	if (!chart->beside)
		return;
	rep_xdot_colour(&chart->xdot, REP_CHART_FAINT, REP_CHART_FAINT);
	rep_xdot_style(&chart->xdot, "dashed");
	rep_xdot_begin(&chart->xdot, 'L', chart->points);
	for (size_t i = 0; i < chart->points; i++) {
		find_edges(chart, i, &left, &right);
		rep_xdot_point(&chart->xdot, left, y_of(chart, chart->beside[i]));
	}
	rep_xdot_style(&chart->xdot, "solid");
}

/* The first area stands on top, so that what is under it is seen not to grow with it. */
bool rep_chart_draw(struct rep_area_chart *chart, const char *height, const char *across)
{
	uint64_t *below = calloc(chart->points, sizeof(*below));
	unsigned above = chart->is_marked ? 14 + REP_CHART_TITLE_LINE : 14;
	if (!below)
		return false;
	rep_xdot_font(&chart->xdot, REP_CHART_PROPORTIONAL, "9.75", REP_CHART_FAINT);
	rep_xdot_string(&chart->xdot, (uint64_t)REP_CHART_MARGIN * REP_FINE,
		(uint64_t)(chart->plot_top - above) * REP_FINE, REP_ALIGN_LEFT, height);
	rep_xdot_style(&chart->xdot, "setlinewidth(0.25)");
	for (size_t area = chart->count + 1; area-- > 0;) {
		if (area == chart->count && !rep_chart_has_rest(chart))
			continue;
		draw_area(chart, area, below);
		draw_area_number(chart, area, below);
	}
	free(below);
	draw_height_marks(chart);
	draw_beside(chart);
	draw_sum(chart);
	draw_time_marks(chart, across);
	return true;
}

bool rep_chart_is_left(const struct rep_area_chart *chart, uint64_t at)
{
	return rep_chart_across(chart, at) / REP_FINE < (REP_CHART_LEFT + REP_CHART_RIGHT) / 2;
}

void rep_chart_mark(struct rep_area_chart *chart, uint64_t at, const char *name)
{
	uint64_t x = rep_chart_across(chart, at), top = (uint64_t)chart->plot_top * REP_FINE;
	rep_xdot_colour(&chart->xdot, REP_CHART_TEXT, REP_CHART_TEXT);
	rep_xdot_style(&chart->xdot, "setlinewidth(0.75)");
	rep_xdot_line(&chart->xdot, x, top - 3 * REP_FINE, x, y_of(chart, 0));
	rep_xdot_font(&chart->xdot, REP_CHART_PROPORTIONAL, "9.75", REP_CHART_TEXT);
	rep_xdot_string(&chart->xdot, x, top - 5 * REP_FINE,
		rep_chart_is_left(chart, at) ? REP_ALIGN_LEFT : REP_ALIGN_RIGHT, name);
}

static const unsigned amount_columns[3] = {786, 862, 944}; /* where they end */

void rep_chart_legend_head(struct rep_area_chart *chart, const char *key, const char *first,
	const char *second, const char *third)
{
	const char *const heads[] = {first, second, third};
	chart->line = chart->plot_top + PLOT_HEIGHT + AXIS_HEIGHT;
	uint64_t y = (uint64_t)chart->line * REP_FINE;
	rep_xdot_font(&chart->xdot, REP_CHART_PROPORTIONAL, "9.75", REP_CHART_FAINT);
	rep_xdot_string(
		&chart->xdot, (uint64_t)REP_CHART_NAME_LEFT * REP_FINE, y, REP_ALIGN_LEFT, key);
	for (size_t i = 0; i < 3; i++)
		rep_xdot_string(&chart->xdot, (uint64_t)amount_columns[i] * REP_FINE, y,
			REP_ALIGN_RIGHT, heads[i]);
}

static void draw_swatch(struct rep_area_chart *chart, size_t area)
{
	uint64_t left = (uint64_t)REP_CHART_MARGIN * REP_FINE, right = left + 12 * REP_FINE;
	uint64_t bottom = (uint64_t)chart->line * REP_FINE + REP_FINE, top = bottom - 11 * REP_FINE;
	rep_xdot_colour(&chart->xdot, colour_of_area(chart, area), colour_of_area(chart, area));
	rep_xdot_box(&chart->xdot, left, top, right, bottom);
}

void rep_chart_legend_row(struct rep_area_chart *chart, size_t area, struct rep_chart_row *row)
{
	struct rep_text number = {0};
	chart->line += REP_CHART_LEGEND_LINE;
	draw_swatch(chart, area);
	if (area < chart->count)
		rep_text_number(&number, area + 1);
	rep_xdot_font(&chart->xdot, row->is_bold ? REP_CHART_BOLD : REP_CHART_PROPORTIONAL, "9.75",
		REP_CHART_TEXT);
	rep_chart_put(chart, REP_CHART_NAME_LEFT - 8, REP_ALIGN_RIGHT, &number);
	for (size_t i = 0; i < 3; i++) {
		rep_chart_put(chart, amount_columns[i], REP_ALIGN_RIGHT, &row->amounts[i]);
		rep_text_release(&row->amounts[i]);
	}
	rep_xdot_font(&chart->xdot, row->is_bold ? REP_CHART_FIXED "-Bold" : REP_CHART_FIXED,
		"9.75", REP_CHART_TEXT);
	rep_chart_put(chart, REP_CHART_NAME_LEFT, REP_ALIGN_LEFT, &row->name);
	rep_text_release(&row->name);
	rep_text_release(&number);
}
