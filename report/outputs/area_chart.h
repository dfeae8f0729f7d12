/*
 * A chart of areas stacked over time, with axes, by Graphviz: what charts of snapshots and of
 * traces share.  Who draws one puts lines of text above it and a legend below it.
 *
 * Graphviz places nothing here: the graph is one node that cannot be seen, of the size of the
 * chart, and what is drawn are operations of xdot in the background of the graph.
 */
#ifndef REPORT_OUTPUTS_AREA_CHART_H
#define REPORT_OUTPUTS_AREA_CHART_H

#include "report/outputs/axis.h"
#include "report/outputs/drawing.h"
#include "report/outputs/xdot.h"

/* Points, 1280 pixels being 960 of them, from the upper left corner; letters have 12 pixels or
 * more. */
enum {
	REP_CHART_WIDTH = 960,
	REP_CHART_MARGIN = 16,
	REP_CHART_TITLE_LINE = 18,
	REP_CHART_LEFT = 82, /* where the areas are */
	REP_CHART_RIGHT = 916,
	REP_CHART_LEGEND_LINE = 17,
	REP_CHART_NAME_LEFT = 58,     /* columns of the legend */
	REP_CHART_NAME_COLUMNS = 108, /* of letters 0.6 * 9.75 points wide */
	REP_CHART_TITLE_COLUMNS = 50
};

#define REP_CHART_TEXT "#1c1f22"
#define REP_CHART_FAINT "#5b6770"
#define REP_CHART_ALARM "#a3281a"
#define REP_CHART_PROPORTIONAL "Helvetica"
#define REP_CHART_BOLD "Helvetica-Bold"
#define REP_CHART_FIXED "Courier"

/* The arrays are of the caller.  All but 'xdot', 'plot_top' and 'line' is given. */
struct rep_area_chart {
	struct rep_drawing base; /* {.is_placed = true} */
	struct rep_xdot xdot;
	struct rep_axis across, up;
	size_t points;           /* along the axis across; with one the areas are bars */
	const uint64_t *places;  /* of these on the axis; NULL: they are their numbers */
	size_t count;            /* of areas; what all of them leave is the rest */
	const uint64_t *amounts; /* 'points' of each area, then of the rest */
	const uint64_t *totals;  /* of all at each point */
	const uint64_t *beside;  /* another sum, that is no area: a broken line; may be NULL */
	unsigned first_colour;   /* of the first area; 0 is that of an alarm */
	bool is_marked;          /* there is room for the names of marks */
	unsigned plot_top;
	unsigned line; /* where the next line of text stands */
};

/* What an area is at each point; that of number 'count' is the rest. */
static inline const uint64_t *rep_chart_amounts(const struct rep_area_chart *chart, size_t area)
{
	return chart->amounts + area * chart->points;
}

bool rep_chart_has_rest(const struct rep_area_chart *chart);

/* Decides how high it is: so many lines above, and points of the legend below. */
void rep_chart_measure(struct rep_area_chart *chart, unsigned lines, unsigned legend);
/* Begins a drawing that is measured: false if there is no memory. */
bool rep_chart_begin(struct rep_area_chart *chart);
void rep_chart_end(struct rep_area_chart *chart);

/* In the line that is next, with the font set last. */
void rep_chart_put(struct rep_area_chart *chart, unsigned x, enum rep_align align,
	const struct rep_text *string);
/* The same at the left margin, in a font; then the next line is next, and the text empty. */
void rep_chart_title(struct rep_area_chart *chart, const char *font, const char *size,
	const char *colour, struct rep_text *string);
/* Text of any bytes as one that can be seen, without its middle if it is long. */
void rep_chart_shown(struct rep_text *text, const char *name, size_t columns);

/* The areas and their axes; 'height' and 'across' say what these mean.  False: no memory. */
bool rep_chart_draw(struct rep_area_chart *chart, const char *height, const char *across);
/* Where something on the axis is, in parts of a point from the left. */
uint64_t rep_chart_across(const struct rep_area_chart *chart, uint64_t at);
/*
 * A line over the areas, from the bottom to the top, named above them; "" for no name.  The name
 * begins there in the left half, and ends there in the right one.
 */
void rep_chart_mark(struct rep_area_chart *chart, uint64_t at, const char *name);
bool rep_chart_is_left(const struct rep_area_chart *chart, uint64_t at);

/* A line of the legend: a name, and amounts in columns, of which some may be empty. */
struct rep_chart_row {
	struct rep_text name, amounts[3];
	bool is_bold;
};

/* Above the rows: what the columns are. */
void rep_chart_legend_head(struct rep_area_chart *chart, const char *key, const char *first,
	const char *second, const char *third);
/* In the next line, with colour and number of the area; releases the texts. */
void rep_chart_legend_row(struct rep_area_chart *chart, size_t area, struct rep_chart_row *row);

#endif
