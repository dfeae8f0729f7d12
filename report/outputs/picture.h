/*
 * A retention graph made ready for drawing.  The library picks the nodes that retain most; a list
 * of ten thousand cells would fill the whole picture with its first cells.  Here chains of blocks
 * that look the same, each the largest one held by the one before, become one node; of siblings
 * that look the same (the buckets of a table) the first few are drawn; and what then still exceeds
 * the number of nodes wanted is folded again.
 */
#ifndef REPORT_PICTURE_H
#define REPORT_PICTURE_H

#include "report/report.h"

struct rep_drawn_node {
	hg_node node;    /* HG_NO_NODE for a folded group */
	uint64_t chain;  /* blocks merged into this one, itself not counted */
	bool endless;    /* the chain goes on in what was not asked for */
	uint64_t folded; /* nodes that a group stands for, else 0 */
	uint64_t retained_bytes;
	uint32_t location; /* of a group: the one that retains most of it, 0 if none */
	uint32_t type;     /* the same */
};

/* Released with rep_picture_release(). */
struct rep_picture {
	struct rep_drawn_node *nodes; /* holders before what they hold; groups last */
	size_t nodes_count;
	struct hg_picture_edge *edges; /* each pair of nodes once, in order of the nodes */
	size_t edges_count;
	uint64_t total_bytes;
};

enum hg_status rep_draw_picture(struct rep_context *context, hg_node from, uint32_t max_nodes,
	uint64_t min_bytes, struct rep_picture *out);
void rep_picture_release(struct rep_picture *picture);

#endif
