/* The pass over the items that finds where objects begin and end, and the rarer items. */
#include "snapshot/marshal_index.h"

#include "base/assert.h"
#include "base/grow.h"

/* A block whose fields are being passed over. */
struct open_block {
	uint32_t object, left;
};

struct scan {
	struct base_cursor data;
	const uint8_t *first;
	bool ids;
	struct snap_extent *extents;
	uint64_t used, limit;        /* objects */
	uint64_t words, words_limit; /* of blocks with fields, headers included */
	struct open_block now;       /* or what holds the root, as its one field */
	struct open_block *stack;    /* blocks around it */
	uint64_t depth, capacity;
	uint64_t missing; /* fields of those */
	struct hg_error *error;
};

static enum hg_status begin_object(struct scan *s, uint64_t offset, uint32_t start)
{
	if (s->used == s->limit)
		return base_corrupt(s->error, offset,
			"more than the %llu objects that the header of the marshalled value says",
			(unsigned long long)s->limit);
	s->extents[s->used++].start = start;
	return HG_OK;
}

static void end_object(struct scan *s, uint32_t object)
{
	s->extents[object].end = (uint32_t)(s->data.next - s->first);
	s->extents[object].after = (uint32_t)s->used;
}

static enum hg_status scan_block(
	struct scan *s, const struct snap_item *item, uint64_t offset, uint32_t start)
{
	s->missing += s->now.left;
	BASE_TRY(snap_item_check_block(
		item, s->missing, base_cursor_left(&s->data), offset, s->error));
	if (item->count + 1 > s->words_limit - s->words)
		return base_corrupt(s->error, offset, "the value is larger than its header says");
	s->words += item->count + 1;
	BASE_TRY(base_grow(&s->stack, s->depth, &s->capacity, sizeof(*s->stack), s->error));
	s->stack[s->depth++] = s->now;
	s->now = (struct open_block){(uint32_t)s->used, (uint32_t)item->count};
	return begin_object(s, offset, start);
}

static enum hg_status scan_item(struct scan *s)
{
	const uint8_t *at = s->data.next;
	const uint64_t offset = base_cursor_offset(&s->data);
	const uint32_t start = (uint32_t)(at - s->first);
	struct snap_item item;
	BASE_TRY(snap_item_read(&s->data, s->ids, &item, s->error));
	if (item.kind == SNAP_ITEM_INFIX)
		return HG_OK;
	s->now.left--;
	switch (item.kind) {
	case SNAP_ITEM_INTEGER:
	case SNAP_ITEM_CODE:
		return HG_OK;
	case SNAP_ITEM_SHARED:
		if (item.count == 0 || item.count > s->used)
			return base_corrupt(s->error, offset,
				"a reference %llu objects back where there are %llu",
				(unsigned long long)item.count, (unsigned long long)s->used);
		return HG_OK;
	case SNAP_ITEM_BLOCK:
		/* Blocks without fields are shared atoms and not counted. */
		return item.count ? scan_block(s, &item, offset, start) : HG_OK;
	default:
		BASE_TRY(begin_object(s, offset, start));
		end_object(s, (uint32_t)s->used - 1);
		return HG_OK;
	}
}

/* How many of the next eight items are small integers, by their two high bits. */
static unsigned small_ints_at(const uint8_t *p)
{
	const uint64_t other =
		(base_load_u64le(p) ^ UINT64_C(0x4040404040404040)) & UINT64_C(0xc0c0c0c0c0c0c0c0);
	return other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
}

/* Passes over fields of a block that are most frequent and need no check but of references. */
static void scan_frequent_items(struct scan *s)
{
	enum { LONGEST = 16 };
	/* By code: bytes of integers and of references back. */
	static const uint8_t lengths[] = {2, 3, 5, 9, 2, 3, 5};
	const uint8_t *p = s->data.next, *const last = s->data.end - LONGEST;
	uint32_t left = s->now.left;
	const uint64_t used = s->used;
	while (left && p <= last) {
		const uint8_t code = *p;
		if ((code & 0xc0) == SNAP_CODE_SMALL_INT) {
			const unsigned run = small_ints_at(p);
			const unsigned passed = run < left ? run : left;
			p += passed;
			left -= passed;
			continue;
		}
		if (code == SNAP_CODE_INFIX_POINTER) {
			p += 5;
			continue;
		}
		if (code >= sizeof(lengths))
			break;
		const unsigned length = lengths[code];
		if (code >= SNAP_CODE_SHARED8) {
			const uint64_t back = __builtin_bswap64(base_load_u64le(p + 1)) >>
					      (64 - 8 * (length - 1));
			if (back == 0 || back > used)
				break;
		}
		p += length;
		left--;
	}
	s->data.next = p;
	s->now.left = left;
}

static enum hg_status scan_items(struct scan *s)
{
	s->now = (struct open_block){0, 1};
	for (;;) {
		if (!s->ids && base_cursor_left(&s->data) >= 16)
			scan_frequent_items(s);
		while (!s->now.left) {
			if (!s->depth)
				return HG_OK;
			end_object(s, s->now.object);
			s->now = s->stack[--s->depth];
			s->missing -= s->now.left;
		}
		BASE_TRY(scan_item(s));
	}
}

static enum hg_status scan_value(struct scan *s, const struct snap_item_header *h, uint64_t offset)
{
	s->limit = h->objects;
	/* A byte makes at most two words, a field and a header. */
	s->words_limit = h->words64 < 2 * h->data ? h->words64 : 2 * h->data;
	s->extents = malloc(h->objects ? h->objects * sizeof(*s->extents) : 1);
	if (!s->extents)
		return base_no_memory(s->error, h->objects * sizeof(*s->extents));
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

enum hg_status snap_index_read(
	struct base_cursor *cursor, struct snap_index *index, struct hg_error *error)
{
	uint64_t offset = base_cursor_offset(cursor);
	struct base_cursor c = *cursor;
	struct snap_item_header h;
	*index = (struct snap_index){0};
	BASE_TRY(snap_item_read_header(&c, &h, error));
	struct scan s = {.data = {c.start, c.next, c.next + h.data},
		.first = c.next,
		.ids = h.ids,
		.error = error};
	enum hg_status status = scan_value(&s, &h, offset);
	free(s.stack);
	index->extents = s.extents;
	if (status != HG_OK)
		return status;
	index->first = s.first;
	index->end = s.data.end;
	index->ids = s.ids;
	index->objects = (uint32_t)h.objects;
	base_cursor_skip(&c, h.data);
	*cursor = c;
	return HG_OK;
}

void snap_index_release(struct snap_index *index)
{
	free(index->extents);
	*index = (struct snap_index){0};
}

/* False where there is none any more. */
static bool item_at(const struct snap_index *index, uint32_t *offset, struct snap_item *item)
{
	struct base_cursor c = {index->first, index->first, index->end};
	if (!base_cursor_skip(&c, *offset) || snap_item_read(&c, index->ids, item, NULL) != HG_OK)
		return false;
	*offset = (uint32_t)base_cursor_offset(&c);
	return true;
}

struct snap_object snap_index_object(const struct snap_index *index, uint32_t number)
{
	uint32_t offset = index->extents[number].start;
	struct snap_item item = {0};
	base_assert(number < index->objects);
	if (!item_at(index, &offset, &item))
		return (struct snap_object){.tag = -1};
	return (struct snap_object){.tag = item.tag,
		.size = item.kind == SNAP_ITEM_BLOCK ? (uint32_t)item.count : 0,
		.first = {offset, number + 1}};
}

struct snap_field snap_index_next_rare(const struct snap_index *index, struct snap_place *place)
{
	const struct snap_field none = {.kind = SNAP_FIELD_OTHER};
	struct snap_item item;
	do {
		if (!item_at(index, &place->next, &item))
			return none;
	} while (item.kind == SNAP_ITEM_INFIX);
	switch (item.kind) {
	case SNAP_ITEM_INTEGER:
		return (struct snap_field){.kind = SNAP_FIELD_INT, .number = item.number};
	case SNAP_ITEM_SHARED:
		return snap_index_field_of_object(index, place->objects - item.count);
	case SNAP_ITEM_CODE:
		return none;
	default:
		if (item.kind == SNAP_ITEM_BLOCK && !item.count)
			return none;
		break;
	}
	const struct snap_field field = snap_index_field_of_object(index, place->objects);
	if (field.kind == SNAP_FIELD_OBJECT) {
		place->next = index->extents[field.object].end;
		place->objects = index->extents[field.object].after;
	}
	return field;
}
