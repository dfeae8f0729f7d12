/*
 * The allocation points of a series, each with its place: the innermost location in OCaml that is
 * known.  Backtraces are not kept, so that deep recursion costs a number a frame.
 */
#ifndef QUERY_SPACETIME_POINTS_H
#define QUERY_SPACETIME_POINTS_H

#include "query/spacetime/spacetime.h"

/* Of points without a place. */
#define QUERY_NO_PLACE UINT32_MAX

/* A zeroed one is that of a series that is not complete. */
struct query_spacetime_points {
	struct query_spacetime_point {
		uint32_t annotation;
		uint32_t place; /* a name of the trace's */
		bool in_c;
		uint64_t words; /* allocated up to the end */
	} * points;
	uint64_t count, capacity;
	struct base_map by_annotation; /* an index of points */
};

/* Walks all tries of a complete series. */
enum hg_status query_spacetime_points_init(
	struct query_spacetime_points *points, struct hg_trace *trace);
void query_spacetime_points_release(struct query_spacetime_points *points);

#endif
