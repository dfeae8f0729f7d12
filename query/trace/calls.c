/* The tree of calls, one backtrace after the other. */
#include "query/trace/calls.h"

#include "query/trace/place_text.h"

#include "base/grow.h"

#include <string.h>

static enum hg_status add_call(struct query_calls *calls, uint32_t parent, uint32_t function,
	uint32_t depth, struct hg_error *error)
{
	if (calls->count == UINT32_MAX)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET, "too many call stacks");
	BASE_TRY(base_grow(
		&calls->nodes, calls->count, &calls->capacity, sizeof(*calls->nodes), error));
	calls->nodes[calls->count++] = (struct query_call){parent, function, depth};
	return HG_OK;
}

enum hg_status query_calls_init(struct query_calls *calls,
	const struct memtrace_locations *locations, enum query_frames frames,
	const struct query_filter *filter, struct hg_error *error)
{
	enum { FIRST_STEPS = 1 << 12 };
	*calls = (struct query_calls){.locations = locations,
		.frames = frames,
		.filter = filter && filter->hides ? filter : NULL,
		.secret = *base_process_secret()};
	calls->steps = calloc(FIRST_STEPS, sizeof(*calls->steps));
	if (!calls->steps)
		return base_no_memory(error, FIRST_STEPS * sizeof(*calls->steps));
	calls->step_mask = FIRST_STEPS - 1;
	return add_call(calls, 0, 0, 0, error);
}

void query_calls_release(struct query_calls *calls)
{
	for (uint64_t i = 0; i < calls->domain_count; i++)
		free(calls->domains[i].nodes);
	free(calls->domains);
	free(calls->nodes);
	free(calls->steps);
	trace_names_release(&calls->places);
	free(calls->place_locations);
	base_map_release(&calls->children);
	*calls = (struct query_calls){0};
}

/* Where a pair is, or the free place where it belongs. */
static inline struct query_step *find_step(
	const struct query_calls *calls, uint32_t node, uint32_t code)
{
	uint64_t key = (uint64_t)node << 32 | code;
	uint64_t at = base_hash(&calls->secret, key) & calls->step_mask;
	while (calls->steps[at].to &&
		(calls->steps[at].node != node || calls->steps[at].code != code))
		at = (at + 1) & calls->step_mask;
	return &calls->steps[at];
}

/* At most half of the places are taken. */
static enum hg_status grow_steps(struct query_calls *calls, struct hg_error *error)
{
	uint64_t count = calls->step_mask + 1;
	struct query_step *old = calls->steps;
	if (2 * (calls->step_count + 1) <= count)
		return HG_OK;
	calls->steps = calloc(2 * count, sizeof(*old));
	if (!calls->steps) {
		calls->steps = old;
		return base_no_memory(error, 2 * count * sizeof(*old));
	}
	calls->step_mask = 2 * count - 1;
	for (uint64_t i = 0; i < count; i++)
		if (old[i].to)
			*find_step(calls, old[i].node, old[i].code) = old[i];
	free(old);
	return HG_OK;
}

static bool is_on_path(const struct query_calls *calls, uint32_t node, uint32_t function)
{
	for (; node; node = calls->nodes[node].parent)
		if (calls->nodes[node].function == function)
			return true;
	return false;
}

static enum hg_status enter_function(
	struct query_calls *calls, uint32_t *node, uint32_t function, struct hg_error *error)
{
	uint64_t child = calls->count;
	bool added;
	if (calls->frames != QUERY_PLACES && is_on_path(calls, *node, function))
		return HG_OK;
	BASE_TRY(base_map_add(
		&calls->children, (uint64_t)*node << 32 | function, &child, &added, error));
	if (added)
		BASE_TRY(add_call(calls, *node, function, calls->nodes[*node].depth + 1, error));
	*node = (uint32_t)child;
	return HG_OK;
}

static bool is_hidden(const struct query_calls *calls, uint32_t function)
{
	return calls->filter &&
	       query_filter_hides(calls->filter, trace_name(&calls->locations->names, function));
}

const char *query_call_name(const struct query_calls *calls, uint32_t node)
{
	const struct trace_names *names =
		calls->frames == QUERY_FUNCTIONS ? &calls->locations->names : &calls->places;
	return node ? trace_name(names, calls->nodes[node].function) : "";
}

static enum hg_status enter_place(struct query_calls *calls, uint32_t *node, uint32_t number,
	uint32_t index, struct hg_error *error)
{
	uint32_t place;
	char *text = query_place_text(calls->locations, number, index);
	if (!text)
		return base_no_memory(error, 64);
	enum hg_status status = trace_names_add(&calls->places, text, strlen(text), &place, error);
	free(text);
	BASE_TRY(status);
	if (place == calls->place_count) {
		const struct memtrace_code *code = &calls->locations->codes[number];
		BASE_TRY(base_grow(&calls->place_locations, calls->place_count,
			&calls->place_capacity, sizeof(*calls->place_locations), error));
		calls->place_locations[calls->place_count++] =
			index < code->count ? code->first + index : UINT32_MAX;
	}
	return enter_function(calls, node, place, error);
}

/* What a frame says, outermost first. */
static enum hg_status enter_code(
	struct query_calls *calls, uint32_t *node, uint32_t number, struct hg_error *error)
{
	const struct memtrace_code *code = &calls->locations->codes[number];
	if (calls->functions)
		return enter_function(calls, node, calls->functions[number], error);
	if (!code->count && calls->frames != QUERY_FUNCTIONS)
		return enter_place(calls, node, number, 0, error);
	for (uint32_t i = 0; i < code->count; i++) {
		uint32_t function = calls->locations->locations[code->first + i].function;
		if (!is_hidden(calls, function))
			BASE_TRY(calls->frames != QUERY_FUNCTIONS
					 ? enter_place(calls, node, number, i, error)
					 : enter_function(calls, node, function, error));
	}
	return HG_OK;
}

/* Of the first frame of its kind. */
static enum hg_status work_out_step(struct query_calls *calls, uint32_t from, uint32_t number,
	uint32_t *to, struct hg_error *error)
{
	*to = from;
	BASE_TRY(enter_code(calls, to, number, error));
	BASE_TRY(grow_steps(calls, error));
	*find_step(calls, from, number) = (struct query_step){from, number, *to + 1};
	calls->step_count++;
	return HG_OK;
}

/* The stack of the event's domain, with room for its backtrace and the root. */
static enum hg_status find_call_stack(struct query_calls *calls, const struct memtrace_event *event,
	struct query_call_stack **stack, struct hg_error *error)
{
	while (calls->domain_count <= event->domain_index) {
		BASE_TRY(base_grow(&calls->domains, calls->domain_count, &calls->domain_capacity,
			sizeof(*calls->domains), error));
		calls->domains[calls->domain_count++] = (struct query_call_stack){0};
	}
	*stack = &calls->domains[event->domain_index];
	if (event->depth < (*stack)->capacity)
		return HG_OK;
	uint64_t had = (*stack)->capacity;
	BASE_TRY(base_grow_by(&(*stack)->nodes, had, event->depth + 1 - had, &(*stack)->capacity,
		sizeof(*(*stack)->nodes), error));
	if (!had)
		(*stack)->nodes[0] = 0;
	return HG_OK;
}

enum hg_status query_calls_node(struct query_calls *calls, const struct memtrace_event *event,
	uint32_t *node, struct hg_error *error)
{
	struct query_call_stack *stack;
	BASE_TRY(find_call_stack(calls, event, &stack, error));
	uint32_t at = stack->nodes[event->kept];
	for (uint64_t i = event->kept; i < event->depth; i++) {
		const struct query_step *step = find_step(calls, at, event->stack[i]);
		uint32_t to;
		if (step->to)
			to = step->to - 1;
		else
			BASE_TRY(work_out_step(calls, at, event->stack[i], &to, error));
		stack->nodes[i + 1] = at = to;
	}
	*node = at;
	return HG_OK;
}
