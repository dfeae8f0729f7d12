/*
 * Memory outside the heap that custom blocks own: where it is, so that what several blocks share is
 * known to be the same.  Nothing is believed that the process has not mapped, or that is its heap.
 */
#include "snapshot/core/offheap.h"

#include "base/search.h"
#include "snapshot/offheap.h"
#include "snapshot/runtime/custom.h"
#include "snapshot/runtime/reader.h"

#include <stdlib.h>

/* Whether a range is mapped from end to end, and no part of the heap. */
static bool is_outside_memory(const struct elfcore *core, uint64_t start, uint64_t end)
{
	const struct snap_image *image = &core->image;
	const struct snap_runtime *runtime = &core->runtime;
	uint64_t area = BASE_FIRST_ABOVE(runtime->areas, runtime->area_count, end, start);
	bool is_minor = start < runtime->minor_heaps.end && runtime->minor_heaps.start < end;
	if (is_minor || (area < runtime->area_count && runtime->areas[area].start < end))
		return false;
	uint64_t i = BASE_FIRST_ABOVE(image->loads, image->load_count, end, start);
	return i < image->load_count && image->loads[i].address <= start &&
	       core->load_ends[i] >= end;
}

/* Looked up for each of many blocks, which may all claim the same thousands of mappings. */
static enum hg_status find_load_ends(struct elfcore *core, struct hg_error *error)
{
	const struct snap_image *image = &core->image;
	core->load_ends = calloc(image->load_count + 1, sizeof(*core->load_ends));
	if (!core->load_ends)
		return base_no_memory(error, image->load_count * sizeof(*core->load_ends));
	for (uint64_t i = image->load_count; i-- > 0;) {
		const struct snap_load *load = &image->loads[i];
		bool goes_on = i + 1 < image->load_count && load[1].address == load->end;
		core->load_ends[i] = goes_on ? core->load_ends[i + 1] : load->end;
	}
	return HG_OK;
}

static enum hg_status load_custom(
	struct elfcore *core, struct snap_header_address address, struct hg_error *error)
{
	uint64_t header;
	struct snap_custom custom;
	if (!snap_image_u64(&core->image, address.a, &header))
		return HG_OK;
	snap_runtime_custom(&core->runtime, snap_block_of(address),
		snap_header_wosize(header, core->snap->reserved), &custom);
	/* What belongs to somebody else is not freed with the block. */
	if (custom.offheap == SNAP_OFFHEAP_NONE || custom.offheap == SNAP_OFFHEAP_ALIEN)
		return HG_OK;
	for (unsigned i = 0; i < custom.memory_count; i++) {
		struct snap_range range = custom.memory[i];
		BASE_TRY(base_grow(&core->offheap, core->offheap_count, &core->offheap_capacity,
			sizeof(*core->offheap), error));
		core->offheap[core->offheap_count++] = (struct elfcore_offheap){.address = address,
			.start = range.start,
			.end = range.end,
			.view = range.end - range.start,
			.owner = custom.owner,
			.owner_data = custom.owner_data,
			.is_file = custom.offheap == SNAP_OFFHEAP_MAPPED};
	}
	return HG_OK;
}

/*
 * How far the block of glibc's malloc() goes whose data begin at an address, and by how much it may
 * have rounded up; 0 if there is none.  The word before has the size, and whether it is a mapping
 * of its own; else the one after its end says that it is in use.
 */
static uint64_t malloc_end(const struct elfcore *core, uint64_t data, uint64_t *slack)
{
	enum { FLAGS = 7, BEFORE_IN_USE = 1, IS_MAPPED = 2, PAGE = 4096, ROUNDED = 32 };
	uint64_t word, next;
	if (data < 16 || data % 16 || !snap_image_u64(&core->image, data - 8, &word))
		return 0;
	uint64_t size = word & ~(uint64_t)FLAGS;
	if (size < 32 || size > SNAP_ADDRESS_LIMIT - data)
		return 0;
	*slack = word & IS_MAPPED ? PAGE + ROUNDED : ROUNDED;
	/* The size is that of the mapping; since glibc 2.43 without the two words before the data.
	 */
	if (word & IS_MAPPED && data % PAGE == 16 && size % PAGE == 0)
		return data - 16 + size;
	if (word & IS_MAPPED)
		return data % PAGE == 16 && (size + 16) % PAGE == 0 ? data - 8 + size : 0;
	if (size % 16 || !snap_image_u64(&core->image, data - 8 + size, &next))
		return 0;
	return next & BEFORE_IN_USE ? data - 8 + size : 0;
}

/*
 * Blocks [first, end) have parts of the same data.  The one that had all of it may be gone, and
 * only malloc() still knows how much that was; else it is as much as the parts reach over.
 */
static void join_parts(struct elfcore *core, struct elfcore_offheap *parts, uint64_t count)
{
	uint64_t start = parts[0].start, end = parts[0].end;
	for (uint64_t i = 1; i < count; i++) {
		start = parts[i].start < start ? parts[i].start : start;
		end = parts[i].end > end ? parts[i].end : end;
	}
	if (parts[0].owner_data && parts[0].owner_data < start &&
		is_outside_memory(core, parts[0].owner_data, end))
		start = parts[0].owner_data;
	uint64_t slack = 0;
	uint64_t whole = parts[0].is_file || start != parts[0].owner_data
				 ? 0
				 : malloc_end(core, start, &slack);
	if (whole > end && whole - end >= slack && is_outside_memory(core, start, whole))
		end = whole;
	for (uint64_t i = 0; i < count; i++) {
		parts[i].start = start;
		parts[i].end = end;
	}
}

static int offheap_by_owner(const void *a, const void *b)
{
	const struct elfcore_offheap *x = a, *y = b;
	if (x->owner != y->owner)
		return x->owner < y->owner ? -1 : 1;
	if (x->is_file != y->is_file)
		return x->is_file ? 1 : -1;
	return (x->address.a > y->address.a) - (x->address.a < y->address.a);
}

static void join_owners(struct elfcore *core)
{
	struct elfcore_offheap *all = core->offheap;
	for (uint64_t i = 0, end; i < core->offheap_count; i = end) {
		end = i + 1;
		if (all[i].owner == 0)
			continue;
		while (end < core->offheap_count && all[end].owner == all[i].owner &&
			all[end].is_file == all[i].is_file)
			end++;
		join_parts(core, all + i, end - i);
	}
}

/* Blocks that claim what is not there come to nothing. */
static void drop_claims(struct elfcore *core)
{
	uint64_t kept = 0, dropped = 0;
	for (uint64_t i = 0; i < core->offheap_count; i++) {
		if (is_outside_memory(core, core->offheap[i].start, core->offheap[i].end))
			core->offheap[kept++] = core->offheap[i];
		else
			dropped++;
	}
	core->offheap_count = kept;
	if (dropped)
		snap_note_line(&core->runtime,
			"%llu custom blocks claim memory outside the heap that the process does "
			"not have",
			(unsigned long long)dropped);
}

enum hg_status elfcore_load_offheap(struct elfcore *core, struct hg_error *error)
{
	BASE_TRY(find_load_ends(core, error));
	for (uint64_t i = 0; i < core->customs.count; i++)
		BASE_TRY(load_custom(
			core, (struct snap_header_address){core->customs.items[i]}, error));
	drop_claims(core);
	if (core->offheap_count == 0)
		return HG_OK;
	qsort(core->offheap, core->offheap_count, sizeof(*core->offheap), offheap_by_owner);
	join_owners(core);
	return HG_OK;
}

/* Memory that the process has, mapped in whatever way. */
static uint64_t mapped_memory(const struct snap_image *image)
{
	uint64_t bytes = 0;
	for (uint64_t i = 0; i < image->load_count; i++)
		bytes += image->loads[i].end - image->loads[i].address;
	return bytes;
}

static int ranks_of_outside(const void *a, const void *b)
{
	const struct snap_outside *x = a, *y = b;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

/*
 * Of custom blocks that are none of the runtime's nobody knows what they own, but for those that
 * Gc.Memprof has sampled for it: it keeps the size that caml_alloc_custom_mem() was told.  Expects
 * the blocks that are known in order.
 */
static enum hg_status add_sampled(struct elfcore *core, struct hg_error *error)
{
	struct snap *snap = core->snap;
	const struct snap_runtime *runtime = &core->runtime;
	uint64_t known = snap->outside_count, left = mapped_memory(&core->image);
	for (uint64_t i = 0; i < runtime->sample_count; i++) {
		const struct snap_sample *sample = &runtime->samples[i];
		struct snap_outside outside = {.view = 8 * sample->wosize};
		if (sample->source != SNAP_SAMPLE_CUSTOM || sample->block & 7 ||
			sample->wosize == 0 || sample->wosize > left / 8)
			continue;
		outside.rank = snap_resolve_node(snap, sample->block);
		if (outside.rank == HG_NO_NODE ||
			(known && bsearch(&outside, snap->outside, known, sizeof(outside),
					  ranks_of_outside)))
			continue;
		left -= outside.view;
		BASE_TRY(base_grow(&snap->outside, snap->outside_count, &snap->outside_capacity,
			sizeof(*snap->outside), error));
		snap->outside[snap->outside_count++] = outside;
	}
	return HG_OK;
}

enum hg_status elfcore_finalise_offheap(struct elfcore *core, struct hg_error *error)
{
	struct snap *snap = core->snap;
	for (uint64_t i = 0; i < core->offheap_count; i++) {
		const struct elfcore_offheap *o = &core->offheap[i];
		struct snap_outside outside = {.start = o->start,
			.end = o->end,
			.view = o->view,
			.rank = snap_resolve_node(snap, snap_block_of(o->address).a),
			.is_file = o->is_file};
		if (outside.rank == HG_NO_NODE)
			continue;
		BASE_TRY(base_grow(&snap->outside, snap->outside_count, &snap->outside_capacity,
			sizeof(*snap->outside), error));
		snap->outside[snap->outside_count++] = outside;
	}
	if (snap->outside_count)
		qsort(snap->outside, snap->outside_count, sizeof(*snap->outside), ranks_of_outside);
	BASE_TRY(add_sampled(core, error));
	snap_sort_outside(snap);
	free(core->offheap);
	core->offheap = NULL;
	core->offheap_count = core->offheap_capacity = 0;
	return HG_OK;
}
