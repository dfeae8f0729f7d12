/* What is alive over time, point by point. */
#include "query/trace/course.h"

#include "query/trace/alive.h"
#include "query/trace/pass.h"

#include "base/search.h"
#include "query/shared/result.h"

#include <stdlib.h>

/*
 * Events of several domains are not in the order of time.  So each changes the first point that it
 * is not behind, and the changes are summed at the end.
 */
struct course {
	struct hg_trace *trace;
	struct query_pass pass;
	struct query_alive alive;
	struct hg_trace_moment *moments;
	uint64_t count;
};

/* In samples.  What is gone wraps a change around, but not the sum. */
static void change_course(struct course *course, uint64_t time, uint64_t allocated, uint64_t live)
{
	uint64_t point = BASE_FIRST_FROM(course->moments, course->count, time_us, time);
	/* The end is the time of the last event in the file, and not always the latest. */
	if (point == course->count)
		point--;
	course->moments[point].live += live;
	course->moments[point].allocated += allocated;
}

static enum hg_status follow_event(struct course *course, const struct memtrace_event *event)
{
	uint64_t before = course->alive.totals.live;
	BASE_TRY(query_alive_add(&course->alive, event, 0, &course->trace->session->error));
	change_course(course, event->time, event->kind == MEMTRACE_ALLOCATION ? event->samples : 0,
		course->alive.totals.live - before);
	return HG_OK;
}

static enum hg_status follow_course(struct course *course)
{
	struct memtrace_event event;
	while (query_pass_next(&course->pass, &event))
		BASE_TRY(follow_event(course, &event));
	for (uint64_t i = 1; i < course->count; i++) {
		course->moments[i].live += course->moments[i - 1].live;
		course->moments[i].allocated += course->moments[i - 1].allocated;
	}
	return HG_OK;
}

static enum hg_status pass_course(
	struct course *course, const struct query_filter *filter, struct hg_trace_course *out)
{
	BASE_TRY(query_pass_begin(&course->pass, course->trace, filter));
	BASE_TRY(query_alive_init(&course->alive, course->trace, filter, false));
	BASE_TRY(follow_course(course));
	BASE_TRY(query_pass_end(&course->pass, course->alive.unknown, &out->losses));
	out->peak = course->alive.totals.peak;
	out->peak_us = course->alive.peak_time;
	return HG_OK;
}

enum hg_status query_follow_course(struct hg_trace *trace, const struct query_filter *filter,
	struct hg_trace_moment *moments, uint64_t count, struct hg_trace_course *out)
{
	struct course course = {.trace = trace, .moments = moments, .count = count};
	enum hg_status status = pass_course(&course, filter, out);
	query_alive_release(&course.alive);
	query_pass_release(&course.pass);
	return status;
}

enum hg_status query_begin_course(
	struct hg_trace *trace, uint64_t count, struct hg_trace_moment **moments)
{
	const struct hg_trace_info *info;
	/* When the trace ends is known at its end only. */
	BASE_TRY(hg_describe_trace(trace, &info));
	*moments = calloc(count, sizeof(**moments));
	if (!*moments)
		return base_no_memory(&trace->session->error, count * sizeof(**moments));
	for (uint64_t i = 0; i < count; i++)
		(*moments)[i].time_us =
			(uint64_t)((double)info->end_us * (double)(i + 1) / (double)count);
	return HG_OK;
}

enum hg_status hg_list_trace_course(
	struct hg_trace *trace, uint64_t points, struct hg_trace_course **out)
{
	enum { MOST_POINTS = 10000000 };
	struct hg_trace_moment *moments;
	BASE_TRY(query_trace_begin(trace, (void *)out));
	struct hg_error *error = &trace->session->error;
	if (!points || points > MOST_POINTS)
		return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET, "a course has 1 to %d points",
			MOST_POINTS);
	BASE_TRY(query_begin_course(trace, points, &moments));
	enum hg_status status = query_answer_of(error, sizeof(**out), out);
	if (status == HG_OK)
		status = query_follow_course(trace, &trace->filter, moments, points, *out);
	if (status == HG_OK) {
		(*out)->count = points;
		status = query_keep_rows_of(
			error, *out, moments, points, sizeof(*moments), &(*out)->rows);
	} else {
		free(moments);
	}
	if (status != HG_OK)
		hg_trace_course_release(out);
	return status;
}

void hg_trace_course_release(struct hg_trace_course **course)
{
	query_free(course);
}
