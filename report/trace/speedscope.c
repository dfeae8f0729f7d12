/*
 * A trace for speedscope.app: what is allocated and what is alive, as profiles that enter and leave
 * frames, so that a stack is not written out for each of its parts.
 *
 * Source of the format: https://www.speedscope.app/file-format-schema.json
 */
#include "report/trace/trace.h"

#include "report/writers/escape.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Of a stack and all below it, in preorder. */
struct scope {
	const struct hg_trace_stacks *stacks;
	FILE *stream;
	struct scope_stack {
		uint32_t first_child, next; /* 0: none */
		uint64_t below[2];          /* allocated, alive; with its own */
	} * nodes;
	struct rep_text text;
};

static uint64_t own_of_stack(const struct hg_trace_stack *stack, unsigned value)
{
	return value ? stack->alive_samples : stack->samples;
}

static bool link_stacks(struct scope *scope)
{
	size_t count = scope->stacks->count;
	scope->nodes = calloc(count, sizeof(*scope->nodes));
	if (!scope->nodes)
		return false;
	for (size_t i = count; i-- > 0;) {
		const struct hg_trace_stack *stack = scope->stacks->stacks[i];
		struct scope_stack *node = &scope->nodes[i];
		for (unsigned v = 0; v < 2; v++)
			node->below[v] += own_of_stack(stack, v);
		if (!i)
			break;
		struct scope_stack *parent = &scope->nodes[stack->parent];
		node->next = parent->first_child;
		parent->first_child = (uint32_t)i;
		for (unsigned v = 0; v < 2; v++)
			parent->below[v] += node->below[v];
	}
	return true;
}

static void put_scope_string(struct scope *scope, const char *string)
{
	rep_text_clear(&scope->text);
	rep_text_escape_json(&scope->text, string, strlen(string));
	fprintf(scope->stream, "\"%s\"", rep_text_string(&scope->text));
}

static void write_scope_frames(struct scope *scope)
{
	for (size_t i = 0; i < scope->stacks->frame_count; i++) {
		const struct hg_trace_frame *frame = scope->stacks->frames[i];
		fputs(i ? ",\n{\"name\":" : "{\"name\":", scope->stream);
		put_scope_string(scope, frame->function);
		if (*frame->file) {
			fputs(",\"file\":", scope->stream);
			put_scope_string(scope, frame->file);
			fprintf(scope->stream, ",\"line\":%" PRIu32, frame->line);
		}
		fputc('}', scope->stream);
	}
	fprintf(scope->stream, "%s{\"name\":\"(no backtrace)\"}",
		scope->stacks->frame_count ? ",\n" : "");
}

/* Enters (O) or leaves (C) a frame at so many bytes. */
static void write_scope_event(
	struct scope *scope, bool *any, char kind, uint64_t frame, uint64_t bytes)
{
	fprintf(scope->stream, "%s{\"type\":\"%c\",\"frame\":%" PRIu64 ",\"at\":%" PRIu64 "}",
		*any ? ",\n" : "", kind, frame, bytes);
	*any = true;
}

/*
 * Walks the tree by its links; what a stack allocates itself comes before what is below it.  Bytes
 * are those of all samples so far, so that rounding does not add up.
 */
static void write_scope_events(
	struct scope *scope, const struct hg_trace_info *info, unsigned value)
{
	const struct hg_trace_stack *const *stacks = scope->stacks->stacks;
	uint64_t samples = own_of_stack(stacks[0], value);
	uint32_t at = 0;
	bool any = false;
	if (samples) {
		write_scope_event(scope, &any, 'O', scope->stacks->frame_count, 0);
		write_scope_event(scope, &any, 'C', scope->stacks->frame_count,
			rep_trace_bytes(info, samples));
	}
	for (bool down = true; down || at;) {
		uint32_t next = down ? scope->nodes[at].first_child : scope->nodes[at].next;
		while (next && !scope->nodes[next].below[value])
			next = scope->nodes[next].next;
		if (!down)
			write_scope_event(scope, &any, 'C', stacks[at]->frame,
				rep_trace_bytes(info, samples));
		if (!next) {
			at = down ? at : stacks[at]->parent;
			down = false;
			continue;
		}
		at = next;
		down = true;
		write_scope_event(
			scope, &any, 'O', stacks[at]->frame, rep_trace_bytes(info, samples));
		samples += own_of_stack(stacks[at], value);
	}
}

static void write_scope(struct scope *scope, const struct hg_trace_info *info)
{
	static const char *const names[] = {"allocated", "in use"};
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
	      "\"exporter\":\"heapgraph\",\"name\":",
		scope->stream);
	put_scope_string(scope, info->executable);
	fputs(",\n\"shared\":{\"frames\":[\n", scope->stream);
	write_scope_frames(scope);
	fputs("]},\n\"profiles\":[", scope->stream);
	for (unsigned value = 0; value < 2; value++) {
		fprintf(scope->stream,
			"%s\n{\"type\":\"evented\",\"name\":\"%s\",\"unit\":\"bytes\","
			"\"startValue\":0,\"endValue\":%" PRIu64 ",\"events\":[\n",
			value ? "," : "", names[value],
			rep_trace_bytes(info, scope->nodes[0].below[value]));
		write_scope_events(scope, info, value);
		fputs("]}", scope->stream);
	}
	fputs("]}\n", scope->stream);
}

enum hg_status rep_trace_speedscope(
	struct rep_trace_context *context, const struct rep_trace_moment *moment, FILE *stream)
{
	struct hg_trace_stacks *stacks;
	BASE_TRY(rep_trace_stacks(context, moment, &stacks));
	enum hg_status status = HG_OK;
	struct scope scope = {.stacks = stacks, .stream = stream};
	if (link_stacks(&scope))
		write_scope(&scope, hg_trace_header(context->trace));
	if (!scope.nodes || scope.text.failed)
		status = base_no_memory(context->error, stacks->count * sizeof(*scope.nodes));
	free(scope.nodes);
	rep_text_release(&scope.text);
	rep_trace_note(context, &stacks->losses);
	hg_trace_stacks_release(&stacks);
	return status;
}
