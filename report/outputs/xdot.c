/* Spelling of xdot; strings in it have their length in bytes before them. */
#include "report/outputs/xdot.h"

#include <string.h>

static void put_fine(struct rep_text *text, uint64_t value)
{
	rep_text_printf(text, "%llu.%02u ", (unsigned long long)(value / REP_FINE),
		(unsigned)(value % REP_FINE));
}

void rep_xdot_point(struct rep_xdot *xdot, uint64_t x, uint64_t y)
{
	put_fine(xdot->text, x);
	put_fine(xdot->text, (uint64_t)xdot->height * REP_FINE - y);
}

/*
 * libxdot of Graphviz 14 takes a backslash for an escape, which is not counted, unless it comes
 * after another; that of 2.42 counts all.  Measured with parseXDot().
 */
static size_t count_escapes(const char *string)
{
	size_t count = 0;
	for (const char *at = string; *at; at++)
		count += *at == '\\' && (at == string || at[-1] != '\\');
	return count;
}

/* As many blanks follow, which are read with the string where escapes are not counted. */
static void put_counted(struct rep_text *text, const char *string)
{
	rep_text_printf(
		text, "%zu -%s%*s ", strlen(string), string, (int)count_escapes(string), "");
}

void rep_xdot_colour(struct rep_xdot *xdot, const char *line, const char *fill)
{
	rep_text_put(xdot->text, "c ");
	put_counted(xdot->text, line);
	rep_text_put(xdot->text, "C ");
	put_counted(xdot->text, fill);
}

void rep_xdot_style(struct rep_xdot *xdot, const char *style)
{
	rep_text_put(xdot->text, "S ");
	put_counted(xdot->text, style);
}

void rep_xdot_font(struct rep_xdot *xdot, const char *font, const char *size, const char *colour)
{
	rep_xdot_colour(xdot, colour, colour);
	rep_text_printf(xdot->text, "F %s ", size);
	put_counted(xdot->text, font);
}

void rep_xdot_string(
	struct rep_xdot *xdot, uint64_t x, uint64_t y, enum rep_align align, const char *string)
{
	if (!*string)
		return;
	rep_text_put(xdot->text, "T ");
	rep_xdot_point(xdot, x, y);
	rep_text_printf(xdot->text, "%d 0 ", (int)align);
	put_counted(xdot->text, string);
}

void rep_xdot_begin(struct rep_xdot *xdot, char what, size_t points)
{
	rep_text_printf(xdot->text, "%c %zu ", what, points);
}

void rep_xdot_line(struct rep_xdot *xdot, uint64_t x, uint64_t y, uint64_t to_x, uint64_t to_y)
{
	rep_xdot_begin(xdot, 'L', 2);
	rep_xdot_point(xdot, x, y);
	rep_xdot_point(xdot, to_x, to_y);
}

void rep_xdot_dot(struct rep_xdot *xdot, uint64_t x, uint64_t y)
{
	rep_text_put(xdot->text, "E ");
	rep_xdot_point(xdot, x, y);
	rep_text_put(xdot->text, "2 2 ");
}

void rep_xdot_box(
	struct rep_xdot *xdot, uint64_t left, uint64_t top, uint64_t right, uint64_t bottom)
{
	rep_xdot_begin(xdot, 'P', 4);
	rep_xdot_point(xdot, left, top);
	rep_xdot_point(xdot, right, top);
	rep_xdot_point(xdot, right, bottom);
	rep_xdot_point(xdot, left, bottom);
}
