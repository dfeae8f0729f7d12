/* The tree of calls, one backtrace after the other. */
#include "query/trace/calls.h"

#include "query/trace/place_text.h"

#include "base/grow.h"

#include <string.h>

/* More are not seen in programs. */
enum { DOMAINS_WITH_ARRAYS = 16, MOST_CALLS = 1 << 30, CALLS_CHARGED = 1 << 12, FIRST_EDGES = 4 };

/* Of a label that is a run, with its number. */
static const uint32_t run_bit = UINT32_C(1) << 31;

static enum hg_status charge(struct query_calls *calls, uint64_t bytes, struct hg_error *error)
{
	BASE_TRY(base_budget_charge(calls->budget, "calls of the trace", bytes, error));
	calls->charged += bytes;
	return HG_OK;
}

static enum hg_status add_call(struct query_calls *calls, uint32_t parent, uint32_t function,
	uint32_t depth, struct hg_error *error)
{
	if (calls->count == MOST_CALLS)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET, "too many call stacks");
	if (calls->count % CALLS_CHARGED == 0)
		BASE_TRY(charge(calls,
			CALLS_CHARGED * (sizeof(*calls->nodes) + sizeof(*calls->steps)), error));
	BASE_TRY(base_huge_grow(
		&calls->nodes, calls->count, 1, &calls->capacity, sizeof(*calls->nodes), error));
	BASE_TRY(base_huge_grow(&calls->steps, calls->count, 1, &calls->steps_capacity,
		sizeof(*calls->steps), error));
	calls->steps[calls->count] = (struct query_steps){0};
	calls->nodes[calls->count++] = (struct query_call){parent, function, depth};
	return HG_OK;
}

enum hg_status query_calls_init(struct query_calls *calls,
	const struct memtrace_locations *locations, struct base_budget *budget,
	enum query_frames frames, const struct query_filter *filter, struct hg_error *error)
{
	*calls = (struct query_calls){.locations = locations,
		.budget = budget,
		.frames = frames,
		.filter = filter && filter->hides ? filter : NULL,
		.secret = *base_process_secret()};
	return add_call(calls, 0, 0, 0, error);
}

static void release_domains(struct query_calls *calls)
{
	for (uint64_t i = 0; i < calls->domain_count; i++) {
		free(calls->domains[i].nodes);
		free(calls->domains[i].path);
		free(calls->domains[i].positions);
	}
	free(calls->domains);
	calls->domains = NULL;
	calls->domain_count = calls->domain_capacity = 0;
}

void query_calls_end(struct query_calls *calls)
{
	release_domains(calls);
	base_huge_release(calls->steps, calls->steps_capacity, sizeof(*calls->steps));
	base_huge_release(calls->edges, calls->edge_capacity, sizeof(*calls->edges));
	calls->steps = NULL;
	calls->edges = NULL;
	calls->steps_capacity = calls->edge_count = calls->edge_capacity = 0;
}

void query_calls_release(struct query_calls *calls)
{
	query_calls_end(calls);
	base_huge_release(calls->nodes, calls->capacity, sizeof(*calls->nodes));
	free(calls->labels);
	free(calls->runs);
	free(calls->parts);
	free(calls->reached);
	trace_names_release(&calls->places);
	free(calls->place_locations);
	base_map_release(&calls->positions);
	if (calls->budget)
		base_budget_return(calls->budget, calls->charged);
	*calls = (struct query_calls){0};
}

/* In a block of edges, the one of a label, or the free one where it belongs. */
static inline struct query_edge *find_edge(
	const struct query_calls *calls, const struct query_steps *steps, uint32_t label)
{
	struct query_edge *edges = &calls->edges[steps->edges];
	uint32_t at = (uint32_t)(label * calls->secret.multiply >> 32);
	while (edges[at &= steps->edge_mask].label && edges[at].label != label)
		at++;
	return &edges[at];
}

/* Where a label leads from a node, + 1; 0 if that is not known. */
static inline uint32_t find_step(const struct query_calls *calls, uint32_t from, uint32_t label)
{
	const struct query_steps *steps = &calls->steps[from];
	uint32_t to = 0;
	/* Which of them it is cannot be foreseen: there is no branch. */
	_Static_assert(QUERY_STEPS == 3, "steps of a node");
	to |= -(uint32_t)(steps->labels[0] == label) & steps->to[0];
	to |= -(uint32_t)(steps->labels[1] == label) & steps->to[1];
	to |= -(uint32_t)(steps->labels[2] == label) & steps->to[2];
	if (__builtin_expect(to != 0, 1) || !steps->edge_mask)
		return to;
	return find_edge(calls, steps, label)->to;
}

/* A block of so many edges, a power of 2, all free, behind one that counts those that are taken. */
static enum hg_status add_block(
	struct query_calls *calls, uint64_t size, uint32_t *first, struct hg_error *error)
{
	const uint64_t had = calls->edge_count;
	if (had + size >= UINT32_MAX)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET, "too many call stacks");
	BASE_TRY(charge(calls, (size + 1) * sizeof(*calls->edges), error));
	BASE_TRY(base_huge_grow(
		&calls->edges, had, size + 1, &calls->edge_capacity, sizeof(*calls->edges), error));
	memset(calls->edges + had, 0, (size + 1) * sizeof(*calls->edges));
	*first = (uint32_t)had + 1;
	calls->edge_count += size + 1;
	return HG_OK;
}

/* At most three of four edges of a block are taken; then they go to one of twice the size. */
static enum hg_status make_room_for_edge(
	struct query_calls *calls, struct query_steps *steps, struct hg_error *error)
{
	const struct query_steps old = *steps;
	const uint64_t size = old.edge_mask ? old.edge_mask + UINT64_C(1) : 0;
	if (size && calls->edges[old.edges - 1].to < size / 4 * 3)
		return HG_OK;
	BASE_TRY(add_block(calls, size ? 2 * size : FIRST_EDGES, &steps->edges, error));
	steps->edge_mask = (uint32_t)(size ? 2 * size : FIRST_EDGES) - 1;
	for (uint64_t i = 0; i < size; i++) {
		const struct query_edge *edge = &calls->edges[old.edges + i];
		if (edge->label)
			*find_edge(calls, steps, edge->label) = *edge;
	}
	if (size)
		calls->edges[steps->edges - 1].to = calls->edges[old.edges - 1].to;
	return HG_OK;
}

static enum hg_status add_step(struct query_calls *calls, uint32_t from, uint32_t label,
	uint32_t to, struct hg_error *error)
{
	struct query_steps *steps = &calls->steps[from];
	for (unsigned i = 0; i < QUERY_STEPS; i++) {
		if (steps->labels[i])
			continue;
		steps->labels[i] = label;
		steps->to[i] = to + 1;
		return HG_OK;
	}
	BASE_TRY(make_room_for_edge(calls, steps, error));
	*find_edge(calls, steps, label) = (struct query_edge){label, to + 1};
	calls->edges[steps->edges - 1].to++;
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

/*
 * The path is that to the node.  Nodes on it that were not on the last one are entered now, each of
 * which is a frame that was new since: so all paths together cost what all new frames cost.
 */
static enum hg_status follow_path(struct query_calls *calls, struct query_call_stack *stack,
	uint32_t node, struct hg_error *error)
{
	const uint64_t depth = calls->nodes[node].depth;
	if (depth >= stack->path_capacity)
		BASE_TRY(base_grow_by(&stack->path, stack->path_capacity,
			depth + 1 - stack->path_capacity, &stack->path_capacity,
			sizeof(*stack->path), error));
	for (uint32_t at = node; at; at = calls->nodes[at].parent) {
		const struct query_call *call = &calls->nodes[at];
		if (call->depth <= stack->path_depth && stack->path[call->depth] == at)
			break;
		stack->path[call->depth] = at;
		BASE_TRY(set_position(calls, stack, call->function, call->depth, error));
	}
	stack->path_depth = depth;
	return HG_OK;
}

/* Whether a function is on the path to a node. */
static enum hg_status is_on_path(struct query_calls *calls, struct query_call_stack *stack,
	uint32_t node, uint32_t function, bool *is_on, struct hg_error *error)
{
	BASE_TRY(follow_path(calls, stack, node, error));
	uint32_t position = position_of(calls, stack, function);
	*is_on = position && position <= stack->path_depth &&
		 calls->nodes[stack->path[position]].function == function;
	return HG_OK;
}

static enum hg_status enter_function(struct query_calls *calls, struct query_call_stack *stack,
	uint32_t from, uint32_t function, uint32_t *to, struct hg_error *error)
{
	uint32_t step = find_step(calls, from, function + 1);
	bool is_on = false;
	*to = step ? step - 1 : from;
	if (step)
		return HG_OK;
	if (calls->frames != QUERY_PLACES)
		BASE_TRY(is_on_path(calls, stack, from, function, &is_on, error));
	if (!is_on) {
		*to = (uint32_t)calls->count;
		BASE_TRY(add_call(calls, from, function, calls->nodes[from].depth + 1, error));
	}
	return add_step(calls, from, function + 1, *to, error);
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

static enum hg_status add_part(struct query_calls *calls, uint32_t function, struct hg_error *error)
{
	if (calls->part_count == UINT32_MAX || function >= run_bit - 1)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET, "too many locations");
	BASE_TRY(base_grow(&calls->parts, calls->part_count, &calls->part_capacity,
		sizeof(*calls->parts), error));
	calls->parts[calls->part_count++] = function;
	return HG_OK;
}

static enum hg_status add_place(
	struct query_calls *calls, uint32_t number, uint32_t index, struct hg_error *error)
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
	return add_part(calls, place, error);
}

/* What a frame says, outermost first. */
static enum hg_status add_parts(struct query_calls *calls, uint32_t number, struct hg_error *error)
{
	const struct memtrace_code *code = &calls->locations->codes[number];
	if (calls->functions)
		return add_part(calls, calls->functions[number], error);
	if (!code->count && calls->frames != QUERY_FUNCTIONS)
		return add_place(calls, number, 0, error);
	for (uint32_t i = 0; i < code->count; i++) {
		uint32_t function = calls->locations->locations[code->first + i].function;
		if (is_hidden(calls, function))
			continue;
		BASE_TRY(calls->frames != QUERY_FUNCTIONS ? add_place(calls, number, i, error)
							  : add_part(calls, function, error));
	}
	return HG_OK;
}

static enum hg_status add_run(
	struct query_calls *calls, uint64_t first, uint32_t *label, struct hg_error *error)
{
	BASE_TRY(base_grow(
		&calls->runs, calls->run_count, &calls->run_capacity, sizeof(*calls->runs), error));
	calls->runs[calls->run_count] =
		(struct query_run){(uint32_t)first, (uint32_t)(calls->part_count - first)};
	*label = run_bit | (uint32_t)calls->run_count++;
	return calls->run_count < run_bit
		       ? HG_OK
		       : base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET, "too many locations");
}

/* Of the first frame of its kind, and the first after a code got other locations. */
static enum hg_status learn_code(struct query_calls *calls, uint32_t number, struct hg_error *error)
{
	uint64_t first = calls->part_count;
	uint32_t label;
	BASE_TRY(add_parts(calls, number, error));
	if (calls->part_count == first + 1)
		label = calls->parts[--calls->part_count] + 1;
	else
		BASE_TRY(add_run(calls, first, &label, error));
	calls->labels[number] = label;
	return HG_OK;
}

/* Room for all codes that there are; those that have other locations now are to be learnt again. */
static enum hg_status follow_codes(struct query_calls *calls, struct hg_error *error)
{
	const struct memtrace_locations *locations = calls->locations;
	uint64_t had = calls->code_count;
	if (had < locations->code_count) {
		BASE_TRY(base_grow_by(&calls->labels, had, locations->code_count - had,
			&calls->code_count, sizeof(*calls->labels), error));
		memset(calls->labels + had, 0, (calls->code_count - had) * sizeof(*calls->labels));
	}
	for (; calls->changed < locations->changed_count; calls->changed++)
		calls->labels[locations->changed[calls->changed]] = 0;
	return HG_OK;
}

/* The stack of a domain. */
static enum hg_status find_call_stack(struct query_calls *calls, uint32_t domain,
	struct query_call_stack **stack, struct hg_error *error)
{
	while (calls->domain_count <= domain) {
		BASE_TRY(base_grow(&calls->domains, calls->domain_count, &calls->domain_capacity,
			sizeof(*calls->domains), error));
		calls->domains[calls->domain_count] =
			(struct query_call_stack){.domain = (uint32_t)calls->domain_count};
		calls->domain_count++;
	}
	*stack = &calls->domains[domain];
	return HG_OK;
}

/* Room for the node behind so many frames. */
static enum hg_status make_room_on_stack(
	struct query_call_stack *stack, uint64_t depth, struct hg_error *error)
{
	uint64_t had = stack->capacity;
	BASE_TRY(base_grow_by(&stack->nodes, had, depth + 1 - had, &stack->capacity,
		sizeof(*stack->nodes), error));
	if (!had)
		stack->nodes[0] = 0;
	return HG_OK;
}

/* What is done once for each step: where a code leads from a node. */
static enum hg_status enter_code(struct query_calls *calls, struct query_call_stack *stack,
	uint32_t from, uint32_t code, uint32_t *to, struct hg_error *error)
{
	if (!calls->labels[code])
		BASE_TRY(learn_code(calls, code, error));
	uint32_t label = calls->labels[code];
	if (!(label & run_bit))
		return enter_function(calls, stack, from, label - 1, to, error);
	uint32_t step = find_step(calls, from, label);
	*to = step ? step - 1 : from;
	if (step)
		return HG_OK;
	const struct query_run run = calls->runs[label & ~run_bit];
	for (uint32_t i = 0; i < run.count; i++)
		BASE_TRY(enter_function(calls, stack, *to, calls->parts[run.first + i], to, error));
	return add_step(calls, from, label, *to, error);
}

static inline enum hg_status follow_code(struct query_calls *calls, struct query_call_stack *stack,
	uint32_t from, uint32_t code, uint32_t *to, struct hg_error *error)
{
	uint32_t label = calls->labels[code], step = label ? find_step(calls, from, label) : 0;
	if (__builtin_expect(!step, 0))
		return enter_code(calls, stack, from, code, to, error);
	*to = step - 1;
	return HG_OK;
}

enum hg_status query_calls_node(struct query_calls *calls, const struct memtrace_event *event,
	uint32_t *node, struct hg_error *error)
{
	struct query_call_stack *stack;
	BASE_TRY(find_call_stack(calls, event->domain_index, &stack, error));
	BASE_TRY(follow_codes(calls, error));
	if (event->depth >= stack->capacity)
		BASE_TRY(make_room_on_stack(stack, event->depth, error));
	for (uint64_t i = event->kept; i < event->depth; i++)
		BASE_TRY(follow_code(calls, stack, stack->nodes[i], event->stack[i],
			&stack->nodes[i + 1], error));
	*node = stack->nodes[event->depth];
	return HG_OK;
}

enum hg_status query_calls_follow(struct query_calls *calls, const struct memtrace_batch *batch,
	const uint32_t **nodes, struct hg_error *error)
{
	struct query_call_stack *stack;
	BASE_TRY(find_call_stack(calls, batch->domain_index, &stack, error));
	BASE_TRY(follow_codes(calls, error));
	BASE_TRY(base_grow_by(&calls->reached, 0, batch->frame_count, &calls->reached_capacity,
		sizeof(*calls->reached), error));
	*nodes = calls->reached;
	for (uint32_t i = 0; i < batch->frame_count; i++) {
		const struct memtrace_frame frame = batch->frames[i];
		if (frame.depth + UINT64_C(1) >= stack->capacity)
			BASE_TRY(make_room_on_stack(stack, frame.depth + UINT64_C(1), error));
		uint32_t node = stack->nodes[frame.depth];
		if (frame.code != MEMTRACE_NO_FRAME) {
			BASE_TRY(follow_code(calls, stack, node, frame.code, &node, error));
			stack->nodes[frame.depth + 1] = node;
		}
		calls->reached[i] = node;
	}
	return HG_OK;
}
