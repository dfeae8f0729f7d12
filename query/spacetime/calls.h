/*
 * The calls of a series by place in the source, with what was allocated and is alive of each path
 * of calls, or how often it was called.  Backtraces are not kept: a path is a node.
 */
#ifndef QUERY_SPACETIME_CALLS_H
#define QUERY_SPACETIME_CALLS_H

#include "query/spacetime/points.h"
#include "query/trace/preorder.h"

/*
 * Of amounts 'promoted' is words allocated, 'live' words and 'peak' blocks alive in the snapshot,
 * 'samples' what the view counts.  Labels are names of the trace.
 */
struct query_series_calls {
	struct hg_trace *trace;
	struct hg_error *error;
	struct hg_spacetime_view view;
	struct query_spacetime_places names;
	struct spacetime_walk walk;
	uint32_t *node_of; /* of frames of the walk */
	uint64_t frame_count, frame_capacity;
	struct query_call_list list;
	uint64_t capacity, label_capacity;
	/* By place: 0, or the node of it between 'marked' and the root. */
	uint32_t *marks;
	uint64_t mark_capacity;
	uint32_t marked;
	struct base_map children;      /* by node and place */
	struct base_map by_annotation; /* a node */
};

/* HG_ERROR_INPUT of a series that is not complete.  Released by the caller, after failures too. */
enum hg_status query_series_calls_init(struct query_series_calls *calls, struct hg_trace *trace,
	const struct hg_spacetime_view *view);
void query_series_calls_release(struct query_series_calls *calls);

#endif
