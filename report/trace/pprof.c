/*
 * A trace as a profile for pprof, with the four values that its heap profiles have: blocks and
 * bytes, allocated and in use.
 *
 * Source of the format: https://github.com/google/pprof, proto/profile.proto.
 */
#include "report/trace/trace.h"

#include "report/trace/protobuf.h"

#include "base/hash.h"

#include <string.h>

/* Numbers of fields. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME = 9,
	PROFILE_DURATION = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_DEFAULT_TYPE = 14
};
enum { TYPE_NAME = 1, TYPE_UNIT = 2 };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES = 2 };
enum { LOCATION_ID = 1, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_NUMBER = 2 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4 };

struct profile {
	struct rep_trace_context *context;
	const struct hg_trace_stacks *stacks;
	FILE *stream;
	struct rep_message part, inner; /* of the profile, and within it */
	struct base_map strings;        /* by address: equal names are kept once */
	uint64_t string_count;
	bool without_objects; /* of a series, which does not tell how many were allocated */
	bool failed;
};

/* A part of the profile may be written when it is complete. */
static void flush_profile(struct profile *p)
{
	p->failed |= p->part.failed || p->inner.failed;
	if (!p->failed && p->part.length)
		fwrite(p->part.bytes, 1, p->part.length, p->stream);
	p->part.length = 0;
}

static uint64_t add_profile_string(struct profile *p, const char *string)
{
	uint64_t number = p->string_count;
	bool added;
	if (base_map_add(&p->strings, (uint64_t)(uintptr_t)string, &number, &added,
		    p->context->error) != HG_OK) {
		p->failed = true;
		return 0;
	}
	if (!added)
		return number;
	p->string_count++;
	rep_message_bytes(&p->part, PROFILE_STRING, string, strlen(string));
	flush_profile(p);
	return number;
}

static void add_profile_type(struct profile *p, unsigned field, const char *type, const char *unit)
{
	uint64_t type_string = add_profile_string(p, type),
		 unit_string = add_profile_string(p, unit);
	rep_message_number(&p->inner, TYPE_NAME, type_string);
	rep_message_number(&p->inner, TYPE_UNIT, unit_string);
	rep_message_put(&p->part, field, &p->inner);
	flush_profile(p);
}

/* Locations and functions are numbered alike, from 1 on. */
static void add_profile_frame(struct profile *p, uint64_t id, const struct hg_trace_frame *frame)
{
	struct rep_message line = {0};
	uint64_t name = add_profile_string(p, frame->function);
	uint64_t file = add_profile_string(p, frame->file);
	rep_message_number(&p->inner, FUNCTION_ID, id);
	rep_message_number(&p->inner, FUNCTION_NAME, name);
	rep_message_number(&p->inner, FUNCTION_SYSTEM_NAME, name);
	rep_message_number(&p->inner, FUNCTION_FILE, file);
	rep_message_put(&p->part, PROFILE_FUNCTION, &p->inner);
	rep_message_number(&line, LINE_FUNCTION, id);
	rep_message_number(&line, LINE_NUMBER, frame->line);
	rep_message_number(&p->inner, LOCATION_ID, id);
	rep_message_put(&p->inner, LOCATION_LINE, &line);
	rep_message_put(&p->part, PROFILE_LOCATION, &p->inner);
	rep_message_release(&line);
	flush_profile(p);
}

/* The innermost frame first.  What has no stack is in a frame of its own, behind all others. */
static void add_profile_sample(
	struct profile *p, const struct hg_trace_info *info, const struct hg_trace_stack *stack)
{
	struct rep_message packed = {0};
	const struct hg_trace_stack *const *stacks = p->stacks->stacks;
	if (!stack->depth)
		rep_message_varint(&packed, p->stacks->frame_count + 1);
	for (const struct hg_trace_stack *at = stack; at->depth; at = stacks[at->parent])
		rep_message_varint(&packed, at->frame + UINT64_C(1));
	rep_message_put(&p->inner, SAMPLE_LOCATIONS, &packed);
	if (!p->without_objects)
		rep_message_varint(&packed, stack->blocks);
	rep_message_varint(&packed, rep_trace_bytes(info, stack->samples));
	rep_message_varint(&packed, stack->alive_blocks);
	rep_message_varint(&packed, rep_trace_bytes(info, stack->alive_samples));
	rep_message_put(&p->inner, SAMPLE_VALUES, &packed);
	rep_message_put(&p->part, PROFILE_SAMPLE, &p->inner);
	rep_message_release(&packed);
	flush_profile(p);
}

static void write_profile(struct profile *p, const struct hg_trace_info *info)
{
	static const struct hg_trace_frame no_backtrace = {"(no backtrace)", "", 0};
	const struct hg_trace_stacks *stacks = p->stacks;
	add_profile_string(p, "");
	if (!p->without_objects)
		add_profile_type(p, PROFILE_SAMPLE_TYPE, "alloc_objects", "count");
	add_profile_type(p, PROFILE_SAMPLE_TYPE, "alloc_space", "bytes");
	add_profile_type(p, PROFILE_SAMPLE_TYPE, "inuse_objects", "count");
	add_profile_type(p, PROFILE_SAMPLE_TYPE, "inuse_space", "bytes");
	add_profile_type(p, PROFILE_PERIOD_TYPE, "space", "bytes");
	for (size_t i = 0; i < stacks->frame_count && !p->failed; i++)
		add_profile_frame(p, i + 1, stacks->frames[i]);
	if (stacks->stacks[0]->samples || stacks->stacks[0]->alive_samples)
		add_profile_frame(p, stacks->frame_count + 1, &no_backtrace);
	for (size_t i = 0; i < stacks->count && !p->failed && !ferror(p->stream); i++)
		if (stacks->stacks[i]->samples || stacks->stacks[i]->alive_samples)
			add_profile_sample(p, info, stacks->stacks[i]);
	rep_message_number(&p->part, PROFILE_TIME, info->start_us * 1000);
	rep_message_number(&p->part, PROFILE_DURATION, info->end_us * 1000);
	rep_message_number(&p->part, PROFILE_PERIOD, rep_trace_bytes(info, 1));
	uint64_t default_type = add_profile_string(p, "alloc_space");
	rep_message_number(&p->part, PROFILE_DEFAULT_TYPE, default_type);
	flush_profile(p);
}

enum hg_status rep_trace_pprof(
	struct rep_trace_context *context, const struct rep_trace_moment *moment, FILE *stream)
{
	struct hg_trace_stacks *stacks;
	const struct hg_trace_info *info;
	BASE_TRY(rep_trace_stacks(context, moment, &stacks));
	struct profile p = {.context = context,
		.stacks = stacks,
		.stream = stream,
		.without_objects = moment->view != NULL};
	enum hg_status status = HG_OK;
	info = hg_trace_header(context->trace);
	if (!moment->view)
		status = hg_describe_trace(context->trace, &info);
	if (status == HG_OK)
		write_profile(&p, info);
	if (p.failed)
		status = base_no_memory(context->error, p.part.room);
	rep_message_release(&p.part);
	rep_message_release(&p.inner);
	base_map_release(&p.strings);
	rep_trace_note(context, &stacks->losses);
	hg_trace_stacks_release(&stacks);
	return status;
}
