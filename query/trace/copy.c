/* Traces of a part of a trace: fewer samples, or nothing that tells whose program it is. */
#include "query/trace/trace.h"

#include "query/trace/pass.h"

#include "base/grow.h"
#include "trace/memtrace/writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The place of an allocation that the backtrace does not tell. */
static const uint64_t untold_code = UINT64_MAX;

/* 8 bytes an object. */
struct trace_copy {
	struct hg_trace *trace;
	struct hg_error *error;
	const struct hg_trace_copy_options *options;
	struct query_pass pass;
	struct base_arena arena;
	uint64_t *objects; /* the id in the copy, + 1; 0: it has none */
	struct memtrace_writer *writer;
	uint64_t random;
	hg_write_fn *write;
	void *data;

	uint64_t *codes; /* of one backtrace */
	uint64_t code_capacity;
	struct base_map numbers; /* of codes that the trace has */
	struct memtrace_place *places;
	uint64_t place_capacity;
	bool failed; /* no memory for places */
};

/*
 * A number of 53 bits, below 1 and above 0.
 *
 * Source: G. Steele, D. Lea and C. Flood, Fast splittable pseudorandom number generators, 2014.
 */
static double draw_fraction(struct trace_copy *copy)
{
	uint64_t z = copy->random += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return ((double)((z ^ z >> 31) >> 11) + 0.5) * 0x1p-53;
}

/* Of so many samples those that stay, each with the same probability. */
static uint64_t draw_samples(struct trace_copy *copy, uint64_t samples)
{
	enum { FEW = 1 << 20 };
	double share = 1.0 / (double)copy->options->one_in, count = (double)samples;
	uint64_t kept = 0;
	if (copy->options->one_in <= 1)
		return samples;
	if (samples > FEW) {
		/* Far from 0 and all, the binomial distribution is a normal one. */
		double radius = sqrt(-2 * log(draw_fraction(copy)));
		double normal = radius * cos(2 * acos(-1.0) * draw_fraction(copy));
		double guess = round(count * share + normal * sqrt(count * share * (1 - share)));
		return guess <= 0 ? 0 : guess >= count ? samples : (uint64_t)guess;
	}
	/* From one that stays to the next. */
	for (double at = 0;; kept++) {
		at += floor(log(draw_fraction(copy)) / log1p(-share)) + 1;
		if (at > count)
			return kept;
	}
}

static bool write_copied(void *data, const void *bytes, size_t size)
{
	struct trace_copy *copy = data;
	return copy->write(copy->data, bytes, size);
}

/* The places of a code but for those that the filter hides. */
static size_t copy_places(void *data, uint64_t code, const struct memtrace_place **places)
{
	static const struct memtrace_place untold = {"<unknown>", "??", 1, 1, 1};
	struct trace_copy *copy = data;
	const struct memtrace_locations *locations = memtrace_places(copy->trace->reader);
	uint64_t number, ignored = copy->place_capacity;
	*places = &untold;
	if (code == untold_code || !base_map_get(&copy->numbers, code, &number))
		return 1;
	const struct memtrace_code *from = &locations->codes[number];
	if (base_grow_by(&copy->places, 0, from->count + UINT64_C(1), &ignored,
		    sizeof(*copy->places), copy->error) != HG_OK) {
		copy->failed = true;
		return 0;
	}
	copy->place_capacity = ignored;
	size_t count = 0;
	for (uint32_t i = 0; i < from->count; i++) {
		const struct memtrace_location *location = &locations->locations[from->first + i];
		const char *function = trace_name(&locations->names, location->function);
		if (query_filter_hides(&copy->trace->filter, function))
			continue;
		copy->places[count++] =
			(struct memtrace_place){trace_name(&locations->names, location->file),
				function, location->line, location->start, location->end};
	}
	*places = copy->places;
	return count;
}

static enum hg_status copy_stack(struct trace_copy *copy, const struct memtrace_event *event,
	struct memtrace_allocation *allocation)
{
	const struct memtrace_locations *locations = memtrace_places(copy->trace->reader);
	if (copy->options->anonymous)
		return HG_OK;
	BASE_TRY(base_grow_by(&copy->codes, 0, event->depth + 1, &copy->code_capacity,
		sizeof(*copy->codes), copy->error));
	for (uint64_t i = 0; i < event->depth; i++) {
		uint64_t number = event->stack[i];
		bool added;
		copy->codes[i] = locations->codes[number].code;
		BASE_TRY(
			base_map_add(&copy->numbers, copy->codes[i], &number, &added, copy->error));
	}
	allocation->codes = copy->codes;
	allocation->depth = event->depth;
	if (event->truncated)
		copy->codes[allocation->depth++] = untold_code;
	return HG_OK;
}

static enum hg_status copy_event(struct trace_copy *copy, const struct memtrace_event *event)
{
	uint64_t time = event->time;
	uint64_t *object = &copy->objects[event->object];
	if (!copy->options->anonymous)
		time += copy->trace->header.start_us;
	if (event->kind != MEMTRACE_ALLOCATION) {
		const uint64_t id = *object;
		/* Of what is collected twice the copy tells once. */
		if (event->kind == MEMTRACE_COLLECTION)
			*object = 0;
		return id ? memtrace_write_end(copy->writer, event->domain, event->kind, time,
				    id - 1, copy->error)
			  : HG_OK;
	}
	struct memtrace_allocation allocation = {.time = time,
		.source = event->source,
		.length = event->length,
		.samples = draw_samples(copy, event->samples)};
	*object = 0;
	if (!allocation.samples)
		return HG_OK;
	BASE_TRY(copy_stack(copy, event, &allocation));
	BASE_TRY(memtrace_write_allocation(
		copy->writer, event->domain, &allocation, object, copy->error));
	++*object;
	return HG_OK;
}

static enum hg_status open_copy(struct trace_copy *copy)
{
	struct memtrace_info info = *memtrace_about(copy->trace->reader);
	struct memtrace_writer_options options = {
		.info = &info, .write = write_copied, .places = copy_places, .data = copy};
	void *objects;
	info.version = info.version < 2 ? 2 : info.version;
	info.sample_rate /= (double)copy->options->one_in;
	if (copy->options->anonymous) {
		info.executable = info.host = "<anonymous>";
		info.context = "";
		info.pid = info.start_time = 0;
	}
	BASE_TRY(base_arena_init(
		&copy->arena, &copy->trace->session->budget, "objects of the trace", copy->error));
	BASE_TRY(base_arena_zalloc(&copy->arena, memtrace_objects(copy->trace->reader),
		sizeof(*copy->objects), &objects, copy->error));
	copy->objects = objects;
	return memtrace_writer_open(&copy->writer, &options, copy->error);
}

static enum hg_status write_copy(struct trace_copy *copy)
{
	struct hg_trace_losses losses;
	struct memtrace_event event;
	BASE_TRY(query_pass_begin(&copy->pass, copy->trace, &copy->trace->filter));
	BASE_TRY(open_copy(copy));
	while (query_pass_next(&copy->pass, &event))
		BASE_TRY(copy_event(copy, &event));
	BASE_TRY(query_pass_end(&copy->pass, 0, &losses));
	enum hg_status status = memtrace_writer_close(copy->writer, copy->error);
	copy->writer = NULL;
	return status == HG_OK && copy->failed ? base_no_memory(copy->error, 4096) : status;
}

enum hg_status hg_copy_trace(struct hg_trace *trace, const struct hg_trace_copy_options *options,
	hg_write_fn *write, void *data)
{
	struct hg_trace_copy_options wanted = {.one_in = 1};
	void *no_result;
	BASE_TRY(query_trace_begin(trace, &no_result));
	struct hg_error *error = &trace->session->error;
	if (!write || (options && options->size < sizeof(options->size)))
		return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"nothing to write the trace with, or no options");
	if (options)
		memcpy(&wanted, options,
			options->size < sizeof(wanted) ? options->size : sizeof(wanted));
	if (!wanted.one_in)
		return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET, "one in 0 samples is none");
	struct trace_copy copy = {.trace = trace,
		.error = error,
		.options = &wanted,
		.random = wanted.seed,
		.write = write,
		.data = data};
	enum hg_status status = write_copy(&copy);
	if (copy.writer)
		memtrace_writer_drop(copy.writer);
	query_pass_release(&copy.pass);
	base_arena_release(&copy.arena);
	base_map_release(&copy.numbers);
	free(copy.codes);
	free(copy.places);
	return status;
}
