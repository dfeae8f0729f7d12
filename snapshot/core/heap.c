/* The blocks of the heap of a core, area by area in order of addresses. */
#include "snapshot/core/heap.h"

#include "base/cursor.h"
#include "snapshot/core/static.h"
#include "snapshot/walk.h"

#include <stdlib.h>
#include <string.h>

/*
 * After damage the next block is looked for up to the end of the chunk: the header of a block of
 * any size, cut off a free one, may not be written yet, and captures stop there, as that is the
 * first write to a page.  How many blocks side by side are no accident; and how many steps all of
 * that may take.
 */
enum { RESYNC_BLOCKS = 1024, RESYNC_STEPS = 1 << 24 };

/* Number of the leaf of granules that are all of the heap. */
enum { FULL_LEAF = 1 };

/* Mappings begin and end on pages. */
enum { PAGE_BYTES = 4096 };

struct heap_walk {
	struct elfcore *core;
	struct snap *snap;
	struct hg_error *error;
	struct snap_adder adder;
	uint64_t entry_end;   /* after its last block */
	uint64_t piece_end;   /* of the piece of the image that the index entry lies in */
	const uint8_t *bytes; /* of [from, end) */
	uint64_t from, end;
	uint64_t moved; /* next of snap->forwards by 'to' that may lie ahead */
	unsigned dead_colors;
	uint32_t stride;       /* words */
	uint64_t resync_steps; /* so far */
	bool taken;            /* the block just met is one of the snapshot */
};

static uint64_t block_bytes(const struct heap_walk *w, uint64_t header)
{
	return snap_block_bytes(snap_header_wosize(header, w->snap->reserved));
}

/* The bytes at an address, of the core and not of a file; false if not even a word is there. */
static bool look_at_word(struct heap_walk *w, uint64_t address)
{
	if (w->bytes && address >= w->from && address + 8 <= w->end)
		return true;
	const struct snap_piece *piece = snap_image_piece(&w->core->image, address);
	w->from = w->end = address;
	if (!piece || piece->file != SNAP_NO_FILE)
		return false;
	w->bytes = piece->bytes + (address - piece->address);
	w->end = piece->end;
	return w->end - address >= 8;
}

static uint64_t load_word(const struct heap_walk *w, uint64_t address)
{
	return base_load_u64le(w->bytes + (address - w->from));
}

static void end_entry(struct heap_walk *w)
{
	struct snap *snap = w->snap;
	if (snap->entry_count) {
		struct snap_index_entry *last = &snap->entries[snap->entry_count - 1];
		if (!(last->offset & ELFCORE_COPY))
			last->offset = w->entry_end;
	}
	snap_adder_end(&w->adder);
}

static enum hg_status add_heap_block(
	struct heap_walk *w, struct snap_header_address address, uint64_t header, uint64_t offset)
{
	/* The index entry before has its end before another one begins; each lies in one piece. */
	if (w->adder.room == 0 || address.a >= w->piece_end) {
		end_entry(w);
		w->piece_end = w->end;
	}
	enum hg_status status = snap_adder_block(&w->adder, address, offset,
		snap_header_wosize(header, w->snap->reserved), snap_header_tag(header), w->error);
	w->taken = true;
	w->entry_end = address.a + (w->stride ? 8 * (uint64_t)w->stride : block_bytes(w, header));
	return status;
}

/* Notes what a block leads to besides the heap; its words are at 'fields'. */
static enum hg_status meet_heap_fields(
	struct heap_walk *w, const struct snap_cell *cell, const uint8_t *fields)
{
	uint64_t first = 0;
	if (cell->tag == SNAP_TAG_CLOSURE && cell->wosize >= 2) {
		uint64_t start = base_load_u64le(fields + 8) << 8 >> 9;
		first = start < cell->wosize ? start : cell->wosize;
	}
	for (uint64_t j = first; j < cell->wosize; j++) {
		uint64_t value = base_load_u64le(fields + 8 * j);
		if (elfcore_leads_out(w->core, value))
			BASE_TRY(elfcore_meet(w->core, value, w->error));
	}
	return HG_OK;
}

static enum hg_status meet_heap_block(struct heap_walk *w, struct snap_header_address address,
	uint64_t header, const uint8_t *fields)
{
	struct snap_cell cell = {.address = address,
		.wosize = snap_header_wosize(header, w->snap->reserved),
		.tag = snap_header_tag(header)};
	if (snap_tag_has_fields(cell.tag))
		BASE_TRY(meet_heap_fields(w, &cell, fields));
	if (cell.tag == SNAP_TAG_CUSTOM)
		return elfcore_append(&w->core->customs, address.a, w->error);
	if (cell.tag == SNAP_TAG_CONT && w->core->runtime.is_5)
		return elfcore_append(&w->core->continuations, address.a, w->error);
	return HG_OK;
}

/*
 * A block whose words are not all where it is: [header][fields] are copied and patched.  A block
 * that was being promoted has its first field; the others are still those of the place it left, or
 * are the same there (runtime/minor_gc.c, oldify).  It is not taken if some are nowhere.
 */
static enum hg_status add_copy(struct heap_walk *w, struct snap_header_address address,
	uint64_t header, struct snap_header_address left)
{
	struct elfcore_list *copies = &w->core->copies;
	const struct snap_image *image = &w->core->image;
	uint64_t at = copies->count, wosize = snap_header_wosize(header, w->snap->reserved);
	uint64_t fields = snap_tag_has_fields(snap_header_tag(header)) ? wosize : 0;
	uint64_t here = left.a && fields > 1 ? 1 : fields, there = fields - here;
	uint64_t from = snap_field_address(address, 0), rest = snap_field_address(left, 1);
	if (snap_image_present(image, address.a, snap_block_bytes(here)) < snap_block_bytes(here) ||
		snap_image_present(image, rest, 8 * there) < 8 * there)
		return HG_OK;
	BASE_TRY(base_grow_by(&copies->items, at, fields + 1, &copies->capacity,
		sizeof(*copies->items), w->error));
	copies->count += fields + 1;
	/* The header is not read again: walks believe it, and the file may change. */
	copies->items[at] = header;
	(void)snap_image_read(image, from, copies->items + at + 1, 8 * here);
	(void)snap_image_read(image, rest, copies->items + at + 1 + here, 8 * there);
	end_entry(w);
	BASE_TRY(add_heap_block(w, address, header, ELFCORE_COPY | at));
	snap_adder_end(&w->adder);
	return meet_heap_block(w, address, header, (const uint8_t *)(copies->items + at + 1));
}

/* Where the block at an address was promoted from just now; 0 if it was not. */
static struct snap_header_address place_left(
	struct heap_walk *w, struct snap_header_address address)
{
	const struct snap *snap = w->snap;
	while (w->moved < snap->forward_count && snap->forwards[w->moved].to.a < address.a)
		w->moved++;
	bool found = w->moved < snap->forward_count && snap->forwards[w->moved].to.a == address.a;
	return found ? snap->forwards[w->moved].from : (struct snap_header_address){0};
}

/* A live block that lies within its area. */
static enum hg_status take_heap_block(
	struct heap_walk *w, struct snap_header_address address, uint64_t header)
{
	struct snap_header_address left = {0};
	if (w->snap->forward_count)
		left = place_left(w, address);
	bool whole = address.a + block_bytes(w, header) <= w->end;
	if (left.a || !whole)
		return add_copy(w, address, header, left);
	BASE_TRY(add_heap_block(w, address, header, 0));
	return meet_heap_block(
		w, address, header, w->bytes + (snap_field_address(address, 0) - w->from));
}

/* The same for the major heap, with 'more' words that Gc.stat counts. */
static enum hg_status take_live(
	struct heap_walk *w, struct snap_header_address address, uint64_t header, unsigned more)
{
	uint64_t words = block_bytes(w, header) / 8 + more;
	w->taken = false;
	BASE_TRY(take_heap_block(w, address, header));
	if (w->taken) {
		w->snap->live_blocks++;
		w->snap->live_words += words;
	} else {
		w->snap->accounts.damaged += 8 * words;
	}
	return HG_OK;
}

static bool is_dead_block(const struct heap_walk *w, uint64_t header)
{
	return w->dead_colors >> snap_header_color(header) & 1;
}

/* Whether blocks side by side lead from an address exactly to the end, or are very many. */
static bool leads_on(struct heap_walk *w, uint64_t address, uint64_t end)
{
	unsigned blocks = 0;
	while (address < end) {
		if (!look_at_word(w, address) || w->resync_steps++ >= RESYNC_STEPS)
			return false;
		uint64_t header = load_word(w, address), bytes = block_bytes(w, header);
		if (header == 0 && w->snap->forward_count)
			return true;
		if (bytes > end - address)
			return false;
		blocks += bytes > 8;
		if (blocks == RESYNC_BLOCKS)
			return true;
		address += bytes;
	}
	return true;
}

/* The next place from which blocks lead on, after one that does not. */
static uint64_t resync(struct heap_walk *w, uint64_t address, uint64_t end)
{
	for (address += 8; address < end && w->resync_steps < RESYNC_STEPS; address += 8)
		if (leads_on(w, address, end))
			return address;
	return end;
}

/* Chunks of 4.x: live, free and too small blocks side by side. */
static enum hg_status walk_chunk(struct heap_walk *w, const struct snap_area *area)
{
	struct snap_accounts *accounts = &w->snap->accounts;
	for (uint64_t address = area->start; address < area->end;) {
		uint64_t header = look_at_word(w, address) ? load_word(w, address) : 0;
		uint64_t bytes = block_bytes(w, header);
		if (bytes > area->end - address || !look_at_word(w, address)) {
			end_entry(w);
			uint64_t next = resync(w, address, area->end);
			accounts->damaged += next - address;
			address = next;
			continue;
		}
		if (bytes == 8) {
			accounts->fragments += 8;
		} else if (is_dead_block(w, header)) {
			accounts->free += bytes;
			accounts->free_blocks++;
		} else {
			BASE_TRY(take_live(w, (struct snap_header_address){address}, header, 0));
		}
		address += bytes;
	}
	return HG_OK;
}

/* Of 'left' slots those that hold nothing, from one with this header on; 0: it does not say so. */
static uint64_t free_slots(const struct heap_walk *w, uint64_t header, uint64_t left)
{
	uint64_t counted = snap_header_wosize(header, w->snap->reserved);
	if (w->core->runtime.layout->counted_free_slots != 1)
		return counted == 0;
	return snap_is_free_slots(header) && counted < left ? 1 + counted : 0;
}

static enum hg_status walk_pool(struct heap_walk *w, const struct snap_area *area)
{
	struct snap_accounts *accounts = &w->snap->accounts;
	uint64_t slot = 8 * (uint64_t)area->slot_words, used = 0, slots = 1;
	w->stride = area->slot_words;
	for (uint64_t address = area->start; address < area->end; address += slots * slot) {
		uint64_t header = look_at_word(w, address) ? load_word(w, address) : 0;
		uint64_t bytes = block_bytes(w, header);
		slots = free_slots(w, header, (area->end - address) / slot);
		if (slots) {
			accounts->free += slots * slot;
			used += slots * slot;
			continue;
		}
		slots = 1;
		/* Also a dead one: a walk would take it for the end of the pool. */
		if (bytes > slot || bytes == 8) {
			end_entry(w);
			accounts->damaged += slot;
			used += slot;
			continue;
		}
		accounts->pool_blocks++;
		accounts->pool_words += bytes / 8;
		if (is_dead_block(w, header)) {
			accounts->free += slot;
			accounts->free_blocks++;
			used += slot;
			continue;
		}
		used += bytes;
		BASE_TRY(take_live(w, (struct snap_header_address){address}, header, 0));
	}
	accounts->fragments += SNAP_POOL_BYTES - used;
	end_entry(w);
	w->stride = 0;
	return HG_OK;
}

static enum hg_status walk_large(struct heap_walk *w, const struct snap_area *area)
{
	struct snap_accounts *accounts = &w->snap->accounts;
	uint64_t header = look_at_word(w, area->start) ? load_word(w, area->start) : 0;
	uint64_t bytes = block_bytes(w, header);
	if (bytes > area->end - area->start || bytes == 8) {
		accounts->damaged += area->end - area->start + 16;
		return HG_OK;
	}
	accounts->all_large_blocks++;
	accounts->all_large_words += bytes / 8 + 2;
	if (is_dead_block(w, header)) {
		accounts->free += bytes + 16;
		accounts->free_blocks++;
		return HG_OK;
	}
	/* Gc.stat of 5.x counts the two words in front of a large block as its own. */
	BASE_TRY(take_live(w, (struct snap_header_address){area->start}, header, 2));
	accounts->large_blocks += w->taken;
	return HG_OK;
}

/* How many bytes a promoted block takes where it was: the header there is gone. */
static uint64_t forwarded_bytes(
	struct heap_walk *w, struct snap_header_address left, struct snap_header_address *to)
{
	uint64_t header;
	*to = (struct snap_header_address){0};
	if (snap_field_address(left, 1) <= w->end)
		*to = snap_pointed_header(load_word(w, snap_field_address(left, 0)));
	if (to->a % 8 || !snap_runtime_area(&w->core->runtime, to->a) ||
		!snap_image_u64(&w->core->image, to->a, &header))
		return 0;
	return block_bytes(w, header);
}

static enum hg_status add_forward(
	struct heap_walk *w, struct snap_header_address from, struct snap_header_address to)
{
	struct snap *snap = w->snap;
	BASE_TRY(base_grow(&snap->forwards, snap->forward_count, &snap->forward_capacity,
		sizeof(*snap->forwards), w->error));
	snap->forwards[snap->forward_count++] = (struct snap_forward){from, to};
	return snap_granules_add(&snap->granules, from.a, from.a, w->error);
}

/* Blocks that are still in a minor heap; those that have left it are passed over. */
static enum hg_status walk_minor(struct heap_walk *w, const struct snap_area *area)
{
	uint64_t address = area->start;
	struct snap_header_address to;
	if (!leads_on(w, address, area->end))
		address = resync(w, address, area->end);
	while (address < area->end) {
		uint64_t header = look_at_word(w, address) ? load_word(w, address) : 0;
		struct snap_header_address at = {address};
		uint64_t bytes = header ? block_bytes(w, header) : forwarded_bytes(w, at, &to);
		if (bytes == 0 || bytes > area->end - address) {
			end_entry(w);
			address = resync(w, address, area->end);
			continue;
		}
		if (header && bytes > 8)
			BASE_TRY(take_heap_block(w, at, header));
		else
			end_entry(w);
		address += bytes;
	}
	return HG_OK;
}

/* First of all: what minor collections that were going on had moved. */
static enum hg_status find_forwards(struct heap_walk *w, const struct snap_area *area)
{
	struct snap_header_address to;
	for (uint64_t address = area->start; address < area->end && look_at_word(w, address);) {
		uint64_t header = load_word(w, address);
		struct snap_header_address at = {address};
		uint64_t bytes = header ? block_bytes(w, header) : forwarded_bytes(w, at, &to);
		if (bytes == 0 || bytes > area->end - address)
			return HG_OK;
		if (header == 0)
			BASE_TRY(add_forward(w, at, to));
		address += bytes;
	}
	return HG_OK;
}

static int forwards_by_to(const void *a, const void *b)
{
	const struct snap_forward *x = a, *y = b;
	if (x->to.a != y->to.a)
		return x->to.a < y->to.a ? -1 : 1;
	/* The block itself before the functions inside it. */
	return (x->from.a > y->from.a) - (x->from.a < y->from.a);
}

static int forwards_by_from(const void *a, const void *b)
{
	const struct snap_forward *x = a, *y = b;
	return (x->from.a > y->from.a) - (x->from.a < y->from.a);
}

/* Functions inside closures that have moved: pointers to them lead to the new block. */
static enum hg_status add_infix_forwards(struct heap_walk *w)
{
	struct snap *snap = w->snap;
	const struct snap_image *image = &w->core->image;
	uint64_t count = snap->forward_count, header, word;
	for (uint64_t i = 0; i < count; i++) {
		struct snap_forward f = snap->forwards[i];
		if (!snap_image_u64(image, f.to.a, &header) ||
			snap_header_tag(header) != SNAP_TAG_CLOSURE)
			continue;
		uint64_t wosize = snap_header_wosize(header, snap->reserved);
		for (uint64_t j = 1; j < wosize; j++) {
			struct snap_header_address infix = {snap_field_address(f.from, j)};
			if (snap_image_u64(image, infix.a, &word) &&
				snap_is_infix_header(word, j, snap->reserved))
				BASE_TRY(add_forward(w, infix, f.to));
		}
	}
	return HG_OK;
}

static enum hg_status walk_area(struct heap_walk *w, const struct snap_area *area)
{
	struct snap_accounts *accounts = &w->snap->accounts;
	w->from = w->end = 0;
	w->dead_colors = snap_dead_colors(&w->core->runtime, area->kind);
	enum hg_status status = HG_OK;
	switch (area->kind) {
	case SNAP_AREA_CHUNK:
		accounts->heap += area->end - area->start;
		status = walk_chunk(w, area);
		break;
	case SNAP_AREA_POOL:
		accounts->heap += SNAP_POOL_BYTES;
		status = walk_pool(w, area);
		break;
	case SNAP_AREA_LARGE:
		accounts->heap += area->end - area->start + 16;
		status = walk_large(w, area);
		break;
	default:
		accounts->minor += area->end - area->start;
		status = walk_minor(w, area);
	}
	end_entry(w);
	return status;
}

static enum hg_status add_chunks(struct elfcore *core, struct hg_error *error)
{
	const struct snap_runtime *runtime = &core->runtime;
	for (uint64_t i = 0; i < runtime->area_count; i++) {
		const struct snap_area *area = &runtime->areas[i];
		if (area->start < area->end)
			BASE_TRY(snap_add_chunk(core->snap, area->start, area->end,
				area->kind == SNAP_AREA_MINOR ? HG_SEGMENT_MINOR : HG_SEGMENT_HEAP,
				HG_NO_OFFSET, error));
	}
	return HG_OK;
}

/* Most pointers lead into the heap: a byte for each of its granules tells. */
static enum hg_status mark_granule(
	struct elfcore *core, uint64_t granule, uint8_t mark, struct hg_error *error)
{
	uint32_t *top = &core->granule_top[granule >> SNAP_LEAF_SHIFT];
	if (*top == FULL_LEAF)
		return HG_OK;
	if (*top == 0) {
		uint64_t bytes = (uint64_t)1 << SNAP_LEAF_SHIFT;
		BASE_TRY(base_grow_by(&core->granules, core->granule_count, bytes,
			&core->granule_capacity, 1, error));
		memset(core->granules + core->granule_count, 0, bytes);
		*top = (uint32_t)(core->granule_count >> SNAP_LEAF_SHIFT);
		core->granule_count += bytes;
	}
	core->granules[((uint64_t)*top << SNAP_LEAF_SHIFT) +
		       (granule & ((1 << SNAP_LEAF_SHIFT) - 1))] = mark;
	return HG_OK;
}

/* The granules that the heap fills between two addresses, and the two that it may share. */
static enum hg_status mark_range(
	struct elfcore *core, uint64_t start, uint64_t end, struct hg_error *error)
{
	uint64_t leaf = (uint64_t)1 << SNAP_LEAF_SHIFT, last = end >> SNAP_GRANULE_SHIFT;
	uint64_t granule = start >> SNAP_GRANULE_SHIFT;
	while (granule << SNAP_GRANULE_SHIFT < end) {
		if (granule % leaf == 0 && granule + leaf <= last) {
			core->granule_top[granule >> SNAP_LEAF_SHIFT] = FULL_LEAF;
			granule += leaf;
			continue;
		}
		bool is_filled = start <= granule << SNAP_GRANULE_SHIFT && granule < last;
		BASE_TRY(mark_granule(core, granule++,
			is_filled ? ELFCORE_GRANULE_HEAP : ELFCORE_GRANULE_SHARED, error));
	}
	return HG_OK;
}

static enum hg_status mark_granules(struct elfcore *core, struct hg_error *error)
{
	const struct snap_runtime *runtime = &core->runtime;
	uint64_t leaf = (uint64_t)1 << SNAP_LEAF_SHIFT, start = 0, end = 0;
	core->granule_top = calloc(SNAP_TOP_ENTRIES, sizeof(*core->granule_top));
	if (!core->granule_top)
		return base_no_memory(error, SNAP_TOP_ENTRIES * sizeof(*core->granule_top));
	/* The first leaf stands for all that do not exist, the second for those without a gap. */
	BASE_TRY(base_grow_by(&core->granules, 0, 2 * leaf, &core->granule_capacity, 1, error));
	memset(core->granules, ELFCORE_GRANULE_OUT, leaf);
	memset(core->granules + FULL_LEAF * leaf, ELFCORE_GRANULE_HEAP, leaf);
	core->granule_count = 2 * leaf;
	/* A page is the heap's alone, but a plugin's data may begin in the next one. */
	for (uint64_t i = 0; i < runtime->area_count; i++) {
		const struct snap_area *area = &runtime->areas[i];
		if (area->start >= end + PAGE_BYTES) {
			BASE_TRY(mark_range(core, start, end, error));
			start = area->start & ~(uint64_t)(PAGE_BYTES - 1);
		}
		end = (area->end + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
	}
	return mark_range(core, start, end, error);
}

enum hg_status elfcore_load_heap(struct elfcore *core, struct hg_error *error)
{
	const struct snap_runtime *runtime = &core->runtime;
	struct snap *snap = core->snap;
	struct heap_walk w = {
		.core = core, .snap = snap, .error = error, .adder = snap_adder_start(snap)};
	snap->accounts = (struct snap_accounts){0};
	snap->live_blocks = snap->live_words = 0;
	BASE_TRY(add_chunks(core, error));
	BASE_TRY(mark_granules(core, error));
	for (uint64_t i = 0; i < runtime->area_count; i++)
		if (runtime->areas[i].kind == SNAP_AREA_MINOR)
			BASE_TRY(find_forwards(&w, &runtime->areas[i]));
	BASE_TRY(add_infix_forwards(&w));
	if (snap->forward_count)
		qsort(snap->forwards, snap->forward_count, sizeof(*snap->forwards), forwards_by_to);
	for (uint64_t i = 0; i < runtime->area_count; i++) {
		BASE_TRY(base_progress(snap->session, "reading blocks", i, runtime->area_count));
		BASE_TRY(walk_area(&w, &runtime->areas[i]));
	}
	if (snap->forward_count)
		qsort(snap->forwards, snap->forward_count, sizeof(*snap->forwards),
			forwards_by_from);
	return HG_OK;
}
