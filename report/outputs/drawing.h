/*
 * What pictures share that Graphviz draws: attributes, colours, and the process of their own in
 * which libcgraph writes DOT or libgvc draws (apart.h).  drawing_graphviz.c is all that knows it;
 * a command without Graphviz has drawing_none.c in its place, where no picture is begun.
 */
#ifndef REPORT_OUTPUTS_DRAWING_H
#define REPORT_OUTPUTS_DRAWING_H

#include "report/writers/spelling.h"

#include <stdio.h>

/* What Graphviz has of these. */
struct rep_graph;
struct rep_node;
struct rep_edge;

/* The first member of what a picture is made with. */
struct rep_drawing {
	struct rep_graph *graph;
	struct rep_text text; /* the value being built */
	bool is_placed;       /* nodes have their places already: attribute pos */
};

/* Whose attribute a default is for. */
enum rep_drawn { REP_GRAPH, REP_NODES, REP_EDGES };

struct rep_drawing_default {
	enum rep_drawn kind;
	const char *name, *value;
};

/* Of the graph, a node or an edge. */
void rep_set_attribute(void *object, const char *name, const char *value);
/* To the text of the drawing, which is empty then. */
void rep_set_text(struct rep_drawing *drawing, void *object, const char *name);
void rep_set_defaults(
	struct rep_drawing *drawing, const struct rep_drawing_default *defaults, size_t count);
/* A node of this name, and an arrow; NULL: no memory. */
struct rep_node *rep_new_node(struct rep_drawing *drawing, const char *name);
struct rep_edge *rep_new_edge(
	struct rep_drawing *drawing, struct rep_node *from, struct rep_node *to);

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
