/* Attributes of pictures, and the process in which Graphviz draws them. */
#include "report/outputs/drawing.h"

#include "report/outputs/apart.h"

/* cgraph copies the strings, but takes them as char pointers. */
void rep_set_attribute(void *object, const char *name, const char *value)
{
	agsafeset(object, (char *)name, (char *)value, (char *)"");
}

void rep_set_text(struct rep_drawing *drawing, void *object, const char *name)
{
	rep_set_attribute(object, name, rep_text_string(&drawing->text));
	rep_text_clear(&drawing->text);
}

void rep_set_defaults(
	struct rep_drawing *drawing, const struct rep_drawing_default *defaults, size_t count)
{
	for (size_t i = 0; i < count; i++)
		agattr(drawing->graph, defaults[i].kind, (char *)defaults[i].name,
			(char *)defaults[i].value);
}

Agnode_t *rep_new_node(struct rep_drawing *drawing, const char *name)
{
	return agnode(drawing->graph, (char *)name, 1);
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

/* Graphviz writes its warnings (a font that is not there) to stderr unless told otherwise. */
static int ignore_message(char *message)
{
	(void)message;
	return 0;
}

static enum hg_status render(
	struct rep_drawing *drawing, const char *format, FILE *stream, struct hg_error *error)
{
	enum hg_status status = HG_OK;
	char *data = NULL;
	unsigned length = 0;
	GVC_t *graphviz = gvContext();
	if (!graphviz)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET, "out of memory");
	/* What _background draws needs the latter: with the former Graphviz 2.43 ends by a signal.
	 */
	if (gvLayout(graphviz, drawing->graph, drawing->is_placed ? "nop2" : "dot")) {
		gvFreeContext(graphviz);
		return base_fail(error, HG_ERROR_OUTPUT, HG_NO_OFFSET,
			"Graphviz cannot lay out the picture");
	}
	if (gvRenderData(graphviz, drawing->graph, format, &data, &length) || length == 0)
		status = base_fail(error, HG_ERROR_OUTPUT, HG_NO_OFFSET,
			"this installation of Graphviz cannot write %s", format);
	else
		fwrite(data, 1, length, stream);
	return status;
}

struct order {
	struct rep_drawing *drawing;
	rep_draw_fn *draw;
	const char *format; /* NULL: DOT */
};

/* In a process that ends with it: nothing is given back. */
static enum hg_status draw_and_write(void *data, FILE *out, struct hg_error *error)
{
	struct order *order = data;
	struct rep_drawing *drawing = order->drawing;
	agseterrf(ignore_message);
	enum hg_status status = HG_OK;
	drawing->graph = agopen((char *)"heapgraph", Agdirected, NULL);
	if (!drawing->graph || !order->draw(drawing) || drawing->text.failed)
		status = base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET, "out of memory");
	else if (order->format)
		status = render(drawing, order->format, out, error);
	else
		agwrite(drawing->graph, out);
	/* Some mistakes are only said, and the picture lacks what they are about. */
	if (status == HG_OK && rep_text_lost())
		status = base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET, "out of memory");
	if (status == HG_OK && agreseterrors() >= AGERR)
		status = base_fail(error, HG_ERROR_OUTPUT, HG_NO_OFFSET,
			"Graphviz cannot draw all of the picture");
	return status;
}

enum hg_status rep_draw_apart(struct rep_drawing *drawing, rep_draw_fn *draw, const char *format,
	FILE *stream, struct hg_error *error)
{
	struct order order = {drawing, draw, format};
	return rep_apart(draw_and_write, &order, "Graphviz", stream, error);
}
