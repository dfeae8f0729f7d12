/*
 * What is alive over time, at equal steps: for all that counts, and as the measure of what is told
 * by place.
 */
#ifndef QUERY_TRACE_COURSE_H
#define QUERY_TRACE_COURSE_H

#include "query/trace/trace.h"

/* The times of so many points, up to the end; from malloc. */
enum hg_status query_begin_course(
	struct hg_trace *trace, uint64_t count, struct hg_trace_moment **moments);

/*
 * Reads the events that fit the filter (NULL: all), and fills what is alive and was allocated at
 * the points; of the result peak and losses.
 */
enum hg_status query_follow_course(struct hg_trace *trace, const struct query_filter *filter,
	struct hg_trace_moment *moments, uint64_t count, struct hg_trace_course *out);

#endif
