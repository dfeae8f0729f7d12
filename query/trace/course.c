/* What is alive over time. */
#include "query/trace/trace.h"

#include "query/trace/alive.h"

#include "base/search.h"
#include "query/shared/result.h"

#include <stdlib.h>

/*
 * Events of several domains are not in the order of time.  So each changes the first point that it
 * is not behind, and the changes are summed at the end.
 */
struct course {
	struct hg_trace *trace;
	struct query_alive alive;
	struct hg_trace_moment *moments;
	uint64_t count;
};

/* In samples.  What is gone may wrap a change around, but not the sum. */
static void change_course(
	struct course *course, uint64_t time, uint64_t allocated, uint64_t collected)
{
	uint64_t point = BASE_FIRST_FROM(course->moments, course->count, time_us, time);
	/* The end is the time of the last event in the file, and not always the latest. */
	if (point == course->count)
		point--;
	course->moments[point].live += allocated - collected;
	course->moments[point].allocated += allocated;
}

static void follow_event(struct course *course, const struct memtrace_event *event)
{
	if (event->kind == MEMTRACE_ALLOCATION)
		change_course(course, event->time, event->samples, 0);
	else if (event->kind == MEMTRACE_COLLECTION)
		change_course(course, event->time, 0, course->alive.objects[event->object].samples);
	query_alive_add(&course->alive, event, 0);
}

static enum hg_status follow_course(struct course *course)
{
	enum { EVENTS_AT_ONCE = 1 << 18 };
	struct hg_trace *trace = course->trace;
	struct memtrace_event event;
	BASE_TRY(query_alive_group(&course->alive, 0, &trace->session->error));
	for (uint64_t i = 1; memtrace_next(trace->reader, &event); i++) {
		follow_event(course, &event);
		if (i % EVENTS_AT_ONCE == 0)
			BASE_TRY(query_trace_progress(trace));
	}
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
	BASE_TRY(query_alive_init(&course->alive, trace));
	course->moments = calloc(course->count, sizeof(*course->moments));
	if (!course->moments)
		return base_no_memory(error, course->count * sizeof(*course->moments));
	for (uint64_t i = 0; i < course->count; i++)
		course->moments[i].time_us =
			(uint64_t)((double)end * (double)(i + 1) / (double)course->count);
	enum hg_status status = follow_course(course);
	if (status == HG_OK)
		status = query_trace_end(trace, course->alive.unknown, &out->losses);
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
	BASE_TRY(memtrace_rewind(trace->reader, &trace->session->error));
	BASE_TRY(query_answer_of(&trace->session->error, sizeof(**out), out));
	struct course course = {.trace = trace, .count = points};
	enum hg_status status = fill_course(&course, info->end_us, *out);
	query_alive_release(&course.alive);
	if (status != HG_OK)
		hg_trace_course_release(out);
	return status;
}

void hg_trace_course_release(struct hg_trace_course **course)
{
	query_free(course);
}
