/*
 * Frame descriptors: for every return address into OCaml code, which words of the frame are live
 * and where the call is in the source (runtime/caml/stack.h, backtrace_nat.c of the versions).
 */
#include "snapshot/runtime/frames.h"

#include "base/assert.h"
#include "base/search.h"
#include "snapshot/runtime/reader.h"

#include <stdlib.h>
#include <string.h>

/* A descriptor that was met. */
struct frame_entry {
	uint64_t return_address, descriptor;
	const char *name; /* NULL until it is asked for */
};

struct snap_frame_table {
	struct frame_entry *entries; /* in the order met */
	uint64_t count, capacity;
	struct base_map by_return; /* number of an entry by return address */
	uint64_t *tables;
	uint64_t table_count, table_capacity;
	struct frame_entry *sorted; /* by return address, when first asked for; or NULL */
};

/* Of two descriptors with one return address, the one met last counts. */
static enum hg_status add_descriptor(struct snap_frame_table *frames,
	const struct snap_descriptor *descriptor, struct hg_error *error)
{
	uint64_t number = frames->count;
	bool added;
	BASE_TRY(base_map_add(
		&frames->by_return, descriptor->return_address, &number, &added, error));
	if (added) {
		BASE_TRY(base_grow(&frames->entries, number, &frames->capacity,
			sizeof(*frames->entries), error));
		frames->count++;
	}
	frames->entries[number] =
		(struct frame_entry){descriptor->return_address, descriptor->address, NULL};
	return HG_OK;
}

bool snap_read_descriptor(
	const struct snap_runtime *runtime, uint64_t address, struct snap_descriptor *out)
{
	uint8_t bytes[12];
	uint16_t halves[2];
	if (!snap_image_read(runtime->image, address, bytes, sizeof(bytes)))
		return false;
	memcpy(halves, bytes + 8, sizeof(halves));
	*out = (struct snap_descriptor){.address = address,
		.return_address = base_load_u64le(bytes),
		.frame_size = halves[0],
		.live_count = halves[1]};
	return true;
}

static uint64_t align_up(uint64_t address, uint64_t to)
{
	return (address + to - 1) & ~(to - 1);
}

/* Of the debuginfo offsets of a descriptor: where they begin and how many there are. */
static bool debuginfo_offsets(const struct snap_runtime *runtime,
	const struct snap_descriptor *descriptor, uint64_t *start, unsigned *count, uint64_t *end)
{
	uint64_t next = descriptor->address + 12 + 2 * (uint64_t)descriptor->live_count;
	uint8_t allocations = 1;
	*count = 0;
	if (descriptor->frame_size != SNAP_RETURN_TO_C) {
		if (descriptor->frame_size & SNAP_FRAME_ALLOCATIONS) {
			if (!snap_image_read(runtime->image, next, &allocations, 1))
				return false;
			next += 1 + (uint64_t)allocations;
		}
		if (descriptor->frame_size & SNAP_FRAME_DEBUGINFO) {
			*start = align_up(next, 4);
			*count = allocations;
			next = *start + 4 * (uint64_t)allocations;
		}
	}
	*end = align_up(next, 8);
	return true;
}

static enum hg_status read_frame_table(
	struct snap_runtime *runtime, uint64_t table, struct hg_error *error)
{
	struct snap_frame_table *frames = runtime->frames;
	struct snap_descriptor descriptor;
	uint64_t count = snap_word(runtime, table), start;
	unsigned infos;
	for (uint64_t i = 0, next = table + 8; i < count; i++) {
		if (!snap_spend(runtime, 1) || !snap_read_descriptor(runtime, next, &descriptor) ||
			!debuginfo_offsets(runtime, &descriptor, &start, &infos, &next)) {
			snap_note_line(runtime, "the frame table at 0x%llx is cut short",
				(unsigned long long)table);
			return HG_OK;
		}
		if (descriptor.return_address)
			BASE_TRY(add_descriptor(frames, &descriptor, error));
	}
	return HG_OK;
}

static int compare_numbers_of_tables(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static enum hg_status add_frame_table(
	struct snap_frame_table *frames, uint64_t table, struct hg_error *error)
{
	BASE_TRY(base_grow(&frames->tables, frames->table_count, &frames->table_capacity,
		sizeof(*frames->tables), error));
	frames->tables[frames->table_count++] = table;
	return HG_OK;
}

/* caml_frametable of the program, and the list of those that were registered. */
static enum hg_status find_frame_tables(struct snap_runtime *runtime, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	struct snap_frame_table *frames = runtime->frames;
	struct snap_list walk = {0};
	uint64_t table, at = snap_variable(runtime, "caml_frametable");
	for (; (table = snap_word(runtime, at)) != 0; at += 8)
		BASE_TRY(add_frame_table(frames, table, error));
	uint64_t link = l->caml_frame_descrs_frametables == SNAP_ABSENT
				? snap_variable_word(runtime, "frametables")
				: snap_variable(runtime, "current_frame_descrs");
	if (link && l->caml_frame_descrs_frametables != SNAP_ABSENT)
		link = snap_word(runtime, link + l->caml_frame_descrs_frametables);
	for (; snap_list_goes_on(runtime, &walk, link);
		link = snap_word(runtime, link + l->link_next))
		BASE_TRY(add_frame_table(frames, snap_word(runtime, link + l->link_data), error));
	if (frames->table_count)
		qsort(frames->tables, frames->table_count, sizeof(*frames->tables),
			compare_numbers_of_tables);
	uint64_t kept = 0;
	for (uint64_t i = 0; i < frames->table_count; i++)
		if (frames->tables[i] &&
			(kept == 0 || frames->tables[i] != frames->tables[kept - 1]))
			frames->tables[kept++] = frames->tables[i];
	frames->table_count = kept;
	return HG_OK;
}

enum hg_status snap_read_frame_tables(struct snap_runtime *runtime, struct hg_error *error)
{
	runtime->frames = calloc(1, sizeof(*runtime->frames));
	if (!runtime->frames)
		return base_no_memory(error, sizeof(*runtime->frames));
	BASE_TRY(find_frame_tables(runtime, error));
	for (uint64_t i = 0; i < runtime->frames->table_count; i++)
		BASE_TRY(read_frame_table(runtime, runtime->frames->tables[i], error));
	return HG_OK;
}

void snap_release_frame_tables(struct snap_runtime *runtime)
{
	if (!runtime->frames)
		return;
	free(runtime->frames->entries);
	base_map_release(&runtime->frames->by_return);
	free(runtime->frames->tables);
	free(runtime->frames->sorted);
	free(runtime->frames);
	runtime->frames = NULL;
}

uint64_t snap_frame_table_count(const struct snap_runtime *runtime)
{
	return runtime->frames->table_count;
}

uint64_t snap_descriptor_count(const struct snap_runtime *runtime)
{
	return runtime->frames->count;
}

static struct frame_entry *find_entry(struct snap_runtime *runtime, uint64_t return_address)
{
	uint64_t number;
	return base_map_get(&runtime->frames->by_return, return_address, &number)
		       ? &runtime->frames->entries[number]
		       : NULL;
}

bool snap_find_descriptor(
	struct snap_runtime *runtime, uint64_t return_address, struct snap_descriptor *out)
{
	struct frame_entry *entry = find_entry(runtime, return_address);
	return entry && snap_read_descriptor(runtime, entry->descriptor, out);
}

static int compare_returns(const void *a, const void *b)
{
	uint64_t x = ((const struct frame_entry *)a)->return_address;
	uint64_t y = ((const struct frame_entry *)b)->return_address;
	return (x > y) - (x < y);
}

/* False when there is no memory for it. */
static bool sort_entries(struct snap_frame_table *frames)
{
	if (frames->sorted)
		return true;
	frames->sorted = calloc(frames->count + 1, sizeof(*frames->sorted));
	if (!frames->sorted)
		return false;
	if (frames->count) {
		memcpy(frames->sorted, frames->entries, frames->count * sizeof(*frames->sorted));
		qsort(frames->sorted, frames->count, sizeof(*frames->sorted), compare_returns);
	}
	base_assert(BASE_IS_SORTED(frames->sorted, frames->count, return_address));
	return true;
}

size_t snap_next_descriptors(const struct snap_runtime *runtime, uint64_t start,
	struct snap_descriptor *out, size_t capacity)
{
	struct snap_frame_table *frames = runtime->frames;
	if (!sort_entries(frames))
		return 0;
	uint64_t low = BASE_FIRST_ABOVE(frames->sorted, frames->count, return_address, start);
	size_t got = 0;
	for (; low < frames->count && got < capacity; low++)
		if (snap_read_descriptor(runtime, frames->sorted[low].descriptor, &out[got]))
			got++;
	return got;
}

/* Of several allocations in one frame, the first that has one. */
uint64_t snap_debuginfo_of(
	const struct snap_runtime *runtime, const struct snap_descriptor *descriptor)
{
	uint64_t start, end;
	unsigned count;
	if (!debuginfo_offsets(runtime, descriptor, &start, &count, &end))
		return 0;
	for (unsigned i = 0; i < count; i++) {
		uint32_t offset = snap_half(runtime, start + 4 * (uint64_t)i);
		if (offset)
			return start + 4 * (uint64_t)i + offset;
	}
	return 0;
}

const char **snap_kept_name(
	struct snap_runtime *runtime, uint64_t return_address, uint64_t *descriptor)
{
	struct frame_entry *entry = find_entry(runtime, return_address);
	*descriptor = entry ? entry->descriptor : 0;
	return entry ? &entry->name : NULL;
}
