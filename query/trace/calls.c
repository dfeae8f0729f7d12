/* The tree of calls, one backtrace after the other. */
#include "query/trace/calls.h"

#include "query/trace/place_text.h"

#include "base/grow.h"
#include "base/huge.h"

#include <string.h>

/* More are not seen in programs. */
enum { DOMAINS_WITH_ARRAYS = 16 };

static enum hg_status add_call(struct query_calls *calls, uint32_t parent, uint32_t function,
	uint32_t depth, struct hg_error *error)
{
	if (calls->count == UINT32_MAX)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET, "too many call stacks");
	BASE_TRY(base_huge_grow_by(
		&calls->nodes, calls->count, 1, &calls->capacity, sizeof(*calls->nodes), error));
	calls->nodes[calls->count++] = (struct query_call){parent, function, depth};
	return HG_OK;
}

enum hg_status query_calls_init(struct query_calls *calls,
	const struct memtrace_locations *locations, enum query_frames frames,
	const struct query_filter *filter, struct hg_error *error)
{
	enum { FIRST_EDGES = 1 << 12 };
	*calls = (struct query_calls){.locations = locations,
		.frames = frames,
		.filter = filter && filter->hides ? filter : NULL,
		.secret = *base_process_secret()};
	calls->edges = calloc(FIRST_EDGES, sizeof(*calls->edges));
	if (!calls->edges)
		return base_no_memory(error, FIRST_EDGES * sizeof(*calls->edges));
	calls->edge_mask = FIRST_EDGES - 1;
	return add_call(calls, 0, 0, 0, error);
}

void query_calls_release(struct query_calls *calls)
{
	for (uint64_t i = 0; i < calls->domain_count; i++) {
		free(calls->domains[i].frames);
		free(calls->domains[i].path);
		free(calls->domains[i].positions);
	}
	free(calls->domains);
	free(calls->nodes);
	free(calls->edges);
	free(calls->codes);
	free(calls->labels);
	trace_names_release(&calls->places);
	free(calls->place_locations);
	base_map_release(&calls->positions);
	*calls = (struct query_calls){0};
}

/* Where an edge is, or the free place where it belongs. */
static inline struct query_edge *find_edge(
	const struct query_calls *calls, uint32_t parent, uint32_t function)
{
	uint64_t key = (uint64_t)parent << 32 | function;
	uint64_t at = base_hash(&calls->secret, key) & calls->edge_mask;
	while (calls->edges[at].child &&
		(calls->edges[at].parent != parent || calls->edges[at].function != function))
		at = (at + 1) & calls->edge_mask;
	return &calls->edges[at];
}

/* At most half of the places are taken. */
static enum hg_status grow_edges(struct query_calls *calls, struct hg_error *error)
{
	uint64_t count = calls->edge_mask + 1;
	struct query_edge *old = calls->edges;
	if (2 * calls->count <= count)
		return HG_OK;
	struct query_edge *bigger = base_huge_alloc(2 * count, sizeof(*old));
	if (!bigger)
		return base_no_memory(error, 2 * count * sizeof(*old));
	calls->edges = memset(bigger, 0, 2 * count * sizeof(*old));
	calls->edge_mask = 2 * count - 1;
	for (uint64_t i = 0; i < count; i++)
		if (old[i].child)
			*find_edge(calls, old[i].parent, old[i].function) = old[i];
	free(old);
	return HG_OK;
}

static enum hg_status add_edge(struct query_calls *calls, uint32_t parent, uint32_t function,
	uint32_t *child, struct hg_error *error)
{
	BASE_TRY(grow_edges(calls, error));
	*child = (uint32_t)calls->count;
	BASE_TRY(add_call(calls, parent, function, calls->nodes[parent].depth + 1, error));
	*find_edge(calls, parent, function) = (struct query_edge){parent, function, *child};
	return HG_OK;
}

/* Where a function was when it was last put on the domain's path: it may have left it since. */
static inline uint32_t position_of(
	const struct query_calls *calls, const struct query_call_stack *stack, uint32_t function)
{
	uint32_t position = UINT32_MAX;
	if (function < stack->position_count)
		return stack->positions[function];
	if (stack->domain >= DOMAINS_WITH_ARRAYS)
		base_map_number(
			&calls->positions, (uint64_t)stack->domain << 32 | function, &position);
	return position;
}

static enum hg_status set_position(struct query_calls *calls, struct query_call_stack *stack,
	uint32_t function, uint32_t position, struct hg_error *error)
{
	if (function >= stack->position_count && stack->domain >= DOMAINS_WITH_ARRAYS)
		return base_map_set(&calls->positions, (uint64_t)stack->domain << 32 | function,
			position, error);
	if (function >= stack->position_count) {
		uint64_t had = stack->position_count;
		BASE_TRY(base_grow_by(&stack->positions, had, function + UINT64_C(1) - had,
			&stack->position_count, sizeof(*stack->positions), error));
		memset(stack->positions + had, 0xFF,
			(stack->position_count - had) * sizeof(*stack->positions));
	}
	stack->positions[function] = position;
	return HG_OK;
}

static inline enum hg_status enter_function(struct query_calls *calls,
	struct query_call_stack *stack, struct query_call_frame *at, uint32_t function,
	struct hg_error *error)
{
	bool once = calls->frames != QUERY_PLACES;
	if (once) {
		uint32_t position = position_of(calls, stack, function);
		if (position < at->length && stack->path[position] == function)
			return HG_OK;
	}
	uint32_t child = find_edge(calls, at->node, function)->child;
	if (!child)
		BASE_TRY(add_edge(calls, at->node, function, &child, error));
	at->node = child;
	if (!once)
		return HG_OK;
	BASE_TRY(base_grow(
		&stack->path, at->length, &stack->path_capacity, sizeof(*stack->path), error));
	stack->path[at->length] = function;
	return set_position(calls, stack, function, at->length++, error);
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

static enum hg_status add_label(struct query_calls *calls, struct query_code_labels *known,
	uint32_t label, struct hg_error *error)
{
	if (calls->label_count == UINT32_MAX)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET, "too many locations");
	BASE_TRY(base_grow(&calls->labels, calls->label_count, &calls->label_capacity,
		sizeof(*calls->labels), error));
	calls->labels[calls->label_count++] = label;
	known->count++;
	return HG_OK;
}

static enum hg_status add_place(struct query_calls *calls, struct query_code_labels *known,
	uint32_t number, uint32_t index, struct hg_error *error)
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
	return add_label(calls, known, place, error);
}

/* What a frame says, outermost first. */
static enum hg_status add_labels(struct query_calls *calls, struct query_code_labels *known,
	uint32_t number, struct hg_error *error)
{
	const struct memtrace_code *code = &calls->locations->codes[number];
	if (calls->functions)
		return add_label(calls, known, calls->functions[number], error);
	if (!code->count && calls->frames != QUERY_FUNCTIONS)
		return add_place(calls, known, number, 0, error);
	for (uint32_t i = 0; i < code->count; i++) {
		uint32_t function = calls->locations->locations[code->first + i].function;
		if (is_hidden(calls, function))
			continue;
		BASE_TRY(calls->frames != QUERY_FUNCTIONS
				 ? add_place(calls, known, number, i, error)
				 : add_label(calls, known, function, error));
	}
	return HG_OK;
}

/* Of the first frame of its kind, and the first after a code got other locations. */
static enum hg_status learn_code(struct query_calls *calls, uint32_t number, struct hg_error *error)
{
	const struct memtrace_code *code = &calls->locations->codes[number];
	struct query_code_labels *known = &calls->codes[number];
	bool is_same = known->version && known->location == code->first &&
		       known->location_count == code->count;
	if (!is_same) {
		*known = (struct query_code_labels){.location = code->first,
			.location_count = code->count,
			.label = (uint32_t)calls->label_count};
		BASE_TRY(add_labels(calls, known, number, error));
		if (known->count == 1)
			known->label = calls->labels[--calls->label_count];
	}
	known->version = calls->locations->version;
	return HG_OK;
}

/* Room for all codes that there are. */
static enum hg_status make_room_for_calls(struct query_calls *calls, struct hg_error *error)
{
	uint64_t had = calls->code_count, wanted = calls->locations->code_count;
	BASE_TRY(base_grow_by(&calls->codes, had, wanted - had, &calls->code_count,
		sizeof(*calls->codes), error));
	memset(calls->codes + had, 0, (calls->code_count - had) * sizeof(*calls->codes));
	return HG_OK;
}

/* The stack of the event's domain, with room for its backtrace and the root. */
static enum hg_status find_call_stack(struct query_calls *calls, const struct memtrace_event *event,
	struct query_call_stack **stack, struct hg_error *error)
{
	while (calls->domain_count <= event->domain_index) {
		BASE_TRY(base_grow(&calls->domains, calls->domain_count, &calls->domain_capacity,
			sizeof(*calls->domains), error));
		calls->domains[calls->domain_count] =
			(struct query_call_stack){.domain = (uint32_t)calls->domain_count};
		calls->domain_count++;
	}
	*stack = &calls->domains[event->domain_index];
	if (event->depth < (*stack)->capacity)
		return HG_OK;
	uint64_t had = (*stack)->capacity;
	BASE_TRY(base_grow_by(&(*stack)->frames, had, event->depth + 1 - had, &(*stack)->capacity,
		sizeof(*(*stack)->frames), error));
	if (!had)
		(*stack)->frames[0] = (struct query_call_frame){0, 0};
	return HG_OK;
}

enum hg_status query_calls_node(struct query_calls *calls, const struct memtrace_event *event,
	uint32_t *node, struct hg_error *error)
{
	struct query_call_stack *stack;
	uint32_t version = calls->locations->version;
	BASE_TRY(find_call_stack(calls, event, &stack, error));
	if (calls->code_count < calls->locations->code_count)
		BASE_TRY(make_room_for_calls(calls, error));
	struct query_call_frame at = stack->frames[event->kept];
	for (uint64_t i = event->kept; i < event->depth; i++) {
		uint32_t number = event->stack[i];
		const struct query_code_labels *code = &calls->codes[number];
		if (code->version != version)
			BASE_TRY(learn_code(calls, number, error));
		if (code->count == 1)
			BASE_TRY(enter_function(calls, stack, &at, code->label, error));
		else
			for (uint32_t label = 0; label < code->count; label++)
				BASE_TRY(enter_function(calls, stack, &at,
					calls->labels[code->label + label], error));
		stack->frames[i + 1] = at;
	}
	*node = at.node;
	return HG_OK;
}
