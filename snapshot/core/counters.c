/*
 * The walk of the heap against the runtime's own counters: those of 4.x
 * (Caml_state->stat_heap_wsz), and of 5.x (struct heap_stats of each domain and of what ended ones
 * left, runtime/shared_heap.c).
 */
#include "snapshot/core/counters.h"

#include "snapshot/arch/arch.h"
#include "snapshot/runtime/reader.h"

/* One of the runtime's counters, and how far one domain may have it ahead or behind. */
struct counter {
	const char *what;
	uint64_t found, counted, step;
};

/*
 * A block is counted a few instructions before or after it is there, in functions of the runtime;
 * they call no other that could wait meanwhile.
 */
static bool is_in_runtime(struct elfcore *core, const struct snap_thread *thread)
{
	struct snap_frame frame;
	snap_frame_of_thread(&core->image, thread, &frame);
	uint64_t pc = snap_frame_pc(&frame);
	const struct snap_image_file *file = snap_image_file_at(&core->image, pc);
	return file == core->image.main && !snap_runtime_is_code(&core->runtime, pc);
}

static uint64_t threads_in_runtime(struct elfcore *core)
{
	uint64_t count = 0;
	for (uint64_t i = 0; i < core->image.thread_count; i++)
		count += is_in_runtime(core, &core->image.threads[i]);
	return count;
}

static void compare_counter(
	struct snap_runtime *runtime, const struct counter *counter, uint64_t threads)
{
	bool more = counter->found > counter->counted;
	uint64_t apart =
		more ? counter->found - counter->counted : counter->counted - counter->found;
	if (apart > threads * counter->step)
		snap_note_line(runtime, "the runtime counts %llu %s, but %llu were found: %llu %s",
			(unsigned long long)counter->counted, counter->what,
			(unsigned long long)counter->found, (unsigned long long)apart,
			more ? "too many" : "are missing");
}

static uint64_t words_of(const struct snap_runtime *runtime, enum snap_area_kind kind)
{
	uint64_t words = 0;
	for (uint64_t i = 0; i < runtime->area_count; i++) {
		const struct snap_area *area = &runtime->areas[i];
		if (area->kind == kind)
			words += kind == SNAP_AREA_POOL ? SNAP_POOL_BYTES / 8
							: (area->end - area->start) / 8;
	}
	return words;
}

void elfcore_compare_counters(struct elfcore *core)
{
	enum { POOL_WORDS = SNAP_POOL_BYTES / 8, MOST_POOLED = 128, ANY = 1 << 20 };
	struct snap_runtime *runtime = &core->runtime;
	const struct snap_runtime_statistics *s = &runtime->statistics;
	const struct snap_accounts *a = &core->snap->accounts;
	const struct counter of_4[] = {
		{"words of the major heap", words_of(runtime, SNAP_AREA_CHUNK), s->heap_words, ANY},
	};
	const struct counter of_5[] = {
		{"words of pools", words_of(runtime, SNAP_AREA_POOL), s->pool_words, POOL_WORDS},
		{"blocks in pools", a->pool_blocks, s->pool_live_blocks, 1},
		{"words of blocks in pools", a->pool_words, s->pool_live_words, MOST_POOLED},
		{"large blocks", a->all_large_blocks, s->large_blocks, 1},
		{"words of large blocks", a->all_large_words, s->large_words, ANY},
	};
	const struct counter *counters = runtime->is_5 ? of_5 : of_4;
	size_t count = runtime->is_5 ? sizeof(of_5) / sizeof(*of_5) : 1;
	/* Compaction moves blocks first and counts afterwards. */
	if (runtime->in_compaction)
		return;
	uint64_t threads = threads_in_runtime(core);
	for (size_t i = 0; i < count; i++)
		compare_counter(runtime, &counters[i], threads);
}
