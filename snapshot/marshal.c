/*
 * One value of Marshal at a time into an array of cells, without recursion.  Facts:
 * runtime/intern.c, byterun/intern.c of the memprof compilers.
 */
#include "snapshot/marshal.h"

#include "base/assert.h"

#include <stdlib.h>

/*
 * Two low bits of a handle, of a cell and of an entry of the table of objects say what it is: xx1 a
 * 31-bit integer, 00 a block (the rest is the number of its header cell; cell 0 holds the root,
 * so 0 is free to mean absent), 10 an encoded item (the rest is its offset in the data).
 */
#define ITEM_BITS 2u
#define MAX_DATA ((UINT64_C(1) << 30) - 1)
#define MAX_CELLS ((UINT64_C(1) << 30) - 1)
#define MAX_FIELDS ((UINT64_C(1) << 24) - 2)

#define MAGIC_STANDARD 0x8495A6BEu
#define MAGIC_IDS_01 0x00000042u
#define MAGIC_IDS_02 0x8495A6BFu /* and of big headers, where 0 follows: no value has 0 bytes */
#define HEADER_BYTES 20u
#define ID_BYTES 3u

/* What extern.c calls CODE_*. */
enum {
	CODE_INT8,
	CODE_INT16,
	CODE_INT32,
	CODE_INT64,
	CODE_SHARED8,
	CODE_SHARED16,
	CODE_SHARED32,
	CODE_DOUBLES32_LITTLE,
	CODE_BLOCK32,
	CODE_STRING8,
	CODE_STRING32,
	CODE_DOUBLE_BIG,
	CODE_DOUBLE_LITTLE,
	CODE_DOUBLES8_BIG,
	CODE_DOUBLES8_LITTLE,
	CODE_DOUBLES32_BIG,
	CODE_CODE_POINTER,
	CODE_INFIX_POINTER,
	CODE_CUSTOM,
	CODE_BLOCK64,
	CODE_SHARED64,
	CODE_STRING64,
	CODE_CUSTOM_FIXED = 0x19,
	CODE_SMALL_STRING = 0x20,
	CODE_SMALL_INT = 0x40,
	CODE_SMALL_BLOCK = 0x80
};

enum kind { INTEGER, BLOCK, STRING, DOUBLES, CUSTOM, SHARED, CODE, INFIX };

/* One step of the encoding; of a block only its header. */
struct item {
	enum kind kind;
	uint8_t tag;          /* of objects */
	bool little;          /* DOUBLES */
	char custom;          /* CUSTOM: 'i', 'j' or 'n' */
	uint64_t count;       /* fields, bytes, numbers, or how many objects back */
	int64_t number;       /* INTEGER, CUSTOM */
	const uint8_t *bytes; /* STRING, DOUBLES */
};

static enum hg_status cut_marshal(const struct base_cursor *c, struct hg_error *error)
{
	return base_corrupt(error, base_cursor_offset(c), "marshalled value ends inside an item");
}

static int64_t sign_extend(uint64_t value, unsigned bits)
{
	unsigned shift = 64 - bits;
	return (int64_t)(value << shift) >> shift;
}

static enum hg_status decode_int(
	struct base_cursor *c, unsigned bytes, struct item *item, struct hg_error *error)
{
	uint64_t raw;
	if (!base_cursor_be(c, bytes, &raw))
		return cut_marshal(c, error);
	/* OCaml's integers have 63 bits; its reader loses the highest of 64 in the same way. */
	item->number = sign_extend(raw, bytes == 8 ? 63 : 8 * bytes);
	return HG_OK;
}

/* Payload of strings and float arrays: location id, then 'unit' bytes for each of item->count. */
static enum hg_status decode_payload(
	struct base_cursor *c, bool ids, unsigned unit, struct item *item, struct hg_error *error)
{
	if ((ids && !base_cursor_skip(c, ID_BYTES)) || item->count > base_cursor_left(c) ||
		!base_cursor_bytes(c, item->count * unit, &item->bytes))
		return cut_marshal(c, error);
	return HG_OK;
}

static enum hg_status decode_string(
	struct base_cursor *c, bool ids, unsigned bytes, struct item *item, struct hg_error *error)
{
	item->tag = SNAP_TAG_STRING;
	if (!base_cursor_be(c, bytes, &item->count))
		return cut_marshal(c, error);
	return decode_payload(c, ids, 1, item, error);
}

/* 'bytes' of the count; 0 for a single float, which has none. */
static enum hg_status decode_doubles(
	struct base_cursor *c, bool ids, unsigned bytes, struct item *item, struct hg_error *error)
{
	item->tag = bytes ? SNAP_TAG_DOUBLE_ARRAY : SNAP_TAG_DOUBLE;
	item->count = 1;
	if (bytes && !base_cursor_be(c, bytes, &item->count))
		return cut_marshal(c, error);
	return decode_payload(c, ids, 8, item, error);
}

/* A header word: tag in the low 8 bits, then 2 of colour, then the size and maybe a location id. */
static enum hg_status decode_block(
	struct base_cursor *c, unsigned bytes, struct item *item, struct hg_error *error)
{
	uint64_t header;
	if (!base_cursor_be(c, bytes, &header))
		return cut_marshal(c, error);
	item->tag = (uint8_t)header;
	item->count = header >> 10 & ((UINT64_C(1) << 33) - 1);
	return HG_OK;
}

static enum hg_status unknown_custom(
	const uint8_t *name, uint64_t length, uint64_t offset, struct hg_error *error)
{
	char shown[41];
	size_t i;
	for (i = 0; i < length && i < sizeof(shown) - 1; i++)
		shown[i] = name[i] > ' ' && name[i] < 127 ? (char)name[i] : '?';
	shown[i] = '\0';
	return base_corrupt(error, offset, "unknown kind of custom block \"%s\"", shown);
}

/* Identifier, NUL, data, then the location id. */
static enum hg_status decode_custom(
	struct base_cursor *c, bool ids, struct item *item, struct hg_error *error)
{
	uint64_t offset = base_cursor_offset(c);
	const uint8_t *name = c->next;
	const uint8_t *nul = memchr(name, 0, base_cursor_left(c));
	if (!nul)
		return cut_marshal(c, error);
	uint64_t length = (uint64_t)(nul - name);
	base_cursor_skip(c, length + 1);
	item->tag = SNAP_TAG_CUSTOM;
	item->custom = length == 2 && name[0] == '_' ? (char)name[1] : '\0';
	uint64_t bytes = item->custom == 'i' ? 4 : 8;
	if (item->custom == 'n') {
		if (!base_cursor_be(c, 1, &bytes))
			return cut_marshal(c, error);
		if (bytes != 1 && bytes != 2)
			return base_corrupt(error, offset, "nativeint of unknown width");
		bytes *= 4;
	} else if (item->custom != 'i' && item->custom != 'j') {
		return unknown_custom(name, length, offset, error);
	}
	uint64_t raw;
	if (!base_cursor_be(c, (unsigned)bytes, &raw) || (ids && !base_cursor_skip(c, ID_BYTES)))
		return cut_marshal(c, error);
	item->number = sign_extend(raw, 8 * (unsigned)bytes);
	return HG_OK;
}

/* The codes that are not small integers, strings or blocks; 'bytes' of their number or length. */
static const struct form {
	enum kind kind;
	uint8_t bytes;
	bool little;
} forms[] = {
	[CODE_INT8] = {INTEGER, 1, false},
	[CODE_INT16] = {INTEGER, 2, false},
	[CODE_INT32] = {INTEGER, 4, false},
	[CODE_INT64] = {INTEGER, 8, false},
	[CODE_SHARED8] = {SHARED, 1, false},
	[CODE_SHARED16] = {SHARED, 2, false},
	[CODE_SHARED32] = {SHARED, 4, false},
	[CODE_DOUBLES32_LITTLE] = {DOUBLES, 4, true},
	[CODE_BLOCK32] = {BLOCK, 4, false},
	[CODE_STRING8] = {STRING, 1, false},
	[CODE_STRING32] = {STRING, 4, false},
	[CODE_DOUBLE_BIG] = {DOUBLES, 0, false},
	[CODE_DOUBLE_LITTLE] = {DOUBLES, 0, true},
	[CODE_DOUBLES8_BIG] = {DOUBLES, 1, false},
	[CODE_DOUBLES8_LITTLE] = {DOUBLES, 1, true},
	[CODE_DOUBLES32_BIG] = {DOUBLES, 4, false},
	[CODE_CODE_POINTER] = {CODE, 4 + 16, false}, /* offset in the code, MD5 of the code */
	[CODE_INFIX_POINTER] = {INFIX, 4, false},    /* offset in the closure, which follows */
	[CODE_CUSTOM] = {CUSTOM, 0, false},
	[CODE_BLOCK64] = {BLOCK, 8, false},
	[CODE_SHARED64] = {SHARED, 8, false},
	[CODE_STRING64] = {STRING, 8, false},
	[CODE_CUSTOM_FIXED] = {CUSTOM, 0, false}, /* of integers: the same bytes as before */
};

static enum hg_status decode_rare(
	struct base_cursor *c, bool ids, uint8_t code, struct item *item, struct hg_error *error)
{
	if (code >= sizeof(forms) / sizeof(forms[0]) ||
		(code > CODE_STRING64 && code < CODE_CUSTOM_FIXED))
		return base_corrupt(error, base_cursor_offset(c) - 1,
			"code 0x%02x is not one of a marshalled value", code);
	const struct form *form = &forms[code];
	item->kind = form->kind;
	switch (form->kind) {
	case INTEGER:
		return decode_int(c, form->bytes, item, error);
	case SHARED:
		return base_cursor_be(c, form->bytes, &item->count) ? HG_OK : cut_marshal(c, error);
	case BLOCK:
		return decode_block(c, form->bytes, item, error);
	case STRING:
		return decode_string(c, ids, form->bytes, item, error);
	case DOUBLES:
		item->little = form->little;
		return decode_doubles(c, ids, form->bytes, item, error);
	case CUSTOM:
		return decode_custom(c, ids, item, error);
	default:
		return base_cursor_skip(c, form->bytes) ? HG_OK : cut_marshal(c, error);
	}
}

static inline enum hg_status decode(
	struct base_cursor *c, bool ids, struct item *item, struct hg_error *error)
{
	uint8_t code;
	if (!base_cursor_u8(c, &code))
		return cut_marshal(c, error);
	if (code >= CODE_SMALL_BLOCK) {
		item->kind = BLOCK;
		item->tag = code & 15;
		item->count = code >> 4 & 7;
		if (ids && item->count && !base_cursor_skip(c, ID_BYTES))
			return cut_marshal(c, error);
		return HG_OK;
	}
	if (code >= CODE_SMALL_INT) {
		item->kind = INTEGER;
		item->number = code & 63;
		return HG_OK;
	}
	if (code >= CODE_SMALL_STRING) {
		item->kind = STRING;
		item->tag = SNAP_TAG_STRING;
		item->count = code & 31;
		return decode_payload(c, ids, 1, item, error);
	}
	return decode_rare(c, ids, code, item, error);
}

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
static enum hg_status open_block(struct reader *r, const struct item *item, uint64_t offset,
	uint32_t *handle, struct frame *inner)
{
	if (item->tag >= SNAP_TAG_STRING - 1)
		return base_corrupt(
			r->error, offset, "a block of tag %u cannot have fields", item->tag);
	/* Each takes a byte at least. */
	if (item->count + r->missing > base_cursor_left(&r->data))
		return base_corrupt(r->error, offset,
			"a block of %llu fields, and %llu others to come, in the %zu bytes left",
			(unsigned long long)item->count, (unsigned long long)r->missing,
			base_cursor_left(&r->data));
	if (item->count > MAX_FIELDS)
		return base_fail(r->error, HG_ERROR_LIMIT, offset,
			"a marshalled block of %llu fields is too large",
			(unsigned long long)item->count);
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
	struct reader *r, const struct item *item, uint64_t offset, uint32_t *handle)
{
	if (item->count == 0 || item->count > r->objects_used)
		return base_corrupt(r->error, offset,
			"a reference %llu objects back where there are %llu",
			(unsigned long long)item->count, (unsigned long long)r->objects_used);
	*handle = r->objects[r->objects_used - item->count];
	return HG_OK;
}

/* The handle for an item that is not INFIX. */
static inline enum hg_status place_marshal(struct reader *r, const struct item *item,
	const uint8_t *at, uint32_t *handle, struct frame *inner)
{
	uint64_t offset = (uint64_t)(at - r->data.start);
	*handle = (uint32_t)(at - r->first) << ITEM_BITS | 2;
	switch (item->kind) {
	case INTEGER:
		if (item->number == sign_extend((uint64_t)item->number, 31))
			*handle = (uint32_t)item->number << 1 | 1;
		return HG_OK;
	case SHARED:
		return shared(r, item, offset, handle);
	case BLOCK:
		/* Blocks without fields are shared atoms and not counted. */
		return item->count ? open_block(r, item, offset, handle, inner) : HG_OK;
	case CODE:
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
		struct item item;
		BASE_TRY(decode(&r->data, r->ids, &item, r->error));
		if (item.kind == INFIX)
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

struct header {
	uint64_t magic, data, objects, words32, words64;
	bool big;
};

static bool is_magic(uint64_t number)
{
	return number == MAGIC_STANDARD || number == MAGIC_IDS_01 || number == MAGIC_IDS_02;
}

bool snap_marshal_begins(const uint8_t *bytes, size_t size)
{
	struct base_cursor cursor = base_cursor_over(bytes, size);
	uint64_t magic;
	return base_cursor_be(&cursor, 4, &magic) && is_magic(magic);
}

/* The numbers, as they stand there; the cursor has as many bytes as a small header. */
static bool read_header_numbers(struct base_cursor *c, struct header *h)
{
	uint64_t *small[] = {&h->data, &h->objects, &h->words32, &h->words64};
	uint64_t *big[] = {&h->data, &h->objects, &h->words64};
	struct base_cursor behind = *c;
	uint64_t zero;
	base_cursor_be(c, 4, &h->magic);
	h->big = h->magic == MAGIC_IDS_02 && base_cursor_skip(&behind, 4) &&
		 base_cursor_be(&behind, 4, &zero) && zero == 0;
	if (!h->big) {
		for (size_t i = 0; i < sizeof(small) / sizeof(small[0]); i++)
			base_cursor_be(c, 4, small[i]);
		return true;
	}
	*c = behind;
	for (size_t i = 0; i < sizeof(big) / sizeof(big[0]); i++)
		if (!base_cursor_be(c, 8, big[i]))
			return false;
	return true;
}

static enum hg_status read_header(struct base_cursor *c, struct header *h, struct hg_error *error)
{
	uint64_t offset = base_cursor_offset(c), left = base_cursor_left(c);
	if (left < HEADER_BYTES || !read_header_numbers(c, h))
		return base_corrupt(error, offset, "%llu bytes are too few for a marshalled value",
			(unsigned long long)left);
	if (!is_magic(h->magic))
		return base_corrupt(error, offset, "0x%08x is not the magic of a marshalled value",
			(unsigned)h->magic);
	if (h->data > base_cursor_left(c))
		return base_corrupt(error, offset,
			"a marshalled value of %llu bytes where %zu are left",
			(unsigned long long)h->data, base_cursor_left(c));
	if (h->data > MAX_DATA)
		return base_fail(error, HG_ERROR_LIMIT, offset,
			"a marshalled value of %llu bytes is too large",
			(unsigned long long)h->data);
	/* Every object takes a byte at least. */
	if (h->objects > h->data)
		return base_corrupt(error, offset + 8, "%llu objects in %llu bytes",
			(unsigned long long)h->objects, (unsigned long long)h->data);
	return HG_OK;
}

enum hg_status snap_marshal_skip(struct base_cursor *cursor, struct hg_error *error)
{
	struct base_cursor c = *cursor;
	struct header h;
	BASE_TRY(read_header(&c, &h, error));
	base_cursor_skip(&c, h.data);
	*cursor = c;
	return HG_OK;
}

bool snap_marshal_is_cut(struct base_cursor at)
{
	struct header h;
	return base_cursor_left(&at) < HEADER_BYTES || !read_header_numbers(&at, &h) ||
	       (is_magic(h.magic) && h.data > base_cursor_left(&at));
}

bool snap_marshal_first_double(struct base_cursor at, double *out)
{
	struct header h;
	struct item item;
	struct snap_marshal m = {0};
	if (read_header(&at, &h, NULL) != HG_OK)
		return false;
	m.data = (struct base_cursor){at.start, at.next, at.next + h.data};
	m.ids = !h.big && h.magic != MAGIC_STANDARD;
	if (decode(&at, m.ids, &item, NULL) != HG_OK || item.kind != BLOCK || !item.count)
		return false;
	const uint32_t offset = (uint32_t)(at.next - m.data.next);
	return snap_marshal_double(&m, (struct snap_value){offset << ITEM_BITS | 2}, 0, out);
}

/* Room for what the header promises; larger values are refused when they come to light. */
static enum hg_status prepare(struct reader *r, const struct header *h, struct base_pool *pool)
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
	struct reader *r, const struct header *h, uint64_t offset, struct base_pool *pool)
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
	struct header h;
	BASE_TRY(read_header(&c, &h, error));
	struct reader r = {
		.data = {c.start, c.next, c.next + h.data},
		.first = c.next,
		.ids = !h.big && h.magic != MAGIC_STANDARD,
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
static bool item_of(const struct snap_marshal *m, struct snap_value value, struct item *out)
{
	struct base_cursor c = m->data;
	return (value.bits & 3) == 2 && base_cursor_skip(&c, value.bits >> ITEM_BITS) &&
	       decode(&c, m->ids, out, NULL) == HG_OK;
}

bool snap_marshal_encoded_int(const struct snap_marshal *m, struct snap_value value, int64_t *out)
{
	struct item item;
	if (!item_of(m, value, &item) || item.kind != INTEGER)
		return false;
	*out = item.number;
	return true;
}

int snap_marshal_encoded_tag(const struct snap_marshal *m, struct snap_value value)
{
	struct item item;
	if (!item_of(m, value, &item) || item.kind == INTEGER || item.kind == CODE)
		return -1;
	return item.tag;
}

uint32_t snap_marshal_encoded_size(const struct snap_marshal *m, struct snap_value value)
{
	struct item item;
	return item_of(m, value, &item) && item.kind == DOUBLES ? (uint32_t)item.count : 0;
}

bool snap_marshal_string(const struct snap_marshal *m, struct snap_value value,
	const uint8_t **bytes, uint32_t *length)
{
	struct item item;
	if (!item_of(m, value, &item) || item.kind != STRING)
		return false;
	*bytes = item.bytes;
	*length = (uint32_t)item.count;
	return true;
}

bool snap_marshal_double(
	const struct snap_marshal *m, struct snap_value value, uint32_t index, double *out)
{
	struct item item;
	if (!item_of(m, value, &item) || item.kind != DOUBLES || index >= item.count)
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
	struct item item;
	if (!item_of(m, value, &item) || item.kind != CUSTOM)
		return false;
	*kind = item.custom;
	*out = item.number;
	return true;
}
