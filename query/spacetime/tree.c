/* Calls of a series as trees: from the outermost inwards, from the allocation outwards, as stacks.
 */
#include "query/spacetime/spacetime.h"

#include "query/shared/result.h"
#include "query/spacetime/calls.h"

#include <stdlib.h>
#include <string.h>

/* Takes over the status; a tree is made whole or not at all. */
static enum hg_status end_series_tree(
	struct query_series_calls *calls, enum hg_status status, struct hg_trace_tree **out)
{
	struct hg_trace *trace = calls->trace;
	query_series_calls_release(calls);
	if (status == HG_OK)
		status = query_spacetime_end(trace, &(*out)->losses);
	if (status == HG_OK)
		return HG_OK;
	hg_trace_tree_release(out);
	return query_trace_failed(trace, status);
}

enum hg_status hg_list_spacetime_calls(struct hg_trace *trace, const struct hg_spacetime_view *view,
	enum hg_trace_order order, struct hg_trace_tree **out)
{
	struct query_series_calls calls;
	BASE_TRY(query_spacetime_begin(trace, (void *)out));
	struct hg_error *error = &trace->session->error;
	if (order != HG_TRACE_BY_SAMPLES && order != HG_TRACE_BY_NAME)
		return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET, "no such order of calls");
	BASE_TRY(query_answer_of(error, sizeof(**out), out));
	enum hg_status status = query_series_calls_init(&calls, trace, view);
	if (status == HG_OK) {
		struct hg_trace_node *nodes = calls.list.nodes;
		calls.list.nodes = NULL;
		(*out)->all_samples = nodes[0].total.samples;
		status = query_make_trace_tree(error, nodes, calls.list.count, order, *out);
	}
	return end_series_tree(&calls, status, out);
}

enum hg_status hg_list_spacetime_callers(struct hg_trace *trace,
	const struct hg_spacetime_view *view, const struct hg_trace_callers_options *options,
	struct hg_trace_tree **out)
{
	struct query_series_calls calls;
	struct hg_trace_callers_options wanted;
	BASE_TRY(query_spacetime_begin(trace, (void *)out));
	BASE_TRY(query_callers_options(trace, options, &wanted));
	BASE_TRY(query_answer_of(&trace->session->error, sizeof(**out), out));
	enum hg_status status = query_series_calls_init(&calls, trace, view);
	if (status == HG_OK)
		status = query_make_callers(trace, &calls.list, &wanted, *out);
	return end_series_tree(&calls, status, out);
}

/* Frames are numbered as their places come first. */
struct series_stacks {
	const struct query_series_calls *calls;
	struct base_map frame_of; /* by place */
	struct hg_trace_frame *frames;
	uint64_t frame_count;
	struct hg_trace_stack *stacks;
};

/* Files and lines of places, which are names of the trace. */
static enum hg_status fill_series_frames(struct series_stacks *s)
{
	const struct query_spacetime_places *names = &s->calls->names;
	const struct spacetime_tables *tables = &names->tables;
	struct trace_names *kept = &names->trace->names;
	for (uint64_t i = 0; i < tables->location_count; i++) {
		uint32_t frame, file;
		if (!names->names[i] ||
			!base_map_number(&s->frame_of, names->names[i] - UINT64_C(1), &frame))
			continue;
		const struct spacetime_location *location = &tables->locations[i];
		const char *text = trace_name(&tables->files, location->file);
		BASE_TRY(trace_names_add(kept, text, strlen(text), &file, s->calls->error));
		s->frames[frame].file = trace_name(kept, file);
		s->frames[frame].line = location->line > 0 && location->line < UINT32_MAX
						? (uint32_t)location->line
						: 0;
	}
	return HG_OK;
}

static enum hg_status fill_series_stacks(struct series_stacks *s)
{
	const struct query_call_list *list = &s->calls->list;
	for (uint64_t i = 0; i < list->count; i++) {
		const struct hg_trace_node *node = &list->nodes[i];
		uint64_t frame = s->frame_count;
		bool added = false;
		if (i)
			BASE_TRY(base_map_add(
				&s->frame_of, list->labels[i], &frame, &added, s->calls->error));
		if (added)
			s->frames[s->frame_count++] =
				(struct hg_trace_frame){.function = node->name, .file = ""};
		s->stacks[i] = (struct hg_trace_stack){.parent = node->parent,
			.depth = node->depth,
			.frame = i ? (uint32_t)frame : 0,
			.samples = node->own.promoted,
			.alive_samples = node->own.live,
			.alive_blocks = node->own.peak};
	}
	return fill_series_frames(s);
}

static enum hg_status make_series_stacks(
	const struct query_series_calls *calls, struct hg_trace_stacks *out)
{
	uint64_t count = calls->list.count;
	struct series_stacks s = {.calls = calls,
		.frames = calloc(count, sizeof(*s.frames)),
		.stacks = calloc(count, sizeof(*s.stacks))};
	enum hg_status status = s.frames && s.stacks
					? fill_series_stacks(&s)
					: base_no_memory(calls->error, count * sizeof(*s.stacks));
	base_map_release(&s.frame_of);
	if (status != HG_OK) {
		free(s.frames);
		free(s.stacks);
		return status;
	}
	out->count = count;
	out->frame_count = s.frame_count;
	status = query_keep_rows_of(
		calls->error, out, s.frames, s.frame_count, sizeof(*s.frames), &out->frames);
	if (status != HG_OK) {
		free(s.stacks);
		return status;
	}
	return query_keep_rows_of(
		calls->error, out, s.stacks, count, sizeof(*s.stacks), &out->stacks);
}

enum hg_status hg_list_spacetime_stacks(
	struct hg_trace *trace, const struct hg_spacetime_view *view, struct hg_trace_stacks **out)
{
	struct query_series_calls calls;
	BASE_TRY(query_spacetime_begin(trace, (void *)out));
	BASE_TRY(query_answer_of(&trace->session->error, sizeof(**out), out));
	enum hg_status status = query_series_calls_init(&calls, trace, view);
	if (status == HG_OK)
		status = make_series_stacks(&calls, *out);
	query_series_calls_release(&calls);
	if (status == HG_OK)
		status = query_spacetime_end(trace, &(*out)->losses);
	if (status == HG_OK)
		return HG_OK;
	hg_trace_stacks_release(out);
	return query_trace_failed(trace, status);
}
