/*
 * gentrace - writes a made-up memtrace trace of version 3, for benchmarks.
 *
 *	gentrace EVENTS DEPTH CODES STACKS SEED OUT
 *
 * Half of the events are allocations, the others promotions (1 in 10) and collections of recent
 * objects.  There are STACKS call stacks over CODES places of call, each like the one before but
 * for its last few frames, up to DEPTH frames deep; an allocation has the stack of the last one (2
 * in 3), one beside it, or now and then any.  So both the share of frames that a backtrace has in
 * common with the last one, and how often a frame is followed by the one that followed it last, are
 * about those of traces of programs.  The same arguments give the same bytes everywhere.
 */
#include "bench/draw.h"
#include "trace/memtrace/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { RECENT = 1 << 16, FUNCTIONS_IN_FILE = 20, WORDS_RATE = 10000 };

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
		uint64_t function = code / 16 + 7 * i, file = function / FUNCTIONS_IN_FILE;
		snprintf(names[i][0], sizeof(names[i][0]), "src/part%" PRIu64 ".ml", file);
		snprintf(names[i][1], sizeof(names[i][1]), "Part%" PRIu64 ".work_%" PRIu64, file,
			function);
		found[i] = (struct memtrace_place){
			names[i][0], names[i][1], (uint32_t)(code / 16 % 1000), 4, 40};
	}
	*places = found;
	return count;
}

struct stacks {
	uint64_t count, most_depth;
	uint64_t *codes, *depths;
};

static const uint64_t *stack_at(const struct stacks *stacks, uint64_t number)
{
	return stacks->codes + number * stacks->most_depth;
}

static void make_stacks(struct stacks *stacks, uint64_t code_count)
{
	uint64_t most = stacks->most_depth, depth = most / 2;
	stacks->codes = calloc(stacks->count * most, sizeof(*stacks->codes));
	stacks->depths = calloc(stacks->count, sizeof(*stacks->depths));
	if (!stacks->codes || !stacks->depths)
		exit(1);
	for (uint64_t i = 0; i < stacks->count; i++) {
		uint64_t *codes = stacks->codes + i * most;
		uint64_t cut = draw(6), grown = 1 + draw(6);
		uint64_t kept = i == 0 ? 0 : depth > cut ? depth - cut : 1;
		depth = i == 0 ? most / 2 : kept + grown > most ? most : kept + grown;
		memcpy(codes, i == 0 ? codes : codes - most, kept * sizeof(*codes));
		for (uint64_t frame = kept; frame < depth; frame++)
			codes[frame] = 16 * (1 + draw(code_count)) + draw(16);
		stacks->depths[i] = depth;
	}
}

static uint64_t next_stack(const struct stacks *stacks, uint64_t at)
{
	if (draw(400) == 0)
		return draw(stacks->count);
	if (draw(3) < 2)
		return at;
	return (at + draw(2)) % stacks->count;
}

struct recent {
	uint64_t objects[RECENT]; /* id + 1; 0: none */
	bool promoted[RECENT];
};

static enum hg_status write_events(
	struct memtrace_writer *writer, const struct stacks *stacks, uint64_t events)
{
	static struct recent recent;
	struct hg_error error;
	uint64_t time = UINT64_C(1600000000000000), stack = 0;
	for (uint64_t i = 0; i < events; i++) {
		uint64_t at = draw(RECENT), object = recent.objects[at];
		time += draw(16);
		if (object && draw(10) == 0 && !recent.promoted[at]) {
			recent.promoted[at] = true;
			BASE_TRY(memtrace_write_end(
				writer, 0, MEMTRACE_PROMOTION, time, object - 1, &error));
			continue;
		}
		if (object) {
			recent.objects[at] = 0;
			BASE_TRY(memtrace_write_end(
				writer, 0, MEMTRACE_COLLECTION, time, object - 1, &error));
			continue;
		}
		stack = next_stack(stacks, stack);
		struct memtrace_allocation allocation = {.time = time,
			.length = 1 + draw(draw(16) ? 6 : 300),
			.samples = draw(64) ? 1 : 2,
			.codes = stack_at(stacks, stack),
			.depth = stacks->depths[stack]};
		BASE_TRY(memtrace_write_allocation(
			writer, 0, &allocation, &recent.objects[at], &error));
		recent.objects[at]++;
		recent.promoted[at] = false;
	}
	return memtrace_writer_close(writer, &error);
}

int main(int argc, char **argv)
{
	if (argc != 7) {
		fprintf(stderr, "usage: gentrace EVENTS DEPTH CODES STACKS SEED OUT\n");
		return 2;
	}
	const struct memtrace_info info = {.version = 3,
		.sample_rate = 1.0 / WORDS_RATE,
		.word_bytes = 8,
		.pid = 1,
		.start_time = UINT64_C(1600000000000000),
		.executable = "made.exe",
		.host = "here",
		.parameters = "",
		.context = ""};
	struct stacks stacks = {
		.most_depth = strtoull(argv[2], NULL, 10), .count = strtoull(argv[4], NULL, 10)};
	struct memtrace_writer *writer;
	struct hg_error error;
	FILE *out = fopen(argv[6], "wb");
	const struct memtrace_writer_options options = {
		.info = &info, .write = write_bytes, .places = places_of_code, .data = out};
	draw_state = strtoull(argv[5], NULL, 10);
	make_stacks(&stacks, strtoull(argv[3], NULL, 10));
	bool good = out && memtrace_writer_open(&writer, &options, &error) == HG_OK &&
		    write_events(writer, &stacks, strtoull(argv[1], NULL, 10)) == HG_OK &&
		    fclose(out) == 0;
	free(stacks.codes);
	free(stacks.depths);
	if (!good)
		fprintf(stderr, "gentrace: %s cannot be written\n", argv[6]);
	return !good;
}
