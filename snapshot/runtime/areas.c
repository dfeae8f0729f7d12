/* What the heaps of 4.x and 5.x have in common: the list of areas, and minor heaps. */
#include "snapshot/runtime/areas.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/search.h"
#include "snapshot/runtime/reader.h"
#include "snapshot/runtime/stacks.h"

#include <stdlib.h>

/* Max_young_wosize and its header, with up to a few allocations combined in one step. */
enum { MOST_YOUNG_WORDS = 257, MOST_SKIPPED_WORDS = 600 };

enum hg_status snap_add_area(
	struct snap_runtime *runtime, const struct snap_area *area, struct hg_error *error)
{
	if (area->end <= area->start)
		return HG_OK;
	if (area->start < SNAP_ADDRESS_FIRST || area->end > SNAP_ADDRESS_LIMIT || area->start % 8 ||
		area->end % 8) {
		snap_note_line(runtime, "no heap can be at 0x%llx to 0x%llx: left out",
			(unsigned long long)area->start, (unsigned long long)area->end);
		return HG_OK;
	}
	BASE_TRY(base_grow(&runtime->areas, runtime->area_count, &runtime->area_capacity,
		sizeof(*runtime->areas), error));
	runtime->areas[runtime->area_count++] = *area;
	return HG_OK;
}

static int compare_areas(const void *a, const void *b)
{
	const struct snap_area *x = a, *y = b;
	return (x->start > y->start) - (x->start < y->start);
}

void snap_sort_areas(struct snap_runtime *runtime)
{
	uint64_t kept = 0, dropped = 0;
	if (runtime->area_count)
		qsort(runtime->areas, runtime->area_count, sizeof(*runtime->areas), compare_areas);
	for (uint64_t i = 0; i < runtime->area_count; i++) {
		if (kept && runtime->areas[i].start < runtime->areas[kept - 1].end)
			dropped++;
		else
			runtime->areas[kept++] = runtime->areas[i];
	}
	runtime->area_count = kept;
	base_assert(BASE_IS_SORTED(runtime->areas, kept, start));
	base_assert(BASE_IS_SORTED(runtime->areas, kept, end));
	if (dropped)
		snap_note_line(runtime, "%llu areas of the heap overlap others and were left out",
			(unsigned long long)dropped);
}

const struct snap_area *snap_runtime_area(const struct snap_runtime *runtime, uint64_t address)
{
	uint64_t low = BASE_FIRST_ABOVE(runtime->areas, runtime->area_count, end, address);
	return low < runtime->area_count && address >= runtime->areas[low].start
		       ? &runtime->areas[low]
		       : NULL;
}

/* Words of the block whose header is at an address of a minor heap, forwarded or not; 0: none. */
static uint64_t young_words(const struct snap_runtime *runtime, struct snap_header_address address)
{
	uint64_t header, copy;
	if (!snap_image_u64(runtime->image, address.a, &header))
		return 0;
	if (header == 0) {
		/* During a minor collection: field 0 is the address of the promoted block. */
		if (!snap_image_u64(runtime->image, snap_field_address(address, 0), &copy) ||
			copy % 8 || copy == 0)
			return 0;
		const struct snap_area *area =
			snap_runtime_area(runtime, snap_pointed_header(copy).a);
		if (!area || area->kind == SNAP_AREA_MINOR ||
			!snap_image_u64(runtime->image, snap_pointed_header(copy).a, &header))
			return 0;
	}
	uint64_t words = snap_runtime_wosize(runtime, header) + 1;
	return words > 1 && words <= MOST_YOUNG_WORDS ? words : 0;
}

/*
 * Whether the blocks from 'start' on lead to the end exactly.  A word that was passed before does
 * not: 'passed' has a bit for each.
 */
static bool walks_to(const struct snap_runtime *runtime, uint64_t start,
	const struct snap_range *all, uint64_t *passed)
{
	while (start < all->end) {
		uint64_t words = young_words(runtime, (struct snap_header_address){start}),
			 n = (start - all->start) / 8;
		if (words == 0 || base_bit(passed, n))
			return false;
		base_bit_set(passed, n);
		start += 8 * words;
	}
	return start == all->end;
}

/* The first address that blocks go on from to the end; all->end if there is none. */
static enum hg_status find_first(const struct snap_runtime *runtime, const struct snap_range *all,
	uint64_t *first, struct hg_error *error)
{
	uint64_t words = base_bit_words((all->end - all->start) / 8) + 1;
	uint64_t *passed = calloc(words, sizeof(*passed));
	if (!passed)
		return base_no_memory(error, words * sizeof(*passed));
	*first = all->start;
	for (unsigned i = 0; *first < all->end && !walks_to(runtime, *first, all, passed); i++)
		*first = i < MOST_SKIPPED_WORDS ? *first + 8 : all->end;
	free(passed);
	return HG_OK;
}

/* OCaml code keeps the pointer in a register, and what is saved lags behind. */
static uint64_t first_used(
	const struct snap_runtime *runtime, const struct snap_domain *domain, uint64_t young_ptr)
{
	const struct snap_innermost *inner = domain->innermost;
	if (!inner || !inner->is_repaired ||
		!snap_frame_knows(&inner->frame, inner->frame.arch->young_pointer))
		return young_ptr;
	uint64_t moved = inner->frame.registers[inner->frame.arch->young_pointer];
	if (moved % 8 || moved > young_ptr || moved + 8 * MOST_SKIPPED_WORDS < domain->minor.start)
		return young_ptr;
	uint64_t taken = inner->c_frames
				 ? 0
				 : snap_taken_by_code(runtime->image, snap_frame_pc(&inner->frame));
	return taken % 8 == 0 && taken <= young_ptr - moved ? moved + taken : moved;
}

/*
 * Where the blocks begin.  A thread that was stopped between moving the pointer and writing a
 * header has left words in front of the first block.
 */
enum hg_status snap_add_minor_area(struct snap_runtime *runtime, uint32_t domain,
	uint64_t young_ptr, uint64_t end, struct hg_error *error)
{
	const struct snap_domain *d = &runtime->domains[domain];
	struct snap_area area = {.start = first_used(runtime, d, young_ptr),
		.end = end,
		.kind = SNAP_AREA_MINOR,
		.domain = domain};
	/* The pointer may run past the start before anybody notices that the heap is full. */
	if (area.start < d->minor.start && d->minor.start - area.start <= 8 * MOST_SKIPPED_WORDS)
		area.start = d->minor.start;
	if (area.start < d->minor.start || area.end > d->minor.end || area.start > area.end ||
		area.start % 8 || area.end % 8) {
		snap_note_line(runtime, "the minor heap of domain %llu is damaged",
			(unsigned long long)d->id);
		return HG_OK;
	}
	struct snap_range all = {area.start, area.end};
	uint64_t first = all.start, bytes = all.end - all.start;
	if (snap_image_present(runtime->image, all.start, bytes) < bytes) {
		snap_note_line(runtime, "the minor heap of domain %llu is missing",
			(unsigned long long)d->id);
		return HG_OK;
	}
	BASE_TRY(find_first(runtime, &all, &first, error));
	if (first == all.end && first != all.start)
		snap_note_line(runtime,
			"the minor heap of domain %llu cannot be walked from end to end",
			(unsigned long long)d->id);
	else
		area.start = first;
	return snap_add_area(runtime, &area, error);
}
