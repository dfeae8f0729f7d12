/*
 * gentrace - writes a made-up memtrace trace of version 3, for benchmarks.
 *
 *	gentrace EVENTS DEPTH CODES FAMILY SEED OUT
 *
 * The stack walks through CODES places of call, up to DEPTH frames deep: before an allocation it
 * leaves a few frames, 2.3 on average, and enters as many others.  A place of call leads to one
 * function always, mostly of the FAMILY functions that its own belongs to; of the places in a
 * function, some calls come from another one than usual.
 * What becomes of objects is told where the garbage collector looks at them, in the order of their
 * ids: by runs at the end of a minor cycle, where 1 in 7 is promoted, and at that of a major one.
 * So it is in traces of programs.  The same arguments give the same bytes everywhere.
 */
#include "bench/draw.h"
#include "trace/memtrace/writer.h"

#include "base/grow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	SITES = 4, /* places of call in a function */
	TURN = 8,  /* 1 call in so many is not from the usual place in a function */
	FUNCTIONS_IN_FILE = 20,
	MINOR = 26000, /* samples in a minor heap of 256 Ki words, 1 word in 10 */
	MAJOR = 16     /* minor cycles in a major one */
};

static bool write_bytes(void *data, const void *bytes, size_t size)
{
	return fwrite(bytes, 1, size, data) == size;
}

static size_t places_of_code(void *data, uint64_t code, const struct memtrace_place **places)
{
	static char names[2][2][64];
	static struct memtrace_place found[2];
	size_t count = code % 8 == 0 ? 2 : 1;
	(void)data;
	for (size_t i = 0; i < count; i++) {
		uint64_t function = code / SITES + 7 * i, file = function / FUNCTIONS_IN_FILE;
		snprintf(names[i][0], sizeof(names[i][0]), "src/part%" PRIu64 ".ml", file);
		snprintf(names[i][1], sizeof(names[i][1]), "Part%" PRIu64 ".work_%" PRIu64, file,
			function);
		found[i] = (struct memtrace_place){
			names[i][0], names[i][1], (uint32_t)(code % 1000), 4, 40};
	}
	*places = found;
	return count;
}

struct walk {
	uint64_t *codes;
	uint64_t depth, most_depth;
	uint64_t level; /* about which the depth is for a while */
	uint64_t functions, family;
};

/* A place in the function that is called from the innermost frame, but not the place that was left
 * there.  The multiplication lets neighbours call functions that are no neighbours. */
static uint64_t call_from(const struct walk *walk, uint64_t left)
{
	uint64_t from = walk->depth ? walk->codes[walk->depth - 1] : 0;
	uint64_t spread = from * UINT64_C(0x9e3779b97f4a7c15) >> 20;
	uint64_t called = spread % walk->functions;
	if (from && spread >> 20 & 7)
		called = (from / SITES - 1) / walk->family * walk->family + spread % walk->family;
	uint64_t code = SITES * (1 + called) + (draw(TURN) ? 0 : 1 + draw(SITES - 1));
	return code == left ? code ^ 1 : code;
}

/* Most of a program's time is spent at small depths. */
static void change_level(struct walk *walk)
{
	walk->level = walk->most_depth;
	for (unsigned i = 0; i < 6; i++) {
		uint64_t other = 1 + draw(walk->most_depth);
		walk->level = other < walk->level ? other : walk->level;
	}
	if (walk->depth > walk->level)
		walk->depth = walk->level / 2;
}

static void walk_on(struct walk *walk)
{
	if (!walk->level || draw(20000) == 0)
		change_level(walk);
	uint64_t left = draw(40) != 0, entered = walk->depth == 0;
	while (left && draw(100) < 56)
		left++;
	left = left < walk->depth ? left : walk->depth;
	if (left || !walk->depth)
		entered = left + (draw(4) == 0 && walk->depth < walk->level);
	if (entered > 1 && draw(4) == 0 && walk->depth > walk->level)
		entered--;
	walk->depth -= left;
	for (uint64_t i = 0; (i < entered || !walk->depth) && walk->depth < walk->most_depth; i++) {
		uint64_t code = call_from(walk, i || !left ? 0 : walk->codes[walk->depth]);
		walk->codes[walk->depth++] = code;
	}
}

/* What has been allocated since the last minor cycle, and what survived one. */
struct heap {
	uint64_t young[MINOR], young_count;
	uint64_t *old, old_count, old_capacity;
	uint64_t cycles, time, events;
};

static enum hg_status end_object(
	struct memtrace_writer *writer, struct heap *heap, enum memtrace_kind kind, uint64_t object)
{
	struct hg_error error;
	heap->events++;
	return memtrace_write_end(writer, 0, kind, heap->time, object, &error);
}

/* Objects that were allocated together are promoted together, about 3 at a time. */
static enum hg_status end_minor_cycle(struct memtrace_writer *writer, struct heap *heap)
{
	struct hg_error error;
	bool survives = false;
	heap->time += 500;
	for (uint64_t i = 0; i < heap->young_count; i++) {
		survives = survives ? draw(3) != 0 : draw(18) == 0;
		BASE_TRY(end_object(writer, heap,
			survives ? MEMTRACE_PROMOTION : MEMTRACE_COLLECTION, heap->young[i]));
		if (!survives)
			continue;
		BASE_TRY(base_grow(&heap->old, heap->old_count, &heap->old_capacity,
			sizeof(*heap->old), &error));
		heap->old[heap->old_count++] = heap->young[i];
	}
	heap->young_count = 0;
	return HG_OK;
}

/* Of what was promoted since the last one 3 in 5 die, and few of what is older. */
static enum hg_status end_major_cycle(struct memtrace_writer *writer, struct heap *heap)
{
	static uint64_t seen;
	uint64_t kept = 0;
	for (uint64_t i = 0; i < heap->old_count; i++) {
		if (draw(50) < (i < seen ? 1 : 30))
			BASE_TRY(end_object(writer, heap, MEMTRACE_COLLECTION, heap->old[i]));
		else
			heap->old[kept++] = heap->old[i];
	}
	heap->old_count = kept;
	seen = kept;
	return HG_OK;
}

static enum hg_status write_events(
	struct memtrace_writer *writer, struct walk *walk, uint64_t events)
{
	static struct heap heap;
	struct hg_error error;
	heap.time = UINT64_C(1600000000000000);
	while (heap.events < events) {
		walk_on(walk);
		heap.time += draw(16);
		struct memtrace_allocation allocation = {.time = heap.time,
			.length = 1 + draw(draw(16) ? 6 : 300),
			.samples = draw(7) ? 1 : 2,
			.codes = walk->codes,
			.depth = walk->depth};
		BASE_TRY(memtrace_write_allocation(
			writer, 0, &allocation, &heap.young[heap.young_count++], &error));
		heap.events++;
		if (heap.young_count < MINOR)
			continue;
		BASE_TRY(end_minor_cycle(writer, &heap));
		if (++heap.cycles % MAJOR == 0)
			BASE_TRY(end_major_cycle(writer, &heap));
	}
	free(heap.old);
	return memtrace_writer_close(writer, &error);
}

int main(int argc, char **argv)
{
	if (argc != 7) {
		fprintf(stderr, "usage: gentrace EVENTS DEPTH CODES FAMILY SEED OUT\n");
		return 2;
	}
	const struct memtrace_info info = {.version = 3,
		.sample_rate = 0.1,
		.word_bytes = 8,
		.pid = 1,
		.start_time = UINT64_C(1600000000000000),
		.executable = "made.exe",
		.host = "here",
		.parameters = "",
		.context = ""};
	struct walk walk = {.most_depth = strtoull(argv[2], NULL, 10),
		.functions = strtoull(argv[3], NULL, 10) / SITES,
		.family = strtoull(argv[4], NULL, 10)};
	struct memtrace_writer *writer;
	struct hg_error error;
	FILE *out = fopen(argv[6], "wb");
	const struct memtrace_writer_options options = {
		.info = &info, .write = write_bytes, .places = places_of_code, .data = out};
	draw_state = strtoull(argv[5], NULL, 10);
	walk.codes = calloc(walk.most_depth + 1, sizeof(*walk.codes));
	bool good = out && walk.codes && memtrace_writer_open(&writer, &options, &error) == HG_OK &&
		    write_events(writer, &walk, strtoull(argv[1], NULL, 10)) == HG_OK &&
		    fclose(out) == 0;
	free(walk.codes);
	if (!good)
		fprintf(stderr, "gentrace: %s cannot be written\n", argv[6]);
	return !good;
}
