/*
 * Traces of memtrace, events one by one and in batches.  Input: one byte, then the trace; bit 0 of
 * that byte is 'strict', bit 1 whether frames are told by places in the source.
 */
#include "tests/fuzz/fuzz.h"

#include "query/trace/calls.h"

/* Of the first byte. */
enum { STRICT = 1, PLACES = 2 };

static void check_stack(const struct memtrace *trace, const struct memtrace_event *event)
{
	const struct memtrace_locations *locations = memtrace_places(trace);
	CHECK(event->kept <= event->depth);
	for (uint64_t i = event->kept; i < event->depth; i++) {
		CHECK(event->stack[i] < locations->code_count);
		const struct memtrace_code *code = &locations->codes[event->stack[i]];
		CHECK((uint64_t)code->first + code->count <= locations->location_count);
	}
}

/* All events and the nodes of their stacks, as one number. */
static uint64_t join_event(uint64_t sum, const struct memtrace_event *event, uint32_t node)
{
	const struct base_secret *secret = base_process_secret();
	bool is_allocation = event->kind == MEMTRACE_ALLOCATION;
	sum = base_hash_join(secret, sum, event->kind);
	sum = base_hash_join(secret, sum, event->time);
	sum = base_hash_join(secret, sum, event->object);
	sum = base_hash_join(secret, sum, is_allocation ? event->samples : 0);
	return base_hash_join(secret, sum, is_allocation ? node : 0);
}

static uint64_t read_batches(struct memtrace *trace, struct query_calls *calls)
{
	const struct memtrace_batch *batch;
	const uint32_t *nodes;
	struct hg_error error;
	uint64_t sum = 0;
	while (memtrace_next_batch(trace, &batch)) {
		CHECK(query_calls_follow(calls, batch, &nodes, &error) == HG_OK);
		for (uint32_t i = 0; i < batch->count; i++) {
			const struct memtrace_event *event = &batch->events[i];
			bool is_allocation = event->kind == MEMTRACE_ALLOCATION;
			CHECK(!is_allocation || event->frame < batch->frame_count);
			sum = join_event(sum, event, is_allocation ? nodes[event->frame] : 0);
		}
	}
	return sum;
}

static uint64_t read_all(struct memtrace *trace, struct query_calls *calls)
{
	struct memtrace_event event;
	struct hg_error error;
	uint64_t allocations = 0, sum = 0;
	while (memtrace_next(trace, &event)) {
		uint32_t node = 0;
		CHECK(event.object < memtrace_objects(trace));
		if (event.kind == MEMTRACE_ALLOCATION) {
			allocations++;
			CHECK(event.samples > 0);
			check_stack(trace, &event);
			CHECK(query_calls_node(calls, &event, &node, &error) == HG_OK);
			CHECK(node < calls->count);
		}
		sum = join_event(sum, &event, node);
	}
	for (uint64_t i = 1; i < calls->count; i++) {
		CHECK(calls->nodes[i].parent < i);
		CHECK(calls->nodes[i].depth == calls->nodes[calls->nodes[i].parent].depth + 1);
	}
	CHECK(memtrace_lost(trace)->suspect_backtraces <= allocations);
	return sum;
}

/* In batches there are the same events and the same tree. */
static void read_twice(struct memtrace *trace, enum query_frames frames)
{
	struct query_calls calls, again;
	struct base_budget budget = {0};
	struct hg_error error;
	CHECK(query_calls_init(&calls, memtrace_places(trace), &budget, frames, NULL, &error) ==
		HG_OK);
	uint64_t sum = read_all(trace, &calls);
	enum hg_status status = memtrace_status(trace, &error);
	CHECK(memtrace_rewind(trace, &error) == HG_OK);
	CHECK(query_calls_init(&again, memtrace_places(trace), &budget, frames, NULL, &error) ==
		HG_OK);
	CHECK(read_batches(trace, &again) == sum);
	CHECK(again.count == calls.count && again.edge_count == calls.edge_count);
	CHECK(memtrace_status(trace, &error) == status);
	query_calls_release(&calls);
	query_calls_release(&again);
	CHECK(budget.used == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memtrace *trace;
	struct hg_error error;
	if (size == 0)
		return 0;
	base_error_clear(&error);
	bool strict = data[0] & STRICT;
	enum hg_status status = memtrace_open(&trace, data + 1, size - 1, -1, strict, &error);
	if (status != HG_OK) {
		CHECK(status == HG_ERROR_INPUT && !trace);
		check_line(error.message, sizeof(error.message));
		return 0;
	}
	enum query_frames frames = data[0] & PLACES ? QUERY_PLACES_ONCE : QUERY_FUNCTIONS;
	read_twice(trace, frames);
	status = memtrace_status(trace, &error);
	CHECK(status == HG_OK || (status == HG_ERROR_INPUT && strict));
	CHECK(!strict || (status == HG_OK) == !memtrace_lost(trace)->first);
	CHECK(memtrace_rewind(trace, &error) == HG_OK);
	memtrace_close(trace);
	return 0;
}
