/*
 * One value of Marshal at a time into an array of cells, without recursion.
 */
#include "snapshot/marshal/marshal.h"

#include "base/assert.h"
#include "snapshot/marshal/item.h"

#include <stdlib.h>

/*
 * Two low bits of a handle, of a cell and of an entry of the table of objects say what it is: xx1 a
 * 31-bit integer, 00 a block (the rest is the number of its header cell; cell 0 holds the root,
 * so 0 is free to mean absent), 10 an encoded item (the rest is its offset in the data).
 */
#define ITEM_BITS 2u
#define MAX_CELLS ((UINT64_C(1) << 30) - 1)

/* A block whose fields are being read: the next one to fill, and how many are missing. */
struct frame {
	uint32_t next;
	uint32_t left;
};

struct reader {
	struct base_cursor data;
	const uint8_t *first; /* of the data */
	bool ids;
	uint32_t *cells;
	uint64_t cells_used, cells_limit;
	uint32_t *objects; /* what each is, as a handle, in the order of back references */
	uint64_t objects_used, objects_limit;
	uint64_t missing; /* fields of all blocks being read */
	struct frame *stack;
	size_t depth, capacity;
	struct hg_error *error;
};

static enum hg_status push_marshal(struct reader *r, struct frame frame)
{
	if (r->depth == r->capacity) {
		size_t capacity = r->capacity ? 2 * r->capacity : 64;
		struct frame *stack = realloc(r->stack, capacity * sizeof(*stack));
		if (!stack)
			return base_no_memory(r->error, capacity * sizeof(*stack));
		r->stack = stack;
		r->capacity = capacity;
	}
	r->stack[r->depth++] = frame;
	return HG_OK;
}

/* Gives the next object its number. */
static enum hg_status add_object(struct reader *r, uint32_t handle, uint64_t offset)
{
	if (r->objects_used == r->objects_limit)
		return base_corrupt(r->error, offset,
			"more than the %llu objects that the header of the marshalled value says",
			(unsigned long long)r->objects_limit);
	r->objects[r->objects_used++] = handle;
	return HG_OK;
}

/* A block with fields: its handle, and the frame to fill it. */
static enum hg_status open_block(struct reader *r, const struct snap_item *item, uint64_t offset,
	uint32_t *handle, struct frame *inner)
{
	BASE_TRY(snap_item_check_block(
		item, r->missing, base_cursor_left(&r->data), offset, r->error));
	if (item->count + 1 > r->cells_limit - r->cells_used)
		return base_corrupt(r->error, offset, "the value is larger than its header says");
	uint32_t size = (uint32_t)item->count;
	uint32_t position = (uint32_t)r->cells_used;
	r->cells[position] = size << 8 | item->tag;
	r->cells_used += item->count + 1;
	r->missing += item->count;
	*handle = position << ITEM_BITS;
	*inner = (struct frame){position + 1, size};
	return add_object(r, *handle, offset);
}

static enum hg_status shared(
	struct reader *r, const struct snap_item *item, uint64_t offset, uint32_t *handle)
{
	if (item->count == 0 || item->count > r->objects_used)
		return base_corrupt(r->error, offset,
			"a reference %llu objects back where there are %llu",
			(unsigned long long)item->count, (unsigned long long)r->objects_used);
	*handle = r->objects[r->objects_used - item->count];
	return HG_OK;
}

/* The handle for an item that is not SNAP_ITEM_INFIX. */
static inline enum hg_status place_marshal(struct reader *r, const struct snap_item *item,
	const uint8_t *at, uint32_t *handle, struct frame *inner)
{
	uint64_t offset = (uint64_t)(at - r->data.start);
	*handle = (uint32_t)(at - r->first) << ITEM_BITS | 2;
	switch (item->kind) {
	case SNAP_ITEM_INTEGER:
		if (item->number == snap_item_sign_extend((uint64_t)item->number, 31))
			*handle = (uint32_t)item->number << 1 | 1;
		return HG_OK;
	case SNAP_ITEM_SHARED:
		return shared(r, item, offset, handle);
	case SNAP_ITEM_BLOCK:
		/* Blocks without fields are shared atoms and not counted. */
		return item->count ? open_block(r, item, offset, handle, inner) : HG_OK;
	case SNAP_ITEM_CODE:
		return HG_OK;
	default:
		return add_object(r, *handle, offset);
	}
}

/* Fills the cells; cell 0 is treated as the one field of a block that holds the root. */
static enum hg_status read_items(struct reader *r)
{
	struct frame outer = {0, 1};
	r->missing = 1;
	for (;;) {
		const uint8_t *at = r->data.next;
		struct snap_item item;
		BASE_TRY(snap_item_read(&r->data, r->ids, &item, r->error));
		if (item.kind == SNAP_ITEM_INFIX)
			continue;
		struct frame inner = {0, 0};
		uint32_t handle;
		base_assert(r->missing > 0 && outer.left > 0);
		r->missing--;
		BASE_TRY(place_marshal(r, &item, at, &handle, &inner));
		base_assert(outer.next < r->cells_used && r->cells_used <= r->cells_limit);
		r->cells[outer.next++] = handle;
		outer.left--;
		if (inner.left) {
			if (outer.left)
				BASE_TRY(push_marshal(r, outer));
			outer = inner;
		} else if (!outer.left) {
			base_assert((r->depth == 0) == (r->missing == 0));
			if (!r->depth)
				return HG_OK;
			outer = r->stack[--r->depth];
		}
	}
}
bool snap_marshal_begins(const uint8_t *bytes, size_t size)
{
	struct base_cursor cursor = base_cursor_over(bytes, size);
	uint64_t magic;
	return base_cursor_be(&cursor, 4, &magic) && snap_item_is_magic(magic);
}

bool snap_marshal_is_cut(struct base_cursor at)
{
	return snap_item_is_cut(at);
}

enum hg_status snap_marshal_skip(struct base_cursor *cursor, struct hg_error *error)
{
	struct base_cursor c = *cursor;
	struct snap_item_header h;
	BASE_TRY(snap_item_read_header(&c, &h, error));
	base_cursor_skip(&c, h.data);
	*cursor = c;
	return HG_OK;
}

bool snap_marshal_first_double(struct base_cursor at, double *out)
{
	struct snap_item_header h;
	struct snap_item item;
	struct snap_marshal m = {0};
	if (snap_item_read_header(&at, &h, NULL) != HG_OK)
		return false;
	m.data = (struct base_cursor){at.start, at.next, at.next + h.data};
	m.ids = h.ids;
	if (snap_item_read(&at, m.ids, &item, NULL) != HG_OK || item.kind != SNAP_ITEM_BLOCK ||
		!item.count)
		return false;
	const uint32_t offset = (uint32_t)(at.next - m.data.next);
	return snap_marshal_double(&m, (struct snap_value){offset << ITEM_BITS | 2}, 0, out);
}

/* Room for what the header promises; larger values are refused when they come to light. */
static enum hg_status prepare(
	struct reader *r, const struct snap_item_header *h, struct base_pool *pool)
{
	/*
	 * The header tells the words of all objects, which OCaml's own reader allocates and trusts,
	 * and blocks are a part of them.  A byte makes at most two cells, a field and a header.
	 */
	uint64_t cells = h->words64 < 2 * h->data ? h->words64 : 2 * h->data;
	void *memory;
	if (cells > MAX_CELLS - 1)
		return base_fail(r->error, HG_ERROR_LIMIT, base_cursor_offset(&r->data),
			"a marshalled value of %llu words is too large", (unsigned long long)cells);
	BASE_TRY(base_pool_alloc(pool, cells + 1, sizeof(uint32_t), &memory, r->error));
	r->cells = memory;
	r->cells_used = 1;
	r->cells_limit = cells + 1;
	r->objects_limit = h->objects;
	if (h->objects) {
		r->objects = malloc(h->objects * sizeof(uint32_t));
		if (!r->objects)
			return base_no_memory(r->error, h->objects * sizeof(uint32_t));
	}
	return HG_OK;
}

static enum hg_status read_all(
	struct reader *r, const struct snap_item_header *h, uint64_t offset, struct base_pool *pool)
{
	BASE_TRY(prepare(r, h, pool));
	BASE_TRY(read_items(r));
	if (base_cursor_left(&r->data))
		return base_corrupt(r->error, base_cursor_offset(&r->data),
			"%zu bytes are left over behind a marshalled value",
			base_cursor_left(&r->data));
	if (r->objects_used != h->objects)
		return base_corrupt(r->error, offset + 8,
			"the header says %llu objects, %llu are there",
			(unsigned long long)h->objects, (unsigned long long)r->objects_used);
	return HG_OK;
}

enum hg_status snap_marshal_read(struct base_cursor *cursor, struct base_pool *pool,
	struct snap_marshal *out, struct hg_error *error)
{
	uint64_t offset = base_cursor_offset(cursor);
	struct base_cursor c = *cursor;
	struct snap_item_header h;
	BASE_TRY(snap_item_read_header(&c, &h, error));
	struct reader r = {
		.data = {c.start, c.next, c.next + h.data},
		.first = c.next,
		.ids = h.ids,
		.error = error,
	};
	enum hg_status status = read_all(&r, &h, offset, pool);
	free(r.objects);
	free(r.stack);
	if (status != HG_OK)
		return status;
	*out = (struct snap_marshal){
		.root = {r.cells[0]},
		.objects = (uint32_t)h.objects,
		.offset = offset,
		.cells = r.cells,
		.cell_count = r.cells_used,
		.data = {c.start, r.first, r.data.end},
		.ids = r.ids,
	};
	base_cursor_skip(&c, h.data);
	*cursor = c;
	return HG_OK;
}

/* Decodes again what stayed in the file. */
static bool item_of(const struct snap_marshal *m, struct snap_value value, struct snap_item *out)
{
	struct base_cursor c = m->data;
	return (value.bits & 3) == 2 && base_cursor_skip(&c, value.bits >> ITEM_BITS) &&
	       snap_item_read(&c, m->ids, out, NULL) == HG_OK;
}

bool snap_marshal_encoded_int(const struct snap_marshal *m, struct snap_value value, int64_t *out)
{
	struct snap_item item;
	if (!item_of(m, value, &item) || item.kind != SNAP_ITEM_INTEGER)
		return false;
	*out = item.number;
	return true;
}

int snap_marshal_encoded_tag(const struct snap_marshal *m, struct snap_value value)
{
	struct snap_item item;
	if (!item_of(m, value, &item) || item.kind == SNAP_ITEM_INTEGER ||
		item.kind == SNAP_ITEM_CODE)
		return -1;
	return item.tag;
}

uint32_t snap_marshal_encoded_size(const struct snap_marshal *m, struct snap_value value)
{
	struct snap_item item;
	return item_of(m, value, &item) && item.kind == SNAP_ITEM_DOUBLES ? (uint32_t)item.count
									  : 0;
}

bool snap_marshal_string(const struct snap_marshal *m, struct snap_value value,
	const uint8_t **bytes, uint32_t *length)
{
	struct snap_item item;
	if (!item_of(m, value, &item) || item.kind != SNAP_ITEM_STRING)
		return false;
	*bytes = item.bytes;
	*length = (uint32_t)item.count;
	return true;
}

bool snap_marshal_double(
	const struct snap_marshal *m, struct snap_value value, uint32_t index, double *out)
{
	struct snap_item item;
	if (!item_of(m, value, &item) || item.kind != SNAP_ITEM_DOUBLES || index >= item.count)
		return false;
	uint64_t raw = base_load_u64le(item.bytes + 8 * (size_t)index);
	if (!item.little)
		raw = __builtin_bswap64(raw);
	memcpy(out, &raw, sizeof(raw));
	return true;
}

bool snap_marshal_custom(
	const struct snap_marshal *m, struct snap_value value, char *kind, int64_t *out)
{
	struct snap_item item;
	if (!item_of(m, value, &item) || item.kind != SNAP_ITEM_CUSTOM)
		return false;
	*kind = item.custom;
	*out = item.number;
	return true;
}
