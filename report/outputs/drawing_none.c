/* Of a command that is built without Graphviz: no picture is asked for. */
#include "report/outputs/drawing.h"

#include "base/assert.h"
#include "report/outputs/outputs.h"

bool rep_can_draw(void)
{
	return false;
}

static void refuse_drawing(void)
{
	base_assert(rep_can_draw());
}

enum hg_status rep_draw_apart(struct rep_drawing *drawing, rep_draw_fn *draw, const char *format,
	FILE *stream, struct hg_error *error)
{
	(void)drawing, (void)draw, (void)format, (void)stream;
	refuse_drawing();
	return base_fail(error, HG_ERROR_INTERNAL, HG_NO_OFFSET, "there is no Graphviz");
}

void rep_set_attribute(void *object, const char *name, const char *value)
{
	(void)object, (void)name, (void)value;
	refuse_drawing();
}

void rep_set_defaults(
	struct rep_drawing *drawing, const struct rep_drawing_default *defaults, size_t count)
{
	(void)drawing, (void)defaults, (void)count;
	refuse_drawing();
}

struct rep_node *rep_new_node(struct rep_drawing *drawing, const char *name)
{
	(void)drawing, (void)name;
	refuse_drawing();
	return NULL;
}

struct rep_edge *rep_new_edge(
	struct rep_drawing *drawing, struct rep_node *from, struct rep_node *to)
{
	(void)drawing, (void)from, (void)to;
	refuse_drawing();
	return NULL;
}
