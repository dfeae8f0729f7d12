/*
 * The allocation points of a series, each with its place: the innermost location in OCaml that is
 * known.  Backtraces are not kept, so that deep recursion costs a number a frame.
 */
#ifndef QUERY_SPACETIME_POINTS_H
#define QUERY_SPACETIME_POINTS_H

#include "query/spacetime/spacetime.h"

/* Of points without a place. */
#define QUERY_NO_PLACE UINT32_MAX

/* What places are told of: return addresses, with names of the trace. */
struct query_spacetime_places {
	struct hg_trace *trace;
	struct spacetime_tables tables;
	uint32_t *names; /* of locations, + 1; 0: not made yet */
};

enum hg_status query_spacetime_places_init(
	struct query_spacetime_places *places, struct hg_trace *trace);
void query_spacetime_places_release(struct query_spacetime_places *places);

/* The name "file:line:start-end" of a location that is known; made once. */
enum hg_status query_spacetime_name(
	struct query_spacetime_places *places, uint32_t location, uint32_t *place);
/* The innermost place of a return address in OCaml; QUERY_NO_PLACE if none is known. */
enum hg_status query_spacetime_place(
	struct query_spacetime_places *places, uint64_t pc, uint32_t *place);

/* The function that an address in it is of, by the symbols of the program; QUERY_NO_PLACE if there
 * is no program, or none is known. */
enum hg_status query_spacetime_symbol(
	struct query_spacetime_places *places, uint64_t address, uint32_t *place);

/* Walks all tries, with what of it cannot be read noted as lost. */
enum hg_status query_spacetime_walk_all(struct hg_trace *trace, struct spacetime_walk *walk);

/* A zeroed one is that of a series that is not complete. */
struct query_spacetime_points {
	struct query_spacetime_point {
		uint32_t annotation;
		uint32_t place; /* a name of the trace's */
		bool in_c;
		uint32_t function; /* of C, that the place called; a name too, if it is known */
		uint64_t words;    /* allocated up to the end */
	} * points;
	uint64_t count, capacity;
	struct base_map by_annotation; /* an index of points */
};

/* Walks all tries of a complete series. */
enum hg_status query_spacetime_points_init(
	struct query_spacetime_points *points, struct hg_trace *trace);
void query_spacetime_points_release(struct query_spacetime_points *points);

#endif
