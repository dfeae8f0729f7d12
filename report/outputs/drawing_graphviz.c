/* Graphviz: graphs with attributes, and the process in which it draws them. */
#include "report/outputs/drawing.h"

#include "report/outputs/apart.h"
#include "report/outputs/outputs.h"

#include <graphviz/gvc.h>

static Agraph_t *graph_of(const struct rep_drawing *drawing)
{
	return (Agraph_t *)drawing->graph;
}

/* cgraph copies the strings, but takes them as char pointers. */
void rep_set_attribute(void *object, const char *name, const char *value)
{
	agsafeset(object, (char *)name, (char *)value, (char *)"");
}

void rep_set_defaults(
	struct rep_drawing *drawing, const struct rep_drawing_default *defaults, size_t count)
{
	static const int kinds[] = {
		[REP_GRAPH] = AGRAPH, [REP_NODES] = AGNODE, [REP_EDGES] = AGEDGE};
	for (size_t i = 0; i < count; i++)
		agattr(graph_of(drawing), kinds[defaults[i].kind], (char *)defaults[i].name,
			(char *)defaults[i].value);
}

struct rep_node *rep_new_node(struct rep_drawing *drawing, const char *name)
{
	return (struct rep_node *)agnode(graph_of(drawing), (char *)name, 1);
}

struct rep_edge *rep_new_edge(
	struct rep_drawing *drawing, struct rep_node *from, struct rep_node *to)
{
	return (struct rep_edge *)agedge(
		graph_of(drawing), (Agnode_t *)from, (Agnode_t *)to, NULL, 1);
}

/* Graphviz writes its warnings (a font that is not there) to stderr unless told otherwise. */
static int ignore_message(char *message)
{
	(void)message;
	return 0;
}

/* gvRenderData() of Graphviz 14; before, it counted bytes in an unsigned. */
typedef int render_data_fn(GVC_t *, graph_t *, const char *, char **, size_t *);
typedef __typeof__(
	_Generic(&gvRenderData, render_data_fn * : (size_t)0, default : 0u)) rendered_size;

static enum hg_status render(
	struct rep_drawing *drawing, const char *format, FILE *stream, struct hg_error *error)
{
	enum hg_status status = HG_OK;
	char *data = NULL;
	rendered_size length = 0;
	GVC_t *graphviz = gvContext();
	if (!graphviz)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET, "out of memory");
	/* What _background draws needs the latter: with the former Graphviz 2.43 ends by a signal.
	 */
	if (gvLayout(graphviz, graph_of(drawing), drawing->is_placed ? "nop2" : "dot")) {
		gvFreeContext(graphviz);
		return base_fail(error, HG_ERROR_OUTPUT, HG_NO_OFFSET,
			"Graphviz cannot lay out the picture: does it know its plugins (Debian: "
			"packages graphviz and, from its version 14 on, "
			"libgvplugin-neato-layout8)?");
	}
	if (gvRenderData(graphviz, graph_of(drawing), format, &data, &length) || length == 0)
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
	drawing->graph = (struct rep_graph *)agopen((char *)"heapgraph", Agdirected, NULL);
	if (!drawing->graph || !order->draw(drawing) || drawing->text.failed)
		status = base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET, "out of memory");
	else if (order->format)
		status = render(drawing, order->format, out, error);
	else
		agwrite(graph_of(drawing), out);
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

bool rep_can_draw(void)
{
	return true;
}
