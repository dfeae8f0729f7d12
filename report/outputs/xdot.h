/*
 * Operations of xdot, Graphviz's language of drawings: colours, lines, areas and text at places of
 * our own.  Places are counted in hundredths of a point from the upper left corner.
 */
#ifndef REPORT_OUTPUTS_XDOT_H
#define REPORT_OUTPUTS_XDOT_H

#include "report/writers/spelling.h"

enum { REP_FINE = 100 }; /* parts of a point */

enum rep_align { REP_ALIGN_LEFT = -1, REP_ALIGN_CENTRE = 0, REP_ALIGN_RIGHT = 1 };

/* The drawing, as it grows, and how high it is in points: xdot counts from the lower left corner.
 */
struct rep_xdot {
	struct rep_text *text;
	unsigned height;
};

void rep_xdot_colour(struct rep_xdot *xdot, const char *line, const char *fill);
/* "setlinewidth(0.5)" */
void rep_xdot_style(struct rep_xdot *xdot, const char *style);
void rep_xdot_font(struct rep_xdot *xdot, const char *font, const char *size, const char *colour);
/* Text that can be shown as it is; nothing for "". */
void rep_xdot_string(
	struct rep_xdot *xdot, uint64_t x, uint64_t y, enum rep_align align, const char *string);
void rep_xdot_line(struct rep_xdot *xdot, uint64_t x, uint64_t y, uint64_t to_x, uint64_t to_y);
/* A dot of 2 points around that place. */
void rep_xdot_dot(struct rep_xdot *xdot, uint64_t x, uint64_t y);
void rep_xdot_box(
	struct rep_xdot *xdot, uint64_t left, uint64_t top, uint64_t right, uint64_t bottom);

/* Begins a filled polygon ('P') or a line ('L') of so many points, which follow. */
void rep_xdot_begin(struct rep_xdot *xdot, char what, size_t points);
void rep_xdot_point(struct rep_xdot *xdot, uint64_t x, uint64_t y);

#endif
