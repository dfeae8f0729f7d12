/* Call stacks with places in the source, and what they allocate, for viewers of other people. */
#include "query/trace/trace.h"

#include "query/trace/calls.h"
#include "query/trace/pass.h"

#include "base/grow.h"
#include "query/shared/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is alive at one time is counted by the events up to then.  16 bytes an object. */
struct stacks {
	struct hg_trace *trace;
	struct hg_error *error;
	struct query_pass pass;
	struct query_calls calls;
	struct base_arena arena;
	struct stacks_object {
		uint64_t samples;
		uint32_t node;
		float words; /* that samples are drawn from, with header */
	} * objects;
	struct stacks_sums {
		uint64_t samples, alive;
		double blocks, alive_blocks; /* times the rate */
	} * sums;                            /* of nodes */
	uint64_t count, capacity;
	uint64_t time, unknown;
};

static enum hg_status add_stack(struct stacks *s, const struct memtrace_event *event)
{
	struct stacks_object *object = &s->objects[event->object];
	bool has_header = event->source != MEMTRACE_EXTERNAL;
	double words = (double)event->length + (has_header ? 1 : 0);
	*object = (struct stacks_object){
		.samples = event->samples, .words = (float)(words < 1 ? 1 : words)};
	BASE_TRY(query_calls_node(&s->calls, event, &object->node, s->error));
	while (s->count < s->calls.count) {
		BASE_TRY(base_grow(&s->sums, s->count, &s->capacity, sizeof(*s->sums), s->error));
		s->sums[s->count++] = (struct stacks_sums){0};
	}
	struct stacks_sums *sums = &s->sums[object->node];
	sums->samples += object->samples;
	sums->blocks += (double)object->samples / object->words;
	if (event->time <= s->time) {
		sums->alive += object->samples;
		sums->alive_blocks += (double)object->samples / object->words;
	}
	return HG_OK;
}

static void take_from_stack(struct stacks *s, const struct memtrace_event *event)
{
	struct stacks_object *object = &s->objects[event->object];
	struct stacks_sums *sums = s->sums + object->node;
	if (!object->samples)
		s->unknown++;
	if (object->samples && event->time <= s->time) {
		sums->alive -= object->samples;
		sums->alive_blocks -= (double)object->samples / object->words;
	}
	object->samples = 0;
}

static enum hg_status count_stacks(struct stacks *s, struct hg_trace_stacks *out)
{
	struct hg_trace *trace = s->trace;
	struct memtrace_event event;
	void *objects;
	BASE_TRY(query_pass_begin(&s->pass, trace, &trace->filter));
	BASE_TRY(base_arena_init(
		&s->arena, &trace->session->budget, "objects of the trace", s->error));
	BASE_TRY(base_arena_zalloc(&s->arena, memtrace_objects(trace->reader), sizeof(*s->objects),
		&objects, s->error));
	s->objects = objects;
	BASE_TRY(query_calls_init(&s->calls, memtrace_places(trace->reader),
		&trace->session->budget, QUERY_PLACES_ONCE, &trace->filter, s->error));
	while (query_pass_next(&s->pass, &event)) {
		if (event.kind == MEMTRACE_ALLOCATION)
			BASE_TRY(add_stack(s, &event));
		else if (event.kind == MEMTRACE_COLLECTION)
			take_from_stack(s, &event);
	}
	return query_pass_end(&s->pass, s->unknown, &out->losses);
}

/* Names of the reader live as long as the trace. */
static void fill_frame(const struct stacks *s, uint32_t place, struct hg_trace_frame *frame)
{
	const struct memtrace_locations *locations = s->calls.locations;
	uint32_t number = s->calls.place_locations[place];
	*frame = (struct hg_trace_frame){.file = ""};
	if (number == UINT32_MAX)
		return;
	const struct memtrace_location *location = &locations->locations[number];
	frame->function = trace_name(&locations->names, location->function);
	frame->file = trace_name(&locations->names, location->file);
	frame->line = location->line;
}

static enum hg_status make_frames(const struct stacks *s, struct hg_trace_stacks *out)
{
	uint64_t count = s->calls.places.count;
	struct hg_trace_frame *frames = calloc(count + 1, sizeof(*frames));
	if (!frames)
		return base_no_memory(s->error, count * sizeof(*frames));
	enum hg_status status = HG_OK;
	for (uint64_t i = 0; i < count && status == HG_OK; i++) {
		const char *text = trace_name(&s->calls.places, (uint32_t)i);
		uint32_t number = 0;
		fill_frame(s, (uint32_t)i, &frames[i]);
		if (!frames[i].function)
			status = trace_names_add(
				&s->trace->names, text, strlen(text), &number, s->error);
		if (!frames[i].function && status == HG_OK)
			frames[i].function = trace_name(&s->trace->names, number);
	}
	if (status != HG_OK) {
		free(frames);
		return status;
	}
	out->frame_count = count;
	return query_keep_rows_of(s->error, out, frames, count, sizeof(*frames), &out->frames);
}

static enum hg_status make_stacks(const struct stacks *s, struct hg_trace_stacks *out)
{
	double rate = s->trace->header.rate;
	struct hg_trace_stack *stacks = calloc(s->calls.count, sizeof(*stacks));
	if (!stacks)
		return base_no_memory(s->error, s->calls.count * sizeof(*stacks));
	for (uint64_t i = 0; i < s->calls.count; i++) {
		const struct query_call *call = &s->calls.nodes[i];
		stacks[i] = (struct hg_trace_stack){.parent = call->parent,
			.depth = call->depth,
			.frame = i ? call->function : 0};
		if (i >= s->count)
			continue;
		stacks[i].samples = s->sums[i].samples;
		stacks[i].alive_samples = s->sums[i].alive;
		stacks[i].blocks = (uint64_t)llround(s->sums[i].blocks / rate);
		stacks[i].alive_blocks = (uint64_t)llround(fmax(s->sums[i].alive_blocks, 0) / rate);
	}
	out->count = s->calls.count;
	return query_keep_rows_of(
		s->error, out, stacks, s->calls.count, sizeof(*stacks), &out->stacks);
}

static enum hg_status fill_stacks(struct stacks *s, struct hg_trace_stacks *out)
{
	BASE_TRY(count_stacks(s, out));
	out->time_us = s->time;
	BASE_TRY(make_frames(s, out));
	return make_stacks(s, out);
}

enum hg_status hg_list_trace_stacks(struct hg_trace *trace, enum hg_trace_moment_of moment,
	uint64_t time_us, struct hg_trace_stacks **out)
{
	const struct hg_trace_info *info;
	BASE_TRY(query_trace_begin(trace, (void *)out));
	struct stacks s = {.trace = trace, .error = &trace->session->error, .time = time_us};
	if (moment != HG_TRACE_AT_END && moment != HG_TRACE_AT_PEAK && moment != HG_TRACE_AT_TIME)
		return base_fail(s.error, HG_ERROR_USAGE, HG_NO_OFFSET, "no such moment");
	BASE_TRY(hg_describe_trace(trace, &info));
	if (moment != HG_TRACE_AT_TIME)
		s.time = moment == HG_TRACE_AT_PEAK ? info->peak_us : info->end_us;
	BASE_TRY(query_answer_of(s.error, sizeof(**out), out));
	enum hg_status status = fill_stacks(&s, *out);
	query_pass_release(&s.pass);
	query_calls_release(&s.calls);
	base_arena_release(&s.arena);
	free(s.sums);
	if (status != HG_OK)
		hg_trace_stacks_release(out);
	return status;
}

void hg_trace_stacks_release(struct hg_trace_stacks **stacks)
{
	query_free(stacks);
}
