/* Ranges of the address space that the runtime knows of besides its heap. */
#include "snapshot/runtime/areas.h"

#include "base/assert.h"
#include "base/search.h"
#include "snapshot/runtime/reader.h"

#include <stdlib.h>
#include <string.h>

/* Of the page table, which is at most half full; and of these, what nobody has to account for. */
enum { MOST_PROBES = 65536, FREE_PROBES = 4, PROBE_WORDS = 4 };

static int compare_ranges(const void *a, const void *b)
{
	const struct snap_range *x = a, *y = b;
	return (x->start > y->start) - (x->start < y->start);
}

/* Puts ranges in order, joins those that touch or overlap; returns how many are left. */
static uint64_t join_ranges(struct snap_range *ranges, uint64_t count)
{
	uint64_t kept = 0;
	if (count == 0)
		return 0;
	qsort(ranges, count, sizeof(*ranges), compare_ranges);
	for (uint64_t i = 1; i < count; i++) {
		if (ranges[i].start > ranges[kept].end)
			ranges[++kept] = ranges[i];
		else if (ranges[i].end > ranges[kept].end)
			ranges[kept].end = ranges[i].end;
	}
	base_assert(BASE_IS_SORTED(ranges, kept + 1, start));
	base_assert(BASE_IS_SORTED(ranges, kept + 1, end));
	return kept + 1;
}

static bool is_in_ranges(const struct snap_range *ranges, uint64_t count, uint64_t address)
{
	uint64_t low = BASE_FIRST_ABOVE(ranges, count, end, address);
	return low < count && address >= ranges[low].start;
}

bool snap_runtime_is_static(const struct snap_runtime *runtime, uint64_t address)
{
	return is_in_ranges(runtime->statics, runtime->static_count, address);
}

bool snap_runtime_is_code(const struct snap_runtime *runtime, uint64_t address)
{
	return is_in_ranges(runtime->codes, runtime->code_count, address);
}

struct ranges {
	struct snap_range *items;
	uint64_t count, capacity;
};

static enum hg_status add_range(
	struct ranges *ranges, uint64_t start, uint64_t end, struct hg_error *error)
{
	if (end <= start)
		return HG_OK;
	BASE_TRY(base_grow(
		&ranges->items, ranges->count, &ranges->capacity, sizeof(*ranges->items), error));
	ranges->items[ranges->count++] = (struct snap_range){start, end};
	return HG_OK;
}

/* caml_data_segments and caml_code_segments: pairs of addresses, ended by 0. */
static enum hg_status read_segments(struct snap_runtime *runtime, const char *name, uint64_t after,
	struct ranges *ranges, struct hg_error *error)
{
	uint64_t table = snap_variable(runtime, name), start, end;
	if (!table) {
		snap_note_line(runtime, "%s is missing", name);
		return HG_OK;
	}
	for (;; table += 16) {
		if (!snap_image_u64(runtime->image, table, &start) ||
			!snap_image_u64(runtime->image, table + 8, &end)) {
			snap_note_line(runtime, "%s does not end", name);
			return HG_OK;
		}
		if (start == 0)
			return HG_OK;
		BASE_TRY(add_range(ranges, start, end + after, error));
	}
}

/*
 * The program's own code is one fragment from its first unit to its last, with whatever C code was
 * linked in between; the runtime's glue code is another.  Neither is code of units, which are the
 * first of the ranges.
 */
static bool is_plugin(struct snap_runtime *runtime, const struct ranges *ranges,
	uint64_t unit_count, uint64_t start, uint64_t end)
{
	uint64_t glue = snap_variable(runtime, "caml_call_gc");
	if (glue >= start && glue < end)
		return false;
	for (uint64_t i = 0; i < unit_count; i++)
		if (ranges->items[i].start < end && ranges->items[i].end > start)
			return false;
	return true;
}

/* Code of plugins. */
static enum hg_status read_fragments(
	struct snap_runtime *runtime, struct ranges *ranges, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	uint64_t list = snap_variable(runtime, "code_fragments_by_pc");
	struct snap_list walk = {.words = SNAP_CELL_WORDS};
	const uint64_t unit_count = ranges->count;
	if (!list)
		return HG_OK;
	uint64_t data = runtime->is_5 ? l->lf_skipcell_data : l->skipcell_data;
	uint64_t forward = runtime->is_5 ? l->lf_skipcell_forward : l->skipcell_forward;
	/* The head of a lock-free list is a cell of its own, without data. */
	uint64_t cell = runtime->is_5
				? snap_word(runtime,
					  snap_word(runtime, list + l->lf_skiplist_head) + forward)
				: snap_word(runtime, list + l->skiplist_forward);
	for (; snap_list_goes_on(runtime, &walk, cell);
		cell = snap_word(runtime, cell + forward) & ~(uint64_t)1) {
		uint64_t fragment = snap_word(runtime, cell + data);
		uint64_t start = snap_word(runtime, fragment + l->code_fragment_code_start);
		uint64_t end = snap_word(runtime, fragment + l->code_fragment_code_end);
		if (!snap_spend(runtime, unit_count))
			break;
		if (fragment && is_plugin(runtime, ranges, unit_count, start, end))
			BASE_TRY(add_range(ranges, start, end, error));
	}
	return HG_OK;
}

static enum hg_status keep_ranges(struct snap_runtime *runtime, struct ranges *ranges,
	struct snap_range **out, uint64_t *count, struct hg_error *error)
{
	void *kept;
	*count = join_ranges(ranges->items, ranges->count);
	BASE_TRY(base_pool_alloc(&runtime->pool, *count, sizeof(**out), &kept, error));
	if (*count && ranges->items)
		memcpy(kept, ranges->items, *count * sizeof(**out));
	*out = kept;
	return HG_OK;
}

/* Headers of the blocks of size 0: 256 of them, black, which is 3 << 8 and the tag. */
static bool are_atoms(struct snap_runtime *runtime, uint64_t atoms)
{
	for (uint64_t tag = 0; atoms && tag < 256; tag++)
		if ((snap_word(runtime, atoms + 8 * tag) & 0xff) != tag)
			return false;
	return atoms != 0;
}

/* Without symbols it may be the address of the first value, behind its header, that code has. */
static void find_atoms(struct snap_runtime *runtime)
{
	uint64_t atoms = runtime->is_5 ? snap_variable(runtime, "atoms")
				       : snap_variable_word(runtime, "caml_atom_table");
	if (atoms && !are_atoms(runtime, atoms))
		atoms -= 8;
	if (!are_atoms(runtime, atoms))
		snap_note_line(runtime, "the blocks without fields were not found");
	else
		runtime->atoms = (struct snap_range){atoms, atoms + 257 * 8};
}

static void find_page_table(struct snap_runtime *runtime)
{
	const struct snap_layout *l = runtime->layout;
	uint64_t table = runtime->is_5 ? 0 : snap_variable(runtime, "caml_page_table");
	if (!table)
		return;
	uint64_t size = snap_word(runtime, table + l->page_table_size);
	/* A hash table: a power of two. */
	if (size == 0 || size & (size - 1) || size >> 40)
		return;
	runtime->page_table_size = size;
	runtime->page_table_entries = snap_word(runtime, table + l->page_table_entries);
}

unsigned snap_runtime_page(struct snap_runtime *runtime, uint64_t address)
{
	uint64_t page = address & ~(uint64_t)0xfff, size = runtime->page_table_size;
	if (size == 0)
		return 0;
	/* runtime/memory.c, Hash: Fibonacci hashing, then linear probing */
	unsigned shift = 64 - (unsigned)__builtin_ctzll(size);
	uint64_t slot = size == 1 ? 0 : (page >> 12) * UINT64_C(11400714819323198486) >> shift;
	for (uint64_t probes = 0; probes < MOST_PROBES; probes++, slot = (slot + 1) & (size - 1)) {
		uint64_t entry = snap_word(runtime, runtime->page_table_entries + 8 * slot);
		if (entry == 0 || (probes >= FREE_PROBES && !snap_spend(runtime, PROBE_WORDS)))
			return 0;
		if ((entry & ~(uint64_t)0xfff) == page)
			return (unsigned)(entry & 0xff);
	}
	return 0;
}

enum hg_status snap_read_ranges(struct snap_runtime *runtime, struct hg_error *error)
{
	struct ranges statics = {0}, codes = {0};
	/* The end of a data segment is the address of its last word. */
	enum hg_status status = HG_OK;
	if (!runtime->bytecode)
		status = read_segments(runtime, "caml_data_segments", 8, &statics, error);
	if (status == HG_OK && !runtime->bytecode)
		status = read_segments(runtime, "caml_code_segments", 0, &codes, error);
	if (status == HG_OK)
		status = read_fragments(runtime, &codes, error);
	if (status == HG_OK)
		status = keep_ranges(
			runtime, &statics, &runtime->statics, &runtime->static_count, error);
	if (status == HG_OK)
		status = keep_ranges(runtime, &codes, &runtime->codes, &runtime->code_count, error);
	free(statics.items);
	free(codes.items);
	find_atoms(runtime);
	find_page_table(runtime);
	return status;
}
