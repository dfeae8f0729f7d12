/*
 * The retention tree as callers have it: rows in the order in which they are shown.
 */
#ifndef QUERY_RETENTION_VIEW_H
#define QUERY_RETENTION_VIEW_H

#include "graph/cross.h"
#include "query/retention/tree.h"

struct hg_retention {
	struct hg_snapshot *snapshot;
	struct query_retention tree;
	struct hg_retention_row *rows;
	uint32_t *row_of;          /* by number of the node */
	uint32_t *node_of;         /* by row */
	struct graph_cross *edges; /* from row to row, once asked for; sorted by 'to' */
	uint64_t edge_count;
	bool has_edges;
};

static inline uint32_t query_class_of_row(const struct hg_retention *retention, uint32_t row)
{
	return retention->tree.nodes[retention->node_of[row]].class;
}

/* Begins an answer about a tree, as query_answer(). */
enum hg_status query_retention_answer(struct hg_retention *retention, void *out, size_t size);

/* The first row after those below a row. */
uint32_t query_retention_end(const struct hg_retention *retention, uint32_t row);

#endif
