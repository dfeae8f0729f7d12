/* Traces that the writer wrote, with random events, are read as they were meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/memtrace/writer.h"

enum { MOST_CODES = 3000, MOST_DOMAINS = 4, MOST_DEPTH = 1500 };
enum { START_TIME = 1700000000 };

/* A generator of its own, so that a failure can be seen again. */
static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (random_state >> 20) % below;
}

/* Bytes that were written. */
struct written_bytes {
	uint8_t *bytes;
	size_t length, room;
};

static bool keep_bytes(void *data, const void *bytes, size_t size)
{
	struct written_bytes *to = data;
	if (size > to->room - to->length) {
		to->room = 2 * (to->room + size);
		to->bytes = realloc(to->bytes, to->room);
		assert_non_null(to->bytes);
	}
	memcpy(to->bytes + to->length, bytes, size);
	to->length += size;
	return true;
}

static char names[200][16];
static unsigned cut_stacks; /* of all that were read */

/* Places of a code: now and then none, many, or too many; they follow from the code. */
static size_t places_of_code(void *data, uint64_t code, const struct memtrace_place **places)
{
	static struct memtrace_place list[300];
	size_t count = code % 50 == 7 ? 300 : code % 50 == 8 ? 200 : code % 5;
	(void)data;
	for (size_t i = 0; i < count; i++)
		list[i] = (struct memtrace_place){.file = names[(code + i) % 70],
			.function = names[(code * 7 + i) % 200],
			.line = (uint32_t)(code * 31 % 2000000),
			.start = (uint32_t)(code % 300),
			.end = (uint32_t)(code % 1200)};
	*places = list;
	return count;
}

static uint64_t at_most(uint64_t number, uint64_t most)
{
	return number < most ? number : most;
}

static void check_places(const struct memtrace *trace, const struct memtrace_code *code)
{
	const struct memtrace_locations *locations = memtrace_places(trace);
	const struct memtrace_place *places;
	size_t count = places_of_code(NULL, code->code, &places);
	if (count > 255) {
		assert_int_equal(code->count, 1);
		assert_string_equal(
			trace_name(&locations->names, locations->locations[code->first].file),
			"<unknown>");
		return;
	}
	assert_int_equal(code->count, count);
	for (size_t i = 0; i < count; i++) {
		const struct memtrace_location *location = &locations->locations[code->first + i];
		assert_string_equal(trace_name(&locations->names, location->file), places[i].file);
		assert_string_equal(
			trace_name(&locations->names, location->function), places[i].function);
		assert_int_equal(location->line, at_most(places[i].line, 0xFFFFF));
		assert_int_equal(location->start, at_most(places[i].start, 0xFF));
		assert_int_equal(location->end, at_most(places[i].end, 0x3FF));
	}
}

/* An event as it was given, and what the reader must make of it. */
struct given_event {
	enum memtrace_kind kind;
	uint16_t domain;
	uint64_t time, object, length, samples;
	enum memtrace_source source;
	uint64_t *codes;
	uint64_t depth, common;
};

struct given_trace {
	struct given_event *events;
	size_t count;
	unsigned version, domains;
	uint64_t times[MOST_DOMAINS];
	uint64_t stacks[MOST_DOMAINS][MOST_DEPTH];
	uint64_t depths[MOST_DOMAINS];
	bool deep, slow;
};

/* Most stacks have most of the one before. */
static void draw_stack(struct given_trace *given, struct given_event *event)
{
	uint64_t *stack = given->stacks[event->domain], old[MOST_DEPTH];
	uint64_t had = given->depths[event->domain];
	memcpy(old, stack, sizeof(old));
	uint64_t keep = had ? had - draw(at_most(had, 12) + 1) : 0;
	if (draw(40) == 0)
		keep = draw(had + 1);
	uint64_t most = given->deep && draw(15) == 0 ? MOST_DEPTH : keep + 8;
	uint64_t depth = keep + draw(at_most(most, MOST_DEPTH) - at_most(keep, most) + 1);
	depth = at_most(depth, MOST_DEPTH);
	for (uint64_t i = keep; i < depth; i++)
		stack[i] = draw(3) ? draw(40) + 1 : draw(MOST_CODES) + 1;
	given->depths[event->domain] = depth;
	event->depth = depth;
	event->codes = malloc((depth + 1) * sizeof(*event->codes));
	assert_non_null(event->codes);
	memcpy(event->codes, stack, depth * sizeof(*stack));
	while (event->common < at_most(had, depth) && old[event->common] == stack[event->common])
		event->common++;
}

static void write_given(
	struct given_trace *given, struct memtrace_writer *writer, struct given_event *event)
{
	struct hg_error error;
	uint64_t earlier = given->count ? draw(given->count) : 0;
	event->domain = (uint16_t)draw(given->domains);
	event->time = given->times[event->domain] += draw(given->slow ? 9000000 : 50);
	event->kind = given->count ? (enum memtrace_kind)draw(3) : MEMTRACE_ALLOCATION;
	if (event->kind != MEMTRACE_ALLOCATION) {
		event->object = given->events[earlier].object;
		assert_int_equal(memtrace_write_end(writer, event->domain, event->kind, event->time,
					 event->object, &error),
			HG_OK);
		return;
	}
	draw_stack(given, event);
	event->length = draw(4) ? draw(20) : draw(2) ? draw(100000) : UINT64_C(1) << draw(60);
	event->samples = draw(4) ? 1 : 1 + draw(70000);
	event->source = draw(5) ? MEMTRACE_MINOR : (enum memtrace_source)draw(3);
	struct memtrace_allocation allocation = {
		.time = event->time,
		.source = event->source,
		.length = event->length,
		.samples = event->samples,
		.codes = event->codes,
		.depth = event->depth,
	};
	assert_int_equal(memtrace_write_allocation(
				 writer, event->domain, &allocation, &event->object, &error),
		HG_OK);
}

static void write_trace(struct given_trace *given, size_t count, struct written_bytes *bytes)
{
	struct memtrace_writer *writer;
	struct hg_error error;
	const struct memtrace_info info = {.version = given->version,
		.sample_rate = 0.25,
		.word_bytes = 8,
		.pid = 4711,
		.start_time = START_TIME,
		.executable = "program",
		.host = "host",
		.parameters = "",
		.context = "a test"};
	struct memtrace_writer_options options = {
		.info = &info, .write = keep_bytes, .places = places_of_code, .data = bytes};
	assert_int_equal(memtrace_writer_open(&writer, &options, &error), HG_OK);
	given->events = calloc(count, sizeof(*given->events));
	assert_non_null(given->events);
	for (unsigned i = 0; i < MOST_DOMAINS; i++)
		given->times[i] = START_TIME;
	for (given->count = 0; given->count < count; given->count++)
		write_given(given, writer, &given->events[given->count]);
	assert_int_equal(memtrace_writer_close(writer, &error), HG_OK);
}

/* Frames may be missing only where the code of a backtrace, or of the one before, is too long. */
static void check_stack(const struct memtrace *trace, const struct given_event *given,
	const struct memtrace_event *event, bool may_be_cut)
{
	const struct memtrace_locations *locations = memtrace_places(trace);
	assert_int_equal(event->common, given->common);
	assert_true(event->depth <= given->depth);
	assert_true(may_be_cut || (event->depth == given->depth && !event->truncated));
	for (uint64_t i = 0; i < event->depth; i++)
		assert_int_equal(locations->codes[event->stack[i]].code, given->codes[i]);
}

/* Events of each domain come in their order; which of the domains comes first does not matter. */
static const struct given_event *next_of_domain(
	const struct given_trace *given, size_t *at, uint16_t domain)
{
	while (*at < given->count && given->events[*at].domain != domain)
		++*at;
	assert_true(*at < given->count);
	return &given->events[(*at)++];
}

static void check_event(const struct memtrace *trace, const struct given_event *given,
	const struct memtrace_event *event, bool *cut)
{
	assert_int_equal(event->kind, given->kind);
	assert_int_equal(event->object, given->object);
	assert_int_equal(event->time, given->time - START_TIME);
	if (event->kind != MEMTRACE_ALLOCATION)
		return;
	enum { SURE_TO_FIT = 400 }; /* of 10 bytes */
	assert_int_equal(event->length, given->length);
	assert_int_equal(event->samples, given->samples);
	assert_int_equal(event->source, given->source);
	check_stack(trace, given, event, *cut || given->depth - given->common > SURE_TO_FIT);
	*cut = event->truncated || event->depth < given->depth;
	cut_stacks += *cut;
}

static void read_trace(const struct given_trace *given, const struct written_bytes *bytes)
{
	struct memtrace *trace;
	struct memtrace_event event;
	struct hg_error error;
	size_t at[MOST_DOMAINS] = {0}, read = 0;
	bool cut[MOST_DOMAINS] = {0};
	assert_int_equal(
		memtrace_open(&trace, bytes->bytes, bytes->length, -1, true, &error), HG_OK);
	for (; memtrace_next(trace, &event); read++) {
		assert_true(event.domain < given->domains);
		check_event(trace, next_of_domain(given, &at[event.domain], event.domain), &event,
			&cut[event.domain]);
	}
	assert_int_equal(memtrace_status(trace, &error), HG_OK);
	assert_null(memtrace_lost(trace)->first);
	assert_int_equal(read, given->count);
	const struct memtrace_locations *locations = memtrace_places(trace);
	for (uint64_t i = 1; i < locations->code_count; i++)
		check_places(trace, &locations->codes[i]);
	assert_string_equal(memtrace_about(trace)->context, "a test");
	memtrace_close(trace);
}

static void round_trip(uint64_t seed, struct given_trace kind, size_t count)
{
	struct written_bytes bytes = {0};
	struct given_trace *given = malloc(sizeof(*given));
	assert_non_null(given);
	*given = kind;
	random_state = seed;
	write_trace(given, count, &bytes);
	read_trace(given, &bytes);
	for (size_t i = 0; i < given->count; i++)
		free(given->events[i].codes);
	free(given->events);
	free(given);
	free(bytes.bytes);
}

static void one_domain(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 9; seed++) {
		round_trip(seed, (struct given_trace){.version = 2, .domains = 1}, 5000);
		round_trip(seed, (struct given_trace){.version = 3, .domains = 1}, 35000);
	}
}

static void several_domains(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 5; seed++)
		round_trip(seed, (struct given_trace){.version = 3, .domains = 4}, 60000);
}

static void deep_stacks(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 5; seed++)
		round_trip(
			seed, (struct given_trace){.version = 3, .domains = 2, .deep = true}, 3000);
	assert_true(cut_stacks > 0);
}

static void long_times(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 5; seed++)
		round_trip(
			seed, (struct given_trace){.version = 2, .domains = 1, .slow = true}, 2000);
}

static bool write_nothing(void *data, const void *bytes, size_t size)
{
	(void)data;
	(void)bytes;
	(void)size;
	return false;
}

/* What cannot be written is refused. */
static void refusals(void **state)
{
	struct written_bytes bytes = {0};
	struct memtrace_writer *writer;
	struct memtrace_allocation allocation = {.time = START_TIME + 5, .length = 3, .samples = 1};
	struct memtrace_info info = {.version = 1,
		.sample_rate = 1,
		.word_bytes = 8,
		.start_time = START_TIME,
		.executable = "",
		.host = "",
		.parameters = "",
		.context = ""};
	struct memtrace_writer_options options = {
		.info = &info, .write = keep_bytes, .places = places_of_code, .data = &bytes};
	struct hg_error error;
	uint64_t object;
	(void)state;
	assert_int_equal(memtrace_writer_open(&writer, &options, &error), HG_ERROR_USAGE);
	assert_null(writer);
	info.version = 2;
	assert_int_equal(memtrace_writer_open(&writer, &options, &error), HG_OK);
	assert_int_equal(
		memtrace_write_allocation(writer, 1, &allocation, &object, &error), HG_ERROR_USAGE);
	assert_int_equal(memtrace_write_allocation(writer, 0, &allocation, &object, &error), HG_OK);
	allocation.time--;
	assert_int_equal(
		memtrace_write_allocation(writer, 0, &allocation, &object, &error), HG_ERROR_USAGE);
	assert_int_equal(memtrace_writer_close(writer, &error), HG_OK);
	options.write = write_nothing;
	assert_int_equal(memtrace_writer_open(&writer, &options, &error), HG_ERROR_OUTPUT);
	free(bytes.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_domain),
		cmocka_unit_test(several_domains),
		cmocka_unit_test(deep_stacks),
		cmocka_unit_test(long_times),
		cmocka_unit_test(refusals),
	};
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		snprintf(names[i], sizeof(names[i]), "Name%u", i);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
