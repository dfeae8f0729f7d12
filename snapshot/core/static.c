/*
 * Blocks in the data of the program and of its plugins.  They lie between other data, so that they
 * cannot be listed; those that pointers lead to are found, and those that they lead to, and so on.
 * The header of a static block has the color black, which is "not markable" in 5.x.
 */
#include "snapshot/core/static.h"

#include "base/search.h"
#include "snapshot/walk.h"

#include <stdlib.h>

/* The end of the static data that an address lies in; 0 if it lies in none. */
static uint64_t static_end(struct elfcore *core, uint64_t address)
{
	struct snap_runtime *runtime = &core->runtime;
	uint64_t i = BASE_FIRST_ABOVE(runtime->statics, runtime->static_count, end, address);
	if (i < runtime->static_count && runtime->statics[i].start <= address)
		return runtime->statics[i].end;
	/* Plugins are not in the program's list; 4.x knows them by its table of pages, and 5.x has
	 * no pointers out of its heap that lead to anything but blocks. */
	const struct snap_piece *piece = snap_image_piece(&core->image, address);
	bool is_plugin = piece && !snap_runtime_is_code(runtime, address) &&
			 (runtime->is_5 || snap_runtime_page(runtime, address) & SNAP_PAGE_STATIC);
	return is_plugin ? piece->end : 0;
}

static bool is_static_atom(const struct elfcore *core, struct snap_header_address header)
{
	const struct snap_range *atoms = &core->runtime.atoms;
	return header.a - atoms->start < atoms->end - atoms->start;
}

/* Whether a static block begins at an address; an infix header leads to its closure. */
static bool find_static_block(
	struct elfcore *core, struct snap_header_address *address, uint64_t *wosize)
{
	uint64_t header, end;
	unsigned reserved = core->snap->reserved;
	for (unsigned i = 0; i < 2; i++) {
		if (is_static_atom(core, *address) ||
			!snap_image_u64(&core->image, address->a, &header))
			return false;
		*wosize = snap_header_wosize(header, reserved);
		if (snap_header_tag(header) != SNAP_TAG_INFIX)
			break;
		if (*wosize >= address->a / 8)
			return false;
		address->a -= 8 * *wosize;
	}
	if (*wosize == 0 || address->a < SNAP_ADDRESS_FIRST ||
		snap_header_color(header) != SNAP_COLOR_BLACK ||
		snap_header_tag(header) == SNAP_TAG_INFIX)
		return false;
	end = static_end(core, address->a);
	if (end <= address->a || *wosize >= (end - address->a) / 8)
		return false;
	uint64_t bytes =
		snap_tag_has_fields(snap_header_tag(header)) ? snap_block_bytes(*wosize) : 8;
	return snap_image_present(&core->image, address->a, bytes) == bytes;
}

enum hg_status elfcore_meet(struct elfcore *core, uint64_t value, struct hg_error *error)
{
	struct snap_header_address header = snap_pointed_header(value);
	uint64_t wosize;
	bool added;
	if (!elfcore_leads_out(core, value) || !find_static_block(core, &header, &wosize))
		return HG_OK;
	BASE_TRY(base_map_note(&core->static_seen, header.a, &added, error));
	return added ? elfcore_append(&core->statics, header.a, error) : HG_OK;
}

/* '*left' are the bytes that may still be looked at. */
static enum hg_status meet_static_fields(struct elfcore *core, struct snap_header_address address,
	uint64_t *left, struct hg_error *error)
{
	uint64_t header, info, value, first = 0;
	if (!snap_image_u64(&core->image, address.a, &header))
		return HG_OK;
	uint64_t wosize = snap_header_wosize(header, core->snap->reserved);
	if (snap_header_tag(header) == SNAP_TAG_CLOSURE && wosize >= 2 &&
		snap_image_u64(&core->image, snap_field_address(address, 1), &info))
		first = info << 8 >> 9;
	if (!snap_tag_has_fields(snap_header_tag(header)))
		return HG_OK;
	*left -= 8 * wosize < *left ? 8 * wosize : *left;
	for (uint64_t j = first; j < wosize; j++)
		if (snap_image_u64(&core->image, snap_field_address(address, j), &value))
			BASE_TRY(elfcore_meet(core, value, error));
	return HG_OK;
}

static int headers_by_address(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

struct static_walk {
	struct elfcore *core;
	struct snap_adder adder;
	uint64_t end;         /* of the last block added */
	uint64_t chunk_start; /* of blocks side by side; 0 none */
	struct hg_error *error;
};

static enum hg_status end_static_chunk(struct static_walk *w)
{
	struct snap *snap = w->core->snap;
	if (w->chunk_start == 0)
		return HG_OK;
	struct snap_index_entry *last = &snap->entries[snap->entry_count - 1];
	if (!(last->offset & ELFCORE_COPY))
		last->offset = w->end;
	snap_adder_end(&w->adder);
	enum hg_status status = snap_add_chunk(
		snap, w->chunk_start, w->end, HG_SEGMENT_STATIC, HG_NO_OFFSET, w->error);
	w->chunk_start = 0;
	return status;
}

/* A block that lies in two pieces of the image is copied, as far as it has fields. */
static enum hg_status find_static_words(struct elfcore *core, struct snap_header_address address,
	uint64_t header, uint64_t *offset, struct hg_error *error)
{
	struct elfcore_list *copies = &core->copies;
	uint64_t wosize = snap_header_wosize(header, core->snap->reserved), *words;
	uint64_t fields = snap_tag_has_fields(snap_header_tag(header)) ? wosize : 0;
	size_t got;
	snap_image_at(&core->image, address.a, snap_block_bytes(wosize), &got);
	*offset = 0;
	if (got == snap_block_bytes(wosize))
		return HG_OK;
	BASE_TRY(base_grow_by(&copies->items, copies->count, fields + 1, &copies->capacity,
		sizeof(*copies->items), error));
	words = copies->items + copies->count;
	words[0] = header;
	(void)snap_image_read(&core->image, snap_field_address(address, 0), words + 1, 8 * fields);
	*offset = ELFCORE_COPY | copies->count;
	copies->count += fields + 1;
	return HG_OK;
}

/* Damage can make a header of what is none, from which a block would reach into the heap. */
static bool reaches_heap(const struct snap_runtime *runtime, uint64_t start, uint64_t end)
{
	uint64_t i = BASE_FIRST_ABOVE(runtime->areas, runtime->area_count, end, start);
	return i < runtime->area_count && runtime->areas[i].start < end;
}

static enum hg_status add_static_block(struct static_walk *w, struct snap_header_address address)
{
	struct snap *snap = w->core->snap;
	uint64_t header = 0, offset;
	snap_image_u64(&w->core->image, address.a, &header);
	uint64_t wosize = snap_header_wosize(header, snap->reserved);
	unsigned tag = snap_header_tag(header);
	/* A conservative root may have led into the middle of a block, and the file may change. */
	uint64_t end = snap_field_address(address, wosize);
	if (wosize == 0 || address.a < w->end || reaches_heap(&w->core->runtime, address.a, end))
		return HG_OK;
	BASE_TRY(find_static_words(w->core, address, header, &offset, w->error));
	bool apart = address.a != w->end || offset || snap->entry_count == 0 ||
		     snap->entries[snap->entry_count - 1].offset & ELFCORE_COPY;
	if (apart || w->adder.room == 0)
		BASE_TRY(end_static_chunk(w));
	BASE_TRY(snap_adder_block(&w->adder, address, offset, wosize, tag, w->error));
	if (w->chunk_start == 0)
		w->chunk_start = address.a;
	w->end = end;
	snap->static_count++;
	return HG_OK;
}

enum hg_status elfcore_load_static(struct elfcore *core, struct hg_error *error)
{
	struct elfcore_list *statics = &core->statics;
	struct static_walk w = {
		.core = core, .adder = snap_adder_start(core->snap), .error = error};
	/* Blocks do not overlap; what damage makes of their headers may, again and again. */
	uint64_t left = snap_image_bytes(&core->image);
	for (uint64_t i = 0; i < statics->count && left; i++)
		BASE_TRY(meet_static_fields(
			core, (struct snap_header_address){statics->items[i]}, &left, error));
	if (statics->count)
		qsort(statics->items, statics->count, sizeof(*statics->items), headers_by_address);
	for (uint64_t i = 0; i < statics->count; i++)
		BASE_TRY(add_static_block(&w, (struct snap_header_address){statics->items[i]}));
	return end_static_chunk(&w);
}
