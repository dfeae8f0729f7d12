/*
 * Rows by place of allocation, numbered as they come first: what answers about the places of a
 * series count in arrays of their own.
 */
#ifndef QUERY_SPACETIME_SITE_ROWS_H
#define QUERY_SPACETIME_SITE_ROWS_H

#include "query/spacetime/points.h"

struct query_site_rows {
	struct hg_trace *trace;
	struct query_spacetime_points points;
	struct base_map row_of; /* by place and C function */
	struct query_site_key {
		uint32_t place; /* a name of the trace's, or QUERY_NO_PLACE */
		bool in_c;
		uint32_t function; /* of C, if it is known */
	} * rows;
	uint64_t count, capacity;
};

/* Of a series, complete or not.  Released by the caller, after failures too. */
enum hg_status query_site_rows_init(struct query_site_rows *rows, struct hg_trace *trace);
void query_site_rows_release(struct query_site_rows *rows);

/* Of a series that is not complete a row is an annotation, as that is all that there is. */
enum hg_status query_site_row(
	struct query_site_rows *rows, const struct query_spacetime_point *point, uint64_t *row);
enum hg_status query_site_row_of(struct query_site_rows *rows, uint32_t annotation, uint64_t *row);
/* "" where no place is known; as long as the trace. */
const char *query_site_function(const struct query_site_rows *rows, uint64_t row);
const char *query_site_location(const struct query_site_rows *rows, uint64_t row);

#endif
