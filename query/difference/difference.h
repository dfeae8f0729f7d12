/*
 * Two profiles beside each other: one tree of names with the amounts of both, made by adding what
 * either has.  Names are matched as text.
 */
#ifndef QUERY_DIFFERENCE_DIFFERENCE_H
#define QUERY_DIFFERENCE_DIFFERENCE_H

#include "base/hash.h"
#include "heapgraph.h"
#include "query/trace/trace.h"

enum { QUERY_OLDER, QUERY_NEWER, QUERY_SIDES };

/* Samples, words or blocks. */
struct query_diff_amounts {
	uint64_t of[HG_TRACE_DIFF_MEASURES];
};

/* 96 bytes a node and 32 for its place in the map; a zeroed one with names has no node. */
struct query_diff {
	struct hg_error *error;
	struct trace_names *names; /* to which those of nodes are added */
	struct query_diff_node {
		uint32_t parent, name;
		uint32_t depth;
		struct query_diff_amounts amounts[QUERY_SIDES];
	} * nodes; /* node 0 is the root; parents come before their children */
	uint64_t count, capacity;
	struct base_map children; /* by parent and name */
};

void query_diff_release(struct query_diff *diff);

/* Adds to the root of an empty one, which is made; once for each side. */
enum hg_status query_diff_add_root(
	struct query_diff *diff, unsigned side, const struct query_diff_amounts *amounts);

/* Adds to the child of that name. */
enum hg_status query_diff_add(struct query_diff *diff, uint32_t parent, const char *name,
	size_t length, unsigned side, const struct query_diff_amounts *amounts, uint32_t *node);

/* Adds all nodes of a tree; 'convert' says what their amounts are. */
typedef struct query_diff_amounts query_diff_convert_fn(const struct hg_trace_amounts *amounts);
enum hg_status query_diff_add_calls(struct query_diff *diff, unsigned side,
	const struct hg_trace_tree *tree, query_diff_convert_fn *convert);

/* Adds what a trace, or a series, has, and says what it is. */
typedef enum hg_status query_diff_add_fn(struct query_diff *diff, unsigned side,
	struct hg_trace *trace, const struct hg_trace_diff_options *options,
	struct hg_trace_diff_side *out);
query_diff_add_fn query_diff_add_trace, query_diff_add_series;

/* Makes the result's nodes: the rates of the two sides, and bytes of a word of both. */
enum hg_status query_diff_finish(const struct query_diff *diff, const double *rates,
	unsigned word_bytes, enum hg_trace_diff_measure count, struct hg_trace_diff *out);

#endif
