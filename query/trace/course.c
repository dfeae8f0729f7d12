/* What is alive over time. */
#include "query/trace/trace.h"

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

static void follow_event(struct course *course, const struct memtrace_event *event)
{
	uint64_t before = course->alive.totals.live;
	query_alive_add(&course->alive, event, 0);
	change_course(course, event->time, event->kind == MEMTRACE_ALLOCATION ? event->samples : 0,
		course->alive.totals.live - before);
}

static enum hg_status follow_course(struct course *course)
{
	struct memtrace_event event;
	BASE_TRY(query_alive_group(&course->alive, 0, &course->trace->session->error));
	while (query_pass_next(&course->pass, &event))
		follow_event(course, &event);
	for (uint64_t i = 1; i < course->count; i++) {
		course->moments[i].live += course->moments[i - 1].live;
		course->moments[i].allocated += course->moments[i - 1].allocated;
	}
	return HG_OK;
}

static enum hg_status fill_course(struct course *course, uint64_t end, struct hg_trace_course *out)
{
	struct hg_trace *trace = course->trace;
	struct hg_error *error = &trace->session->error;
	BASE_TRY(query_pass_begin(&course->pass, trace, &trace->filter));
	BASE_TRY(query_alive_init(&course->alive, trace, &trace->filter));
	course->moments = calloc(course->count, sizeof(*course->moments));
	if (!course->moments)
		return base_no_memory(error, course->count * sizeof(*course->moments));
	for (uint64_t i = 0; i < course->count; i++)
		course->moments[i].time_us =
			(uint64_t)((double)end * (double)(i + 1) / (double)course->count);
	enum hg_status status = follow_course(course);
	if (status == HG_OK)
		status = query_pass_end(&course->pass, course->alive.unknown, &out->losses);
	if (status != HG_OK) {
		free(course->moments);
		return status;
	}
	out->count = course->count;
	out->peak = course->alive.totals.peak;
	out->peak_us = course->alive.peak_time;
	return query_keep_rows_of(
		error, out, course->moments, course->count, sizeof(*course->moments), &out->rows);
}

enum hg_status hg_list_trace_course(
	struct hg_trace *trace, uint64_t points, struct hg_trace_course **out)
{
	enum { MOST_POINTS = 10000000 };
	const struct hg_trace_info *info;
	BASE_TRY(query_trace_begin(trace, (void *)out));
	if (!points || points > MOST_POINTS)
		return base_fail(&trace->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"a course has 1 to %d points", MOST_POINTS);
	/* When the trace ends is known at its end only. */
	BASE_TRY(hg_describe_trace(trace, &info));
	BASE_TRY(query_answer_of(&trace->session->error, sizeof(**out), out));
	struct course course = {.trace = trace, .count = points};
	enum hg_status status = fill_course(&course, info->end_us, *out);
	query_alive_release(&course.alive);
	query_pass_release(&course.pass);
	if (status != HG_OK)
		hg_trace_course_release(out);
	return status;
}

void hg_trace_course_release(struct hg_trace_course **course)
{
	query_free(course);
}
