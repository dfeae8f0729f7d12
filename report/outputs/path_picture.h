/*
 * What of the retention tree a picture shows: the rows that retain most, what was left out below
 * each, and between those shown the pointers that are no dominance and are many.
 */
#ifndef REPORT_OUTPUTS_PATH_PICTURE_H
#define REPORT_OUTPUTS_PATH_PICTURE_H

#include "report/outputs/outputs.h"

#define REP_NOWHERE UINT32_MAX

/* Numbers of nodes are those of this picture. */
struct rep_path_node {
	uint32_t row;
	uint32_t content; /* of a root that is one block, as of a global: the row of that; or 0 */
	uint32_t parent;  /* REP_NOWHERE right below all roots */
	uint32_t stands;  /* right of or below which node it is drawn: its parent, or of those that
			     share it the one with most pointers, or REP_NOWHERE */
	uint64_t sharers; /* right below all roots: how many hold it together */
	uint32_t sharer;  /* the row of the first of them */
	uint64_t hidden, hidden_bytes;
};

struct rep_path_cross {
	uint32_t from, to;
	uint64_t pointers;
};

/* Released with rep_path_picture_release(). */
struct rep_path_picture {
	struct hg_retention *tree;
	struct rep_path_node *nodes; /* in order of the rows; row 0 is none of them */
	size_t nodes_count;
	struct rep_path_cross *crosses; /* by 'to', pointers descending, 'from' */
	size_t crosses_count;
	uint64_t total_bytes;          /* what row 0 retains, in the heap and outside */
	uint64_t min_bytes;            /* what the least of the nodes retains */
	uint64_t hidden, hidden_bytes; /* right below row 0 */
};

enum hg_status rep_choose_paths(struct rep_context *context, const struct rep_dot_request *request,
	struct rep_path_picture *out);
void rep_path_picture_release(struct rep_path_picture *picture);

#endif
