/* Attributes that pictures share: texts, colours, widths. */
#include "report/outputs/drawing.h"

void rep_set_text(struct rep_drawing *drawing, void *object, const char *name)
{
	rep_set_attribute(object, name, rep_text_string(&drawing->text));
	rep_text_clear(&drawing->text);
}

/* Between two colours, 'points' of 10000 on the way from the first to the second. */
static void blend(
	struct rep_text *text, const uint8_t from[3], const uint8_t to[3], uint64_t points)
{
	rep_text_put(text, "#");
	for (int i = 0; i < 3; i++) {
		uint64_t part = (from[i] * (10000 - points) + to[i] * points) / 10000;
		rep_text_printf(text, "%02x", (unsigned)part);
	}
}

void rep_set_share_colour(struct rep_drawing *drawing, void *object, uint64_t points)
{
	static const uint8_t stops[3][3] = {
		{0xf1, 0xf5, 0xf9}, {0xfd, 0xe6, 0xc3}, {0xee, 0x7f, 0x66}};
	if (points < 2000)
		blend(&drawing->text, stops[0], stops[1], points * 5);
	else
		blend(&drawing->text, stops[1], stops[2],
			(points > 10000 ? 8000 : points - 2000) * 10 / 8);
	rep_set_text(drawing, object, "fillcolor");
}

void rep_set_share_width(struct rep_drawing *drawing, void *object, uint64_t points)
{
	unsigned tenths = 8 + (unsigned)(points * 40 / 10000);
	rep_text_printf(&drawing->text, "%u.%u", tenths / 10, tenths % 10);
	rep_set_text(drawing, object, "penwidth");
}

void rep_set_note_style(void *object)
{
	rep_set_attribute(object, "shape", "note");
	rep_set_attribute(object, "style", "dashed");
	rep_set_attribute(object, "fontcolor", "#555555");
	rep_set_attribute(object, "color", "#999999");
	rep_set_attribute(object, "fontsize", "9");
	rep_set_attribute(object, "tooltip", "left out of the picture");
}
