/* The heap of 5.x: pools of slots of one size and single large blocks, both in lists per domain. */
#include "snapshot/runtime/areas.h"

#include "snapshot/runtime/reader.h"

#include <stdlib.h>

enum { PAGE = 4096 };

/* Pools */

static uint32_t size_class_of(const struct snap_runtime *runtime, uint64_t pool)
{
	uint64_t at = pool + runtime->layout->pool_sz;
	uint8_t byte;
	if (runtime->layout->pool_sz_bytes != 1)
		return snap_half(runtime, at);
	return snap_image_read(runtime->image, at, &byte, 1) ? byte : SNAP_SIZE_CLASSES;
}

/* Whether all of a pool is there that was ever written: of free slots that are counted, the last
   pages may never have been touched. */
static bool is_pool_present(const struct snap_runtime *runtime, uint64_t pool, uint32_t size_class)
{
	uint64_t probe, at = SNAP_POOL_BYTES - 8;
	if (runtime->layout->counted_free_slots == 1)
		at = snap_layout_first_slot(runtime->layout, size_class);
	return snap_image_u64(runtime->image, pool + at, &probe);
}

static enum hg_status add_pool(
	struct snap_runtime *runtime, uint64_t pool, uint32_t domain, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	uint32_t size_class = size_class_of(runtime, pool);
	if (pool % PAGE || size_class >= SNAP_SIZE_CLASSES ||
		!is_pool_present(runtime, pool, size_class)) {
		snap_note_line(runtime, "the pool at 0x%llx is damaged or missing",
			(unsigned long long)pool);
		return HG_OK;
	}
	uint32_t words = l->size_classes[size_class];
	uint64_t start = pool + snap_layout_first_slot(l, size_class);
	uint64_t slots = (pool + SNAP_POOL_BYTES - start) / (8 * words);
	struct snap_area area = {.start = start,
		.end = start + slots * 8 * words,
		.kind = SNAP_AREA_POOL,
		.slot_words = words,
		.domain = domain};
	return snap_add_area(runtime, &area, error);
}

/* 32 lists, one per size class. */
static enum hg_status add_pools(
	struct snap_runtime *runtime, uint64_t heads, uint32_t domain, struct hg_error *error)
{
	for (uint64_t i = 0; i < SNAP_SIZE_CLASSES; i++) {
		uint64_t pool = snap_word(runtime, heads + 8 * i);
		struct snap_list walk = {.words = SNAP_POOL_WORDS};
		for (; snap_list_goes_on(runtime, &walk, pool);
			pool = snap_word(runtime, pool + runtime->layout->pool_next))
			BASE_TRY(add_pool(runtime, pool, domain, error));
	}
	return HG_OK;
}

static enum hg_status add_large_blocks(
	struct snap_runtime *runtime, uint64_t large, uint32_t domain, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	struct snap_list walk = {.words = SNAP_CELL_WORDS};
	for (; snap_list_goes_on(runtime, &walk, large);
		large = snap_word(runtime, large + l->large_alloc_next)) {
		uint64_t start = large + l->sizeof_large_alloc, header, last;
		uint64_t end = start;
		if (start % 8 == 0 && snap_image_u64(runtime->image, start, &header))
			end += 8 * (snap_runtime_wosize(runtime, header) + 1);
		if (end <= start || !snap_image_u64(runtime->image, end - 8, &last)) {
			snap_note_line(runtime, "the large block at 0x%llx is damaged or missing",
				(unsigned long long)start);
			continue;
		}
		struct snap_area area = {
			.start = start, .end = end, .kind = SNAP_AREA_LARGE, .domain = domain};
		BASE_TRY(snap_add_area(runtime, &area, error));
	}
	return HG_OK;
}

static enum hg_status add_heap_of(
	struct snap_runtime *runtime, uint32_t domain, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	const uint16_t lists[] = {l->caml_heap_state_avail_pools, l->caml_heap_state_full_pools,
		l->caml_heap_state_unswept_avail_pools, l->caml_heap_state_unswept_full_pools};
	uint64_t heap = snap_word(
		runtime, runtime->domains[domain].state + l->caml_domain_state_shared_heap);
	if (!heap)
		return HG_OK;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		BASE_TRY(add_pools(runtime, heap + lists[i], domain, error));
	BASE_TRY(add_large_blocks(
		runtime, snap_word(runtime, heap + l->caml_heap_state_swept_large), domain, error));
	return add_large_blocks(runtime,
		snap_word(runtime, heap + l->caml_heap_state_unswept_large), domain, error);
}

/* What domains that have ended left behind. */
static enum hg_status add_global_heap(struct snap_runtime *runtime, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	uint64_t freelist = snap_variable_or_note(runtime, "pool_freelist");
	if (!freelist)
		return HG_OK;
	BASE_TRY(add_pools(
		runtime, freelist + l->pool_freelist_global_avail_pools, SNAP_NO_INDEX, error));
	BASE_TRY(add_pools(
		runtime, freelist + l->pool_freelist_global_full_pools, SNAP_NO_INDEX, error));
	return add_large_blocks(runtime,
		snap_word(runtime, freelist + l->pool_freelist_global_large), SNAP_NO_INDEX, error);
}

/*
 * A pool that is being swept is in no list: it has been taken out of one and is not yet in the
 * other.  It can be told by its header and by its slots.
 */

static bool is_free(const struct snap_runtime *runtime, uint64_t header)
{
	bool counted = runtime->layout->counted_free_slots == 1;
	return counted ? snap_is_free_slots(header) : header == 0;
}

/* Whether a block is of the size of a class. */
static bool is_of_class(const struct snap_runtime *runtime, uint64_t header, uint32_t size_class)
{
	const uint8_t *classes = runtime->layout->size_classes;
	uint64_t words = snap_runtime_wosize(runtime, header) + 1;
	return words > (size_class ? classes[size_class - 1] : 0) && words <= classes[size_class];
}

static bool slots_fit(const struct snap_runtime *runtime, uint64_t pool, uint32_t size_class)
{
	const struct snap_layout *l = runtime->layout;
	uint64_t bytes = 8 * (uint64_t)l->size_classes[size_class];
	uint64_t at = snap_layout_first_slot(l, size_class), header, slots, blocks = 0;
	for (uint64_t left = (SNAP_POOL_BYTES - at) / bytes; left; left -= slots) {
		if (!snap_image_u64(runtime->image, pool + at, &header))
			return false;
		bool free = is_free(runtime, header);
		if (!free && !is_of_class(runtime, header, size_class))
			return false;
		slots = free ? snap_runtime_wosize(runtime, header) + 1 : 1;
		if (slots > left)
			return false;
		at += slots * bytes;
		blocks += !free;
	}
	return blocks > 0;
}

static uint32_t owner_of(const struct snap_runtime *runtime, uint64_t state)
{
	for (uint32_t i = 0; i < runtime->domain_count; i++)
		if (runtime->domains[i].state == state)
			return i;
	return SNAP_NO_INDEX;
}

static bool is_pool(const struct snap_runtime *runtime, uint64_t address, uint32_t *domain)
{
	const struct snap_layout *l = runtime->layout;
	uint64_t next_obj = snap_word(runtime, address + l->pool_next_obj);
	uint64_t next = snap_word(runtime, address + l->pool_next);
	uint32_t size_class = size_class_of(runtime, address);
	*domain = owner_of(runtime, snap_word(runtime, address + l->pool_owner));
	if (*domain == SNAP_NO_INDEX || size_class >= SNAP_SIZE_CLASSES)
		return false;
	if (next_obj && (next_obj <= address || next_obj >= address + SNAP_POOL_BYTES))
		return false;
	if (next && (next % PAGE || !snap_runtime_area(runtime, next + SNAP_POOL_BYTES / 2)))
		return false;
	return slots_fit(runtime, address, size_class);
}

struct pool_list {
	uint64_t *items;
	uint64_t count, capacity;
};

static enum hg_status find_unlisted(struct snap_runtime *runtime, const struct snap_load *load,
	struct pool_list *found, struct hg_error *error)
{
	uint64_t inside = snap_layout_first_slot(runtime->layout, SNAP_SIZE_CLASSES - 1);
	uint64_t end = load->address + load->held;
	uint32_t domain;
	for (uint64_t at = load->address; at < end && end - at >= SNAP_POOL_BYTES;) {
		const struct snap_area *area = snap_runtime_area(runtime, at + inside);
		if (area) {
			at = (area->end + PAGE - 1) / PAGE * PAGE;
		} else if (at >= runtime->minor_heaps.start && at < runtime->minor_heaps.end) {
			at = runtime->minor_heaps.end;
		} else if (is_pool(runtime, at, &domain)) {
			BASE_TRY(base_grow(&found->items, found->count, &found->capacity,
				sizeof(*found->items), error));
			found->items[found->count++] = at;
			at += SNAP_POOL_BYTES;
		} else {
			at += PAGE;
		}
	}
	return HG_OK;
}

static enum hg_status add_unlisted(struct snap_runtime *runtime, struct hg_error *error)
{
	struct pool_list found = {0};
	enum hg_status status = HG_OK;
	for (uint64_t i = 0; status == HG_OK && i < runtime->image->load_count; i++) {
		const struct snap_load *load = &runtime->image->loads[i];
		if ((load->flags & PF_W) && load->address % PAGE == 0 &&
			!snap_image_map(runtime->image, load->address))
			status = find_unlisted(runtime, load, &found, error);
	}
	for (uint64_t i = 0; status == HG_OK && i < found.count; i++) {
		uint64_t owner = found.items[i] + runtime->layout->pool_owner;
		status = add_pool(runtime, found.items[i],
			owner_of(runtime, snap_word(runtime, owner)), error);
	}
	if (found.count)
		snap_sort_areas(runtime);
	free(found.items);
	return status;
}

/* Of a program without symbols: from the first minor heap to the last. */
static void join_minor_heaps(struct snap_runtime *runtime)
{
	for (uint32_t i = 0; i < runtime->domain_count; i++) {
		const struct snap_range *minor = &runtime->domains[i].minor;
		if (runtime->minor_heaps.end == 0 || minor->start < runtime->minor_heaps.start)
			runtime->minor_heaps.start = minor->start;
		if (minor->end > runtime->minor_heaps.end)
			runtime->minor_heaps.end = minor->end;
	}
}

enum hg_status snap_read_areas_5(struct snap_runtime *runtime, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	uint64_t colours = snap_variable(runtime, "caml_global_heap_state");
	/* MARKED, UNMARKED, GARBAGE: colors at their place in the header */
	runtime->garbage_colour = (unsigned)(snap_word(runtime, colours + 16) >> 8) & 3;
	runtime->minor_heaps =
		(struct snap_range){snap_variable_word(runtime, "caml_minor_heaps_start"),
			snap_variable_word(runtime, "caml_minor_heaps_end")};
	if (runtime->found)
		join_minor_heaps(runtime);
	for (uint32_t i = 0; i < runtime->domain_count; i++)
		BASE_TRY(add_heap_of(runtime, i, error));
	BASE_TRY(add_global_heap(runtime, error));
	snap_sort_areas(runtime);
	BASE_TRY(add_unlisted(runtime, error));
	for (uint32_t i = 0; i < runtime->domain_count; i++) {
		const struct snap_domain *domain = &runtime->domains[i];
		BASE_TRY(snap_add_minor_area(runtime, i,
			snap_word(runtime, domain->state + l->caml_domain_state_young_ptr),
			domain->minor.end, error));
	}
	snap_sort_areas(runtime);
	return HG_OK;
}
