/*
 * Traces of memtrace.  Input: one byte, then the trace; bit 0 of that byte is 'strict', bit 1
 * whether frames are told by places in the source.
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

static void read_all(struct memtrace *trace, struct query_calls *calls)
{
	struct memtrace_event event;
	struct hg_error error;
	uint64_t allocations = 0;
	while (memtrace_next(trace, &event)) {
		uint32_t node;
		CHECK(event.object < memtrace_objects(trace));
		if (event.kind != MEMTRACE_ALLOCATION)
			continue;
		allocations++;
		CHECK(event.samples > 0);
		check_stack(trace, &event);
		CHECK(query_calls_node(calls, &event, &node, &error) == HG_OK);
		CHECK(node < calls->count);
	}
	for (uint64_t i = 1; i < calls->count; i++) {
		CHECK(calls->nodes[i].parent < i);
		CHECK(calls->nodes[i].depth == calls->nodes[calls->nodes[i].parent].depth + 1);
	}
	CHECK(memtrace_lost(trace)->suspect_backtraces <= allocations);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memtrace *trace;
	struct query_calls calls;
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
	CHECK(query_calls_init(&calls, memtrace_places(trace), frames, NULL, &error) == HG_OK);
	read_all(trace, &calls);
	status = memtrace_status(trace, &error);
	CHECK(status == HG_OK || (status == HG_ERROR_INPUT && strict));
	CHECK(!strict || (status == HG_OK) == !memtrace_lost(trace)->first);
	query_calls_release(&calls);
	CHECK(memtrace_rewind(trace, &error) == HG_OK);
	memtrace_close(trace);
	return 0;
}
