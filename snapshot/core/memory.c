/*
 * What the memory of a core's process was used for: one sweep over the ranges of all that is known,
 * in order of addresses.  Each byte that was resident (or, if nobody noted that, that the core
 * holds) counts for the first use in the order of enum use, so that the uses add up.
 */
#include "snapshot/core/memory.h"

#include "snapshot/arch/arch.h"
#include "snapshot/image/capture_note.h"
#include "snapshot/runtime/reader.h"

#include <elf.h>
#include <stdlib.h>

enum use { USE_OFFHEAP, USE_HEAP, USE_STACK, USE_FILE, USE_RESERVED, USE_PRESENT, USES };

/* Where a range begins or ends. */
struct border {
	uint64_t address;
	uint8_t use;
	int8_t step; /* 1: begins, -1: ends */
};

struct ranges {
	struct border *items;
	uint64_t count, capacity;
	struct hg_error *error;
};

/* By use: bytes that are present, and that are not. */
struct uses {
	uint64_t present[USES], absent[USES];
};

static enum hg_status add_range(struct ranges *ranges, uint64_t start, uint64_t end, enum use use)
{
	if (start >= end)
		return HG_OK;
	BASE_TRY(base_grow_by(&ranges->items, ranges->count, 2, &ranges->capacity,
		sizeof(*ranges->items), ranges->error));
	if (!ranges->items)
		return HG_OK;
	ranges->items[ranges->count++] = (struct border){start, (uint8_t)use, 1};
	ranges->items[ranges->count++] = (struct border){end, (uint8_t)use, -1};
	return HG_OK;
}

/* The heap */

/* Pools that hold nothing wait for any domain to need one. */
static enum hg_status add_free_pools(struct elfcore *core, struct ranges *ranges)
{
	struct snap_runtime *runtime = &core->runtime;
	struct snap_list walk = {.words = SNAP_POOL_WORDS};
	uint64_t freelist = runtime->is_5 ? snap_variable(runtime, "pool_freelist") : 0;
	if (!freelist)
		return HG_OK;
	for (uint64_t pool = snap_word(runtime, freelist + runtime->layout->pool_freelist_free);
		pool % SNAP_POOL_BYTES == 0 && snap_list_goes_on(runtime, &walk, pool);
		pool = snap_word(runtime, pool))
		BASE_TRY(add_range(ranges, pool, pool + SNAP_POOL_BYTES, USE_HEAP));
	return HG_OK;
}

static enum hg_status add_areas(struct elfcore *core, struct ranges *ranges)
{
	const struct snap_runtime *runtime = &core->runtime;
	for (uint64_t i = 0; i < runtime->area_count; i++) {
		const struct snap_area *area = &runtime->areas[i];
		uint64_t start = area->start, end = area->end;
		if (area->kind == SNAP_AREA_POOL) {
			start &= ~(uint64_t)(SNAP_POOL_BYTES - 1);
			end = start + SNAP_POOL_BYTES;
		}
		BASE_TRY(add_range(ranges, start, end, USE_HEAP));
	}
	for (uint32_t i = 0; i < runtime->domain_count; i++)
		BASE_TRY(add_range(ranges, runtime->domains[i].minor.start,
			runtime->domains[i].minor.end, USE_HEAP));
	return add_free_pools(core, ranges);
}

/* Stacks */

static enum hg_status add_load_of(
	const struct elfcore *core, struct ranges *ranges, uint64_t address)
{
	const struct snap_load *load = snap_image_load(&core->image, address);
	return load ? add_range(ranges, load->address, load->end, USE_STACK) : HG_OK;
}

/*
 * The kernel puts the program's arguments and a few random bytes above the first stack; glibc puts
 * the data of every other thread at the end of its stack.
 */
static enum hg_status add_thread_stacks(const struct elfcore *core, struct ranges *ranges)
{
	const struct snap_image *image = &core->image;
	uint64_t random;
	if (snap_image_auxv(image, AT_RANDOM, &random))
		BASE_TRY(add_load_of(core, ranges, random));
	for (uint64_t i = 0; i < image->thread_count; i++) {
		const struct snap_thread *thread = &image->threads[i];
		uint64_t own = snap_thread_pointer(image, thread);
		if (thread->id != image->pid)
			BASE_TRY(add_load_of(core, ranges, own));
	}
	return HG_OK;
}

/* Of 5.x: a stack with those that it was called from, in memory of their own. */
static enum hg_status add_fiber_stacks(struct elfcore *core, struct ranges *ranges, uint64_t stack)
{
	enum { MOST_BYTES = 1 << 30, HANDLER_BYTES = 32 };
	struct snap_runtime *runtime = &core->runtime;
	const struct snap_layout *l = runtime->layout;
	struct snap_list walk = {.words = SNAP_CELL_WORDS};
	while (stack % 8 == 0 && snap_list_goes_on(runtime, &walk, stack)) {
		uint64_t handler = snap_word(runtime, stack + l->stack_info_handler);
		if (handler <= stack || handler - stack > MOST_BYTES)
			return HG_OK;
		BASE_TRY(add_range(ranges, stack, handler + HANDLER_BYTES, USE_STACK));
		stack = snap_word(runtime, handler + l->stack_handler_parent);
	}
	return HG_OK;
}

static enum hg_status add_stacks(struct elfcore *core, struct ranges *ranges)
{
	struct snap_runtime *runtime = &core->runtime;
	BASE_TRY(add_thread_stacks(core, ranges));
	if (!runtime->is_5)
		return HG_OK;
	for (uint32_t i = 0; i < runtime->domain_count; i++)
		BASE_TRY(add_fiber_stacks(core, ranges,
			snap_word(runtime,
				runtime->domains[i].state +
					runtime->layout->caml_domain_state_current_stack)));
	for (uint64_t i = 0; i < core->fiber_count; i++) {
		uint64_t field = snap_field_address(core->fibers[i].continuation, 0);
		BASE_TRY(add_fiber_stacks(core, ranges, snap_word(runtime, field) & ~(uint64_t)1));
	}
	return HG_OK;
}

/* All of them */

static enum hg_status add_uses(struct elfcore *core, struct ranges *ranges)
{
	const struct snap *snap = core->snap;
	const struct snap_image *image = &core->image;
	BASE_TRY(add_areas(core, ranges));
	BASE_TRY(add_stacks(core, ranges));
	for (uint64_t i = 0; i < snap->outside_count; i++)
		if (!snap->outside[i].is_file)
			BASE_TRY(add_range(
				ranges, snap->outside[i].start, snap->outside[i].end, USE_OFFHEAP));
	for (uint64_t i = 0; i < image->map_count; i++)
		BASE_TRY(add_range(ranges, image->maps[i].start, image->maps[i].end, USE_FILE));
	return HG_OK;
}

static bool knows_residence(const struct snap_capture_note *capture)
{
	uint64_t sum;
	return capture->runs && capture->resident != HG_UNKNOWN &&
	       capture->resident < SNAP_ADDRESS_LIMIT &&
	       !__builtin_add_overflow(capture->anonymous, capture->file, &sum) &&
	       !__builtin_add_overflow(sum, capture->shared, &sum) && sum == capture->resident;
}

static enum hg_status add_present(const struct elfcore *core, struct ranges *ranges)
{
	const struct snap_image *image = &core->image;
	const struct snap_capture_note *capture = image->capture;
	if (knows_residence(capture)) {
		for (uint64_t i = 0; i < capture->run_count; i++) {
			struct snap_range run = snap_capture_note_run(capture, i);
			BASE_TRY(add_range(ranges, run.start, run.end, USE_PRESENT));
		}
		return HG_OK;
	}
	/* Addresses for minor heaps of domains to come, which nobody can touch: gcore writes zeros.
	 */
	BASE_TRY(add_range(ranges, core->runtime.minor_heaps.start, core->runtime.minor_heaps.end,
		USE_RESERVED));
	for (uint64_t i = 0; i < image->load_count; i++)
		BASE_TRY(add_range(ranges, image->loads[i].address,
			image->loads[i].address + image->loads[i].held, USE_PRESENT));
	return HG_OK;
}

static int compare_borders(const void *a, const void *b)
{
	const struct border *x = a, *y = b;
	return (x->address > y->address) - (x->address < y->address);
}

static struct uses sweep_ranges(struct ranges *ranges)
{
	struct uses uses = {0};
	uint64_t depth[USES] = {0}, before = 0;
	if (ranges->count)
		qsort(ranges->items, ranges->count, sizeof(*ranges->items), compare_borders);
	for (uint64_t i = 0; i < ranges->count; i++) {
		const struct border *border = &ranges->items[i];
		unsigned use = 0;
		while (use < USE_PRESENT && !depth[use])
			use++;
		uint64_t *sums = depth[USE_PRESENT] ? uses.present : uses.absent;
		sums[use] += border->address - before;
		before = border->address;
		depth[border->use] += (uint64_t)(int64_t)border->step;
	}
	return uses;
}

static void fill_memory(const struct snap_capture_note *capture, const struct uses *uses,
	uint64_t unplaced, struct hg_memory *out)
{
	const uint64_t *present = uses->present;
	*out = (struct hg_memory){.is_resident = knows_residence(capture),
		.heap = present[USE_HEAP],
		.offheap = present[USE_OFFHEAP],
		.stacks = present[USE_STACK],
		.data = present[USE_FILE],
		.rest = present[USE_PRESENT],
		.peak = HG_UNKNOWN,
		.swapped = HG_UNKNOWN,
		.heap_absent = uses->absent[USE_HEAP],
		.offheap_unplaced = unplaced,
		.offheap_absent = uses->absent[USE_OFFHEAP]};
	uint64_t own = out->heap + out->offheap + out->stacks + out->data + out->rest;
	out->total = own;
	if (!out->is_resident)
		return;
	out->total = capture->resident;
	out->files = capture->file;
	out->shared = capture->shared;
	if (capture->anonymous > own)
		out->uncounted = capture->anonymous - own;
	else
		out->overcounted = own - capture->anonymous;
	out->peak = capture->peak_resident;
	out->swapped = capture->swapped;
}

enum hg_status elfcore_memory(
	const struct snap *snap, struct hg_memory *out, struct hg_error *error)
{
	struct elfcore *core = elfcore_of(snap);
	struct ranges ranges = {.error = error};
	enum hg_status status = add_uses(core, &ranges);
	if (status == HG_OK)
		status = add_present(core, &ranges);
	if (status == HG_OK) {
		struct uses uses = sweep_ranges(&ranges);
		fill_memory(core->image.capture, &uses, snap->unplaced_bytes, out);
	}
	free(ranges.items);
	return status;
}
