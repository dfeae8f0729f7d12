/*
 * A first pass over the items checks them and counts the cells; the second one fills them.  Fields
 * of a block that is not yet complete are on a stack, from the front of the cells on; blocks are
 * complete from their back on: what leaves the stack is what is added there, so nothing is left.
 */
#include "snapshot/marshal/sparse.h"

#include "base/grow.h"

/* A block whose fields are being read: where it is, and the next field. */
struct open_block {
	uint32_t object, start, field, size;
};

struct scan {
	struct base_cursor data;
	bool ids;
	uint64_t used, limit;        /* objects */
	uint64_t words, words_limit; /* of blocks with fields, headers included */
	uint64_t cells;              /* that are needed, in the first pass */
	struct open_block now;       /* or what holds the root, as its one field */
	struct open_block *stack;    /* blocks around it */
	uint64_t depth, capacity;
	uint64_t missing; /* fields of those */
	struct snap_sparse *out;
	uint64_t top, bottom; /* of the stack of cells, and of those of complete blocks */
	bool infix;
	struct hg_error *error;
};

/* Of an object, behind its fields, and of what holds the root. */
enum { CELLS_OF_OBJECT = 2, CELLS_OF_ROOT = 5 };

static enum hg_status push_open_block(struct scan *s, struct open_block block)
{
	BASE_TRY(base_grow(&s->stack, s->depth, &s->capacity, sizeof(*s->stack), s->error));
	s->stack[s->depth++] = s->now;
	s->now = block;
	return HG_OK;
}

static enum hg_status count_object(struct scan *s, uint64_t offset)
{
	if (s->used == s->limit)
		return base_corrupt(s->error, offset,
			"more than the %llu objects that the header of the marshalled value says",
			(unsigned long long)s->limit);
	s->used++;
	s->cells += 2 + CELLS_OF_OBJECT;
	return HG_OK;
}

static enum hg_status scan_block(struct scan *s, const struct snap_item *item, uint64_t offset)
{
	s->missing += s->now.size - s->now.field;
	BASE_TRY(snap_item_check_block(
		item, s->missing, base_cursor_left(&s->data), offset, s->error));
	if (item->count + 1 > s->words_limit - s->words)
		return base_corrupt(s->error, offset, "the value is larger than its header says");
	s->words += item->count + 1;
	BASE_TRY(push_open_block(s, (struct open_block){.size = (uint32_t)item->count}));
	return count_object(s, offset);
}

static enum hg_status scan_item(struct scan *s)
{
	const uint64_t offset = base_cursor_offset(&s->data);
	struct snap_item item;
	BASE_TRY(snap_item_read(&s->data, s->ids, &item, s->error));
	if (item.kind == SNAP_ITEM_INFIX)
		return HG_OK;
	s->now.field++;
	switch (item.kind) {
	case SNAP_ITEM_INTEGER:
	case SNAP_ITEM_CODE:
		s->cells += 3;
		return HG_OK;
	case SNAP_ITEM_SHARED:
		s->cells += 2;
		if (item.count == 0 || item.count > s->used)
			return base_corrupt(s->error, offset,
				"a reference %llu objects back where there are %llu",
				(unsigned long long)item.count, (unsigned long long)s->used);
		return HG_OK;
	case SNAP_ITEM_BLOCK:
		/* Blocks without fields are shared atoms and not counted. */
		s->cells += !item.count;
		return item.count ? scan_block(s, &item, offset) : HG_OK;
	default:
		return count_object(s, offset);
	}
}

/* How many of the next eight items are the int 0. */
static unsigned zeros_at(const uint8_t *p)
{
	const uint64_t other = base_load_u64le(p) ^ UINT64_C(0x4040404040404040);
	return other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
}

/* By code, of integers and of references back: their bytes with the code. */
static const uint8_t item_bytes[] = {2, 3, 5, 9, 2, 3, 5};
enum { MOST_ITEM_BYTES = 16 };

/* The number behind the code of such an item. */
static int64_t number_behind(const uint8_t *p, unsigned length)
{
	return (int64_t)__builtin_bswap64(base_load_u64le(p + 1)) >> (64 - 8 * (length - 1));
}

/* Passes over fields of a block that are most frequent and need no check but of references. */
static void scan_frequent_items(struct scan *s)
{
	const uint8_t *p = s->data.next, *const last = s->data.end - MOST_ITEM_BYTES;
	uint32_t left = s->now.size - s->now.field;
	uint64_t cells = 0;
	while (left && p <= last) {
		const uint8_t code = *p;
		unsigned length = 1;
		if (code == SNAP_CODE_SMALL_INT) {
			const unsigned run = zeros_at(p);
			length = run < left ? run : left;
			p += length;
			left -= length;
			continue;
		}
		if (code == SNAP_CODE_INFIX_POINTER) {
			p += 5;
			continue;
		}
		if (code < sizeof(item_bytes)) {
			length = item_bytes[code];
			const uint64_t mask = UINT64_MAX >> (72 - 8 * length);
			const uint64_t back = (uint64_t)number_behind(p, length) & mask;
			if (code >= SNAP_CODE_SHARED8 && (back == 0 || back > s->used))
				break;
		} else if ((code & 0xc0) != SNAP_CODE_SMALL_INT) {
			break;
		}
		cells += code == SNAP_CODE_INT64 ? 3 : 2;
		p += length;
		left--;
	}
	s->cells += cells;
	s->data.next = p;
	s->now.field = s->now.size - left;
}

static enum hg_status scan_items(struct scan *s)
{
	s->now = (struct open_block){.size = 1};
	s->cells = CELLS_OF_ROOT;
	for (;;) {
		if (!s->ids && base_cursor_left(&s->data) >= MOST_ITEM_BYTES)
			scan_frequent_items(s);
		while (s->now.field == s->now.size) {
			if (!s->depth)
				return HG_OK;
			s->now = s->stack[--s->depth];
			s->missing -= s->now.size - s->now.field;
		}
		BASE_TRY(scan_item(s));
	}
}

static enum hg_status changed_meanwhile(struct scan *s)
{
	return base_corrupt(
		s->error, base_cursor_offset(&s->data), "the file was changed meanwhile");
}

/* A field of the block that is open. */
static void keep_field(struct scan *s, enum snap_field_kind kind, int64_t number)
{
	uint32_t *cell = s->out->cells + s->top;
	cell[0] = s->now.field++ << SNAP_SPARSE_KIND_BITS | (uint32_t)kind;
	if (kind != SNAP_FIELD_OTHER)
		cell[1] = (uint32_t)number;
	if (kind == SNAP_FIELD_INT64)
		cell[2] = (uint32_t)((uint64_t)number >> 32);
	s->top += 1 + snap_sparse_width(kind);
}

static void keep_int(struct scan *s, int64_t number)
{
	if (number == 0)
		s->now.field++;
	else
		keep_field(
			s, number == (int32_t)number ? SNAP_FIELD_INT : SNAP_FIELD_INT64, number);
}

static void keep_pointer(struct scan *s, uint64_t object)
{
	keep_field(s, s->infix ? SNAP_FIELD_INFIX : SNAP_FIELD_OBJECT, (int64_t)object);
	s->infix = false;
}

/* From the stack to the complete ones. */
static void close_block(struct scan *s)
{
	uint32_t *cells = s->out->cells;
	cells[s->top++] = SNAP_SPARSE_END;
	const uint64_t count = s->top - s->now.start;
	s->bottom -= count;
	memmove(cells + s->bottom, cells + s->now.start, count * sizeof(*cells));
	s->out->starts[s->now.object] = (uint32_t)s->bottom;
	s->top = s->now.start;
}

static enum hg_status keep_object(struct scan *s, const struct snap_item *item)
{
	if (s->used == s->limit)
		return changed_meanwhile(s);
	const uint32_t object = (uint32_t)s->used++;
	const uint32_t size = item->kind == SNAP_ITEM_BLOCK ? (uint32_t)item->count : 0;
	keep_pointer(s, object);
	BASE_TRY(push_open_block(s, (struct open_block){object, (uint32_t)s->top, 0, size}));
	s->out->cells[s->top++] = size << 8 | item->tag;
	return HG_OK;
}

static enum hg_status keep_item(struct scan *s)
{
	struct snap_item item;
	BASE_TRY(snap_item_read(&s->data, s->ids, &item, s->error));
	switch (item.kind) {
	case SNAP_ITEM_INFIX:
		s->infix = true;
		return HG_OK;
	case SNAP_ITEM_INTEGER:
		keep_int(s, item.number);
		break;
	case SNAP_ITEM_CODE:
		keep_field(s, SNAP_FIELD_OTHER, 0);
		break;
	case SNAP_ITEM_SHARED:
		if (item.count == 0 || item.count > s->used)
			return changed_meanwhile(s);
		keep_pointer(s, s->used - item.count);
		break;
	default:
		if (item.kind != SNAP_ITEM_BLOCK || item.count)
			return keep_object(s, &item);
		keep_field(s, SNAP_FIELD_OTHER, 0);
	}
	s->infix = false;
	return HG_OK;
}

/* Whether there is room for a field, a header and an end. */
static bool has_room(const struct scan *s)
{
	return s->bottom - s->top >= CELLS_OF_ROOT;
}

/* Those that need no more than themselves; false if it is another. */
static bool keep_frequent_item(struct scan *s)
{
	const uint8_t *p = s->data.next, code = *p;
	if (code == SNAP_CODE_SMALL_INT) {
		const unsigned run = zeros_at(p), left = s->now.size - s->now.field;
		const unsigned passed = run < left ? run : left;
		s->now.field += passed;
		s->data.next += passed;
		s->infix = false;
		return true;
	}
	if (code == SNAP_CODE_INFIX_POINTER) {
		s->infix = true;
		s->data.next += 5;
		return true;
	}
	if (code > SNAP_CODE_INT32)
		return false;
	keep_int(s, number_behind(p, item_bytes[code]));
	s->data.next += item_bytes[code];
	s->infix = false;
	return true;
}

static enum hg_status keep_items(struct scan *s)
{
	s->now = (struct open_block){.size = 1};
	s->out->cells[0] = 0;
	s->top = 1;
	for (;;) {
		while (s->now.field == s->now.size) {
			if (!has_room(s))
				return changed_meanwhile(s);
			if (!s->depth) {
				s->out->cells[s->top] = SNAP_SPARSE_END;
				return HG_OK;
			}
			close_block(s);
			s->now = s->stack[--s->depth];
		}
		if (!has_room(s))
			return changed_meanwhile(s);
		if (s->ids || base_cursor_left(&s->data) < MOST_ITEM_BYTES ||
			!keep_frequent_item(s))
			BASE_TRY(keep_item(s));
	}
}

/* Another pass, over what was seen to be right. */
static enum hg_status keep_all(struct scan *s, const uint8_t *first)
{
	struct snap_sparse *out = s->out;
	BASE_TRY(base_arena_init(&out->arena, &out->budget, "calls", s->error));
	BASE_TRY(base_arena_alloc(
		&out->arena, s->limit, sizeof(*out->starts), (void **)&out->starts, s->error));
	/* A little more, so that there is room whenever something is added. */
	s->bottom = s->cells + CELLS_OF_ROOT;
	if (s->bottom > UINT32_MAX)
		return base_fail(s->error, HG_ERROR_LIMIT, base_cursor_offset(&s->data),
			"a marshalled value of %llu objects is too large",
			(unsigned long long)s->limit);
	BASE_TRY(base_arena_alloc(
		&out->arena, s->bottom, sizeof(*out->cells), (void **)&out->cells, s->error));
	out->cell_count = s->bottom;
	s->data.next = first;
	s->used = 0;
	s->depth = 0;
	BASE_TRY(keep_items(s));
	out->objects = (uint32_t)s->limit;
	return s->used == s->limit ? HG_OK : changed_meanwhile(s);
}

static enum hg_status scan_value(struct scan *s, const struct snap_item_header *h, uint64_t offset)
{
	const uint8_t *first = s->data.next;
	s->limit = h->objects;
	/* A byte makes at most two words, a field and a header. */
	s->words_limit = h->words64 < 2 * h->data ? h->words64 : 2 * h->data;
	BASE_TRY(scan_items(s));
	if (base_cursor_left(&s->data))
		return base_corrupt(s->error, base_cursor_offset(&s->data),
			"%zu bytes are left over behind a marshalled value",
			base_cursor_left(&s->data));
	if (s->used != h->objects)
		return base_corrupt(s->error, offset + 8,
			"the header says %llu objects, %llu are there",
			(unsigned long long)h->objects, (unsigned long long)s->used);
	return keep_all(s, first);
}

enum hg_status snap_sparse_read(
	struct base_cursor *cursor, struct snap_sparse *sparse, struct hg_error *error)
{
	uint64_t offset = base_cursor_offset(cursor);
	struct base_cursor c = *cursor;
	struct snap_item_header h;
	*sparse = (struct snap_sparse){0};
	BASE_TRY(snap_item_read_header(&c, &h, error));
	struct scan s = {.data = {c.start, c.next, c.next + h.data},
		.ids = h.ids,
		.out = sparse,
		.error = error};
	enum hg_status status = scan_value(&s, &h, offset);
	free(s.stack);
	base_cursor_skip(&c, h.data);
	if (status == HG_OK)
		*cursor = c;
	return status;
}

void snap_sparse_release(struct snap_sparse *sparse)
{
	base_arena_release(&sparse->arena);
	*sparse = (struct snap_sparse){0};
}
