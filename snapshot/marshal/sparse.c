/*
 * One pass over the items checks them and notes where objects are; what is most frequent is told
 * without a look at the end of the data, all else item by item.
 */
#include "snapshot/marshal/sparse.h"

#include "base/grow.h"

/* A block whose fields are being read, and how many are left. */
struct open_block {
	uint32_t object, left;
};

struct scan {
	struct base_cursor data;
	const uint8_t *first; /* of the data */
	bool ids;
	uint64_t used, limit;        /* objects */
	uint64_t words, words_limit; /* of blocks with fields, headers included */
	uint64_t missing;            /* fields of all open blocks */
	struct open_block now;       /* or what holds the root, as its one field */
	struct open_block *stack;    /* blocks around it */
	uint64_t depth, capacity;
	struct snap_extent *extents;
	const struct snap_sparse_marks *marks; /* or NULL */
	struct hg_error *error;
};

static enum hg_status push_open_block(struct scan *s, struct open_block block)
{
	BASE_TRY(base_huge_grow(&s->stack, s->depth, 1, &s->capacity, sizeof(*s->stack), s->error));
	s->stack[s->depth++] = s->now;
	s->now = block;
	return HG_OK;
}

static enum hg_status begin_object(struct scan *s, const uint8_t *at)
{
	if (s->used == s->limit)
		return base_corrupt(s->error, (uint64_t)(at - s->data.start),
			"more than the %llu objects that the header of the marshalled value says",
			(unsigned long long)s->limit);
	s->extents[s->used++] = (struct snap_extent){.start = (uint32_t)(at - s->first)};
	return HG_OK;
}

static void end_object(struct scan *s, uint32_t object)
{
	s->extents[object].end = (uint32_t)(s->data.next - s->first);
	s->extents[object].next = (uint32_t)s->used;
}

/* A block with fields, whose header has been passed over. */
static enum hg_status begin_block(struct scan *s, const struct snap_item *item, const uint8_t *at)
{
	const uint64_t offset = (uint64_t)(at - s->data.start);
	BASE_TRY(snap_item_check_block(
		item, s->missing, base_cursor_left(&s->data), offset, s->error));
	if (item->count + 1 > s->words_limit - s->words)
		return base_corrupt(s->error, offset, "the value is larger than its header says");
	s->words += item->count + 1;
	s->missing += item->count;
	BASE_TRY(push_open_block(s, (struct open_block){(uint32_t)s->used, (uint32_t)item->count}));
	return begin_object(s, at);
}

static enum hg_status scan_item(struct scan *s)
{
	const uint8_t *at = s->data.next;
	struct snap_item item;
	BASE_TRY(snap_item_read(&s->data, s->ids, &item, s->error));
	if (item.kind == SNAP_ITEM_INFIX)
		return HG_OK;
	s->now.left--;
	s->missing--;
	switch (item.kind) {
	case SNAP_ITEM_INTEGER:
	case SNAP_ITEM_CODE:
		return HG_OK;
	case SNAP_ITEM_SHARED:
		if (item.count == 0 || item.count > s->used)
			return base_corrupt(s->error, (uint64_t)(at - s->data.start),
				"a reference %llu objects back where there are %llu",
				(unsigned long long)item.count, (unsigned long long)s->used);
		return HG_OK;
	case SNAP_ITEM_BLOCK:
		/* Blocks without fields are shared atoms and not counted. */
		return item.count ? begin_block(s, &item, at) : HG_OK;
	default:
		BASE_TRY(begin_object(s, at));
		end_object(s, (uint32_t)s->used - 1);
		return HG_OK;
	}
}

/* The same as scan_item() of a block, whose item needs no look at the end of the data. */
static enum hg_status scan_frequent_block(struct scan *s)
{
	const uint8_t *at = s->data.next;
	struct snap_item item = {.tag = *at & 15, .count = *at >> 4 & 7};
	s->data.next++;
	if (*at == SNAP_CODE_BLOCK32) {
		const uint64_t header = snap_item_number(at + 1, 4);
		item.tag = header & 255;
		item.count = header >> 10;
		s->data.next += 4;
	}
	s->now.left--;
	s->missing--;
	if (!item.count)
		return HG_OK;
	BASE_TRY(begin_block(s, &item, at));
	if (s->marks && item.tag == 0 && *s->data.next == SNAP_CODE_INT64) {
		const uint64_t number = snap_item_number(s->data.next + 1, 8);
		s->extents[s->used - 1].mark =
			s->marks->mark(s->marks->data, snap_item_sign_extend(number, 63));
	}
	return HG_OK;
}

/* Passes over fields that are no blocks, and need no check but of references. */
static void scan_frequent_fields(struct scan *s)
{
	const uint8_t *p = s->data.next, *const last = s->data.end - SNAP_ITEM_MOST_BYTES;
	const uint64_t used = s->used;
	uint32_t left = s->now.left;
	while (left && p <= last) {
		const uint8_t code = *p;
		if (code == SNAP_CODE_SMALL_INT) {
			const unsigned run = snap_item_zeros(p), length = run < left ? run : left;
			p += length;
			left -= length;
			continue;
		}
		if (code == SNAP_CODE_INFIX_POINTER) {
			p += 5;
			continue;
		}
		if (code < sizeof(snap_item_bytes)) {
			const unsigned bytes = snap_item_bytes[code];
			const uint64_t back = snap_item_number(p + 1, bytes - 1);
			if (code >= SNAP_CODE_SHARED8 && (back == 0 || back > used))
				break;
			p += bytes;
		} else if ((code & 0xc0) == SNAP_CODE_SMALL_INT) {
			p++;
		} else {
			break;
		}
		left--;
	}
	s->missing -= s->now.left - left;
	s->now.left = left;
	s->data.next = p;
}

static enum hg_status scan_items(struct scan *s)
{
	s->now.left = 1;
	s->missing = 1;
	for (;;) {
		bool fast = !s->ids && base_cursor_left(&s->data) >= SNAP_ITEM_MOST_BYTES;
		if (fast) {
			scan_frequent_fields(s);
			fast = base_cursor_left(&s->data) >= SNAP_ITEM_MOST_BYTES;
		}
		while (!s->now.left) {
			if (!s->depth)
				return HG_OK;
			end_object(s, s->now.object);
			s->now = s->stack[--s->depth];
		}
		const uint8_t *at = s->data.next;
		if (fast && (*at >= SNAP_CODE_SMALL_BLOCK || *at == SNAP_CODE_BLOCK32))
			BASE_TRY(scan_frequent_block(s));
		else
			BASE_TRY(scan_item(s));
	}
}

static enum hg_status scan_value(struct scan *s, const struct snap_item_header *h, uint64_t offset)
{
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
	return HG_OK;
}

enum hg_status snap_sparse_read(struct base_cursor *cursor, const struct snap_sparse_marks *marks,
	struct snap_sparse *sparse, struct hg_error *error)
{
	uint64_t offset = base_cursor_offset(cursor);
	struct base_cursor c = *cursor;
	struct snap_item_header h;
	*sparse = (struct snap_sparse){0};
	BASE_TRY(snap_item_read_header(&c, &h, error));
	BASE_TRY(base_arena_init(&sparse->arena, &sparse->budget, "calls", error));
	BASE_TRY(base_arena_alloc(&sparse->arena, h.objects, sizeof(*sparse->extents),
		(void **)&sparse->extents, error));
	struct scan s = {.data = {c.start, c.next, c.next + h.data},
		.first = c.next,
		.ids = h.ids,
		.extents = sparse->extents,
		.marks = marks,
		.error = error};
	enum hg_status status = scan_value(&s, &h, offset);
	base_huge_release(s.stack, s.capacity, sizeof(*s.stack));
	BASE_TRY(status);
	sparse->data = base_cursor_over(s.first, h.data);
	sparse->ids = h.ids;
	sparse->objects = (uint32_t)h.objects;
	if (!h.ids && h.data > SNAP_ITEM_MOST_BYTES)
		sparse->fast_end = (uint32_t)(h.data - SNAP_ITEM_MOST_BYTES);
	base_cursor_skip(&c, h.data);
	*cursor = c;
	return HG_OK;
}

void snap_sparse_release(struct snap_sparse *sparse)
{
	base_arena_release(&sparse->arena);
	*sparse = (struct snap_sparse){0};
}

static bool is_object(const struct snap_item *item)
{
	return item->kind == SNAP_ITEM_BLOCK || item->kind == SNAP_ITEM_STRING ||
	       item->kind == SNAP_ITEM_DOUBLES || item->kind == SNAP_ITEM_CUSTOM;
}

struct snap_object snap_sparse_object(const struct snap_sparse *sparse, uint32_t number)
{
	struct base_cursor c = sparse->data;
	const uint32_t start = sparse->extents[number].start;
	const uint8_t *at = c.start + start;
	struct snap_object object = {-1, {.offset = start + 1, .object = number + 1}};
	struct snap_item item;
	if (start < sparse->fast_end && *at >= SNAP_CODE_SMALL_BLOCK) {
		object.tag = *at & 15;
		object.fields.size = *at >> 4 & 7;
		return object;
	}
	if (!base_cursor_seek(&c, start) || snap_item_read(&c, sparse->ids, &item, NULL) != HG_OK ||
		!is_object(&item))
		return object;
	object.tag = item.tag;
	object.fields.offset = (uint32_t)base_cursor_offset(&c);
	object.fields.size = item.kind == SNAP_ITEM_BLOCK ? (uint32_t)item.count : 0;
	return object;
}

struct snap_field snap_sparse_root(const struct snap_sparse *sparse)
{
	struct snap_fields root = {.size = 1};
	return snap_sparse_next(sparse, &root);
}

struct snap_field snap_sparse_any_field(
	const struct snap_sparse *sparse, struct snap_fields *fields)
{
	struct base_cursor c = sparse->data;
	struct snap_item item;
	uint32_t start;
	if (!base_cursor_seek(&c, fields->offset))
		return snap_sparse_lose(fields);
	do {
		start = (uint32_t)base_cursor_offset(&c);
		if (snap_item_read(&c, sparse->ids, &item, NULL) != HG_OK)
			return snap_sparse_lose(fields);
	} while (item.kind == SNAP_ITEM_INFIX);
	fields->offset = (uint32_t)base_cursor_offset(&c);
	switch (item.kind) {
	case SNAP_ITEM_INTEGER:
		return (struct snap_field){.kind = SNAP_FIELD_INT, .number = item.number};
	case SNAP_ITEM_CODE:
		return (struct snap_field){.kind = SNAP_FIELD_OTHER};
	case SNAP_ITEM_SHARED:
		return snap_sparse_reference(fields, item.count);
	default:
		if (item.kind == SNAP_ITEM_BLOCK && !item.count)
			return (struct snap_field){.kind = SNAP_FIELD_OTHER};
		return snap_sparse_inner(sparse, fields, start);
	}
}
