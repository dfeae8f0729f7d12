/*
 * What pictures share that Graphviz draws: attributes, colours, and the process of their own in
 * which libcgraph writes DOT or libgvc draws (apart.h).
 */
#ifndef REPORT_OUTPUTS_DRAWING_H
#define REPORT_OUTPUTS_DRAWING_H

#include "report/writers/spelling.h"

#include <graphviz/gvc.h>

/* The first member of what a picture is made with. */
struct rep_drawing {
	Agraph_t *graph;
	struct rep_text text; /* the value being built */
	bool is_placed;       /* nodes have their places already: attribute pos */
};

struct rep_drawing_default {
	int kind; /* AGRAPH, AGNODE, AGEDGE */
	const char *name, *value;
};

/* Of the graph, a node or an edge. */
void rep_set_attribute(void *object, const char *name, const char *value);
/* To the text of the drawing, which is empty then. */
void rep_set_text(struct rep_drawing *drawing, void *object, const char *name);
void rep_set_defaults(
	struct rep_drawing *drawing, const struct rep_drawing_default *defaults, size_t count);
/* A node of this name; NULL: no memory. */
Agnode_t *rep_new_node(struct rep_drawing *drawing, const char *name);

/* For a share in basis points: pale for little, sand for a fifth, red for everything. */
void rep_set_share_colour(struct rep_drawing *drawing, void *object, uint64_t points);
/* The width of an arrow to what retains that share. */
void rep_set_share_width(struct rep_drawing *drawing, void *object, uint64_t points);
/* The style of a note that says what was left out. */
void rep_set_note_style(void *object);

/*
 * Makes the graph by 'draw' in a process of its own, and writes it as DOT or, with a format, as
 * that.  False of 'draw': no memory.
 */
typedef bool rep_draw_fn(struct rep_drawing *drawing);
enum hg_status rep_draw_apart(struct rep_drawing *drawing, rep_draw_fn *draw, const char *format,
	FILE *stream, struct hg_error *error);

#endif
