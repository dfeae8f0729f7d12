/* Items of Marshal.  Facts: runtime/intern.c, byterun/intern.c of the memprof compilers. */
#include "snapshot/marshal/item.h"

#define MAX_DATA ((UINT64_C(1) << 30) - 1)
#define MAX_FIELDS ((UINT64_C(1) << 24) - 2)
#define MAGIC_STANDARD 0x8495A6BEu
#define MAGIC_IDS_01 0x00000042u
#define MAGIC_IDS_02 0x8495A6BFu /* and of big headers, where 0 follows: no value has 0 bytes */

enum hg_status snap_item_cut(const struct base_cursor *c, struct hg_error *error)
{
	return base_corrupt(error, base_cursor_offset(c), "marshalled value ends inside an item");
}

static enum hg_status decode_int(
	struct base_cursor *c, unsigned bytes, struct snap_item *item, struct hg_error *error)
{
	uint64_t raw;
	if (!base_cursor_be(c, bytes, &raw))
		return snap_item_cut(c, error);
	/* OCaml's integers have 63 bits; its reader loses the highest of 64 in the same way. */
	item->number = snap_item_sign_extend(raw, bytes == 8 ? 63 : 8 * bytes);
	return HG_OK;
}

/* Payload of strings and float arrays: location id, then 'unit' bytes for each of item->count. */
enum hg_status snap_item_read_payload(struct base_cursor *c, bool ids, unsigned unit,
	struct snap_item *item, struct hg_error *error)
{
	if ((ids && !base_cursor_skip(c, SNAP_ITEM_ID_BYTES)) ||
		item->count > base_cursor_left(c) ||
		!base_cursor_bytes(c, item->count * unit, &item->bytes))
		return snap_item_cut(c, error);
	return HG_OK;
}

static enum hg_status decode_string(struct base_cursor *c, bool ids, unsigned bytes,
	struct snap_item *item, struct hg_error *error)
{
	item->tag = SNAP_TAG_STRING;
	if (!base_cursor_be(c, bytes, &item->count))
		return snap_item_cut(c, error);
	return snap_item_read_payload(c, ids, 1, item, error);
}

/* 'bytes' of the count; 0 for a single float, which has none. */
static enum hg_status decode_doubles(struct base_cursor *c, bool ids, unsigned bytes,
	struct snap_item *item, struct hg_error *error)
{
	item->tag = bytes ? SNAP_TAG_DOUBLE_ARRAY : SNAP_TAG_DOUBLE;
	item->count = 1;
	if (bytes && !base_cursor_be(c, bytes, &item->count))
		return snap_item_cut(c, error);
	return snap_item_read_payload(c, ids, 8, item, error);
}

/* A header word: tag in the low 8 bits, then 2 of colour, then the size and maybe a location id. */
static enum hg_status decode_block(
	struct base_cursor *c, unsigned bytes, struct snap_item *item, struct hg_error *error)
{
	uint64_t header;
	if (!base_cursor_be(c, bytes, &header))
		return snap_item_cut(c, error);
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
	struct base_cursor *c, bool ids, struct snap_item *item, struct hg_error *error)
{
	uint64_t offset = base_cursor_offset(c);
	const uint8_t *name = c->next;
	const uint8_t *nul = memchr(name, 0, base_cursor_left(c));
	if (!nul)
		return snap_item_cut(c, error);
	uint64_t length = (uint64_t)(nul - name);
	base_cursor_skip(c, length + 1);
	item->tag = SNAP_TAG_CUSTOM;
	item->custom = length == 2 && name[0] == '_' ? (char)name[1] : '\0';
	uint64_t bytes = item->custom == 'i' ? 4 : 8;
	if (item->custom == 'n') {
		if (!base_cursor_be(c, 1, &bytes))
			return snap_item_cut(c, error);
		if (bytes != 1 && bytes != 2)
			return base_corrupt(error, offset, "nativeint of unknown width");
		bytes *= 4;
	} else if (item->custom != 'i' && item->custom != 'j') {
		return unknown_custom(name, length, offset, error);
	}
	uint64_t raw;
	if (!base_cursor_be(c, (unsigned)bytes, &raw) ||
		(ids && !base_cursor_skip(c, SNAP_ITEM_ID_BYTES)))
		return snap_item_cut(c, error);
	item->number = snap_item_sign_extend(raw, 8 * (unsigned)bytes);
	return HG_OK;
}

/* The codes that are not small integers, strings or blocks; 'bytes' of their number or length. */
static const struct form {
	enum snap_item_kind kind;
	uint8_t bytes;
	bool little;
} forms[] = {
	[SNAP_CODE_INT8] = {SNAP_ITEM_INTEGER, 1, false},
	[SNAP_CODE_INT16] = {SNAP_ITEM_INTEGER, 2, false},
	[SNAP_CODE_INT32] = {SNAP_ITEM_INTEGER, 4, false},
	[SNAP_CODE_INT64] = {SNAP_ITEM_INTEGER, 8, false},
	[SNAP_CODE_SHARED8] = {SNAP_ITEM_SHARED, 1, false},
	[SNAP_CODE_SHARED16] = {SNAP_ITEM_SHARED, 2, false},
	[SNAP_CODE_SHARED32] = {SNAP_ITEM_SHARED, 4, false},
	[SNAP_CODE_DOUBLES32_LITTLE] = {SNAP_ITEM_DOUBLES, 4, true},
	[SNAP_CODE_BLOCK32] = {SNAP_ITEM_BLOCK, 4, false},
	[SNAP_CODE_STRING8] = {SNAP_ITEM_STRING, 1, false},
	[SNAP_CODE_STRING32] = {SNAP_ITEM_STRING, 4, false},
	[SNAP_CODE_DOUBLE_BIG] = {SNAP_ITEM_DOUBLES, 0, false},
	[SNAP_CODE_DOUBLE_LITTLE] = {SNAP_ITEM_DOUBLES, 0, true},
	[SNAP_CODE_DOUBLES8_BIG] = {SNAP_ITEM_DOUBLES, 1, false},
	[SNAP_CODE_DOUBLES8_LITTLE] = {SNAP_ITEM_DOUBLES, 1, true},
	[SNAP_CODE_DOUBLES32_BIG] = {SNAP_ITEM_DOUBLES, 4, false},
	[SNAP_CODE_CODE_POINTER] = {SNAP_ITEM_CODE, 4 + 16,
		false}, /* offset in the code, MD5 of the code */
	[SNAP_CODE_INFIX_POINTER] = {SNAP_ITEM_INFIX, 4,
		false}, /* offset in the closure, which follows */
	[SNAP_CODE_CUSTOM] = {SNAP_ITEM_CUSTOM, 0, false},
	[SNAP_CODE_BLOCK64] = {SNAP_ITEM_BLOCK, 8, false},
	[SNAP_CODE_SHARED64] = {SNAP_ITEM_SHARED, 8, false},
	[SNAP_CODE_STRING64] = {SNAP_ITEM_STRING, 8, false},
	[SNAP_CODE_CUSTOM_FIXED] = {SNAP_ITEM_CUSTOM, 0,
		false}, /* of integers: the same bytes as before */
};

enum hg_status snap_item_read_rare(struct base_cursor *c, bool ids, uint8_t code,
	struct snap_item *item, struct hg_error *error)
{
	if (code >= sizeof(forms) / sizeof(forms[0]) ||
		(code > SNAP_CODE_STRING64 && code < SNAP_CODE_CUSTOM_FIXED))
		return base_corrupt(error, base_cursor_offset(c) - 1,
			"code 0x%02x is not one of a marshalled value", code);
	const struct form *form = &forms[code];
	item->kind = form->kind;
	switch (form->kind) {
	case SNAP_ITEM_INTEGER:
		return decode_int(c, form->bytes, item, error);
	case SNAP_ITEM_SHARED:
		return base_cursor_be(c, form->bytes, &item->count) ? HG_OK
								    : snap_item_cut(c, error);
	case SNAP_ITEM_BLOCK:
		return decode_block(c, form->bytes, item, error);
	case SNAP_ITEM_STRING:
		return decode_string(c, ids, form->bytes, item, error);
	case SNAP_ITEM_DOUBLES:
		item->little = form->little;
		return decode_doubles(c, ids, form->bytes, item, error);
	case SNAP_ITEM_CUSTOM:
		return decode_custom(c, ids, item, error);
	default:
		return base_cursor_skip(c, form->bytes) ? HG_OK : snap_item_cut(c, error);
	}
}
bool snap_item_is_magic(uint64_t number)
{
	return number == MAGIC_STANDARD || number == MAGIC_IDS_01 || number == MAGIC_IDS_02;
}

/* The numbers, as they stand there; the cursor has as many bytes as a small header. */
static bool read_header_numbers(struct base_cursor *c, struct snap_item_header *h)
{
	uint64_t *small[] = {&h->data, &h->objects, &h->words32, &h->words64};
	uint64_t *big[] = {&h->data, &h->objects, &h->words64};
	struct base_cursor behind = *c;
	uint64_t zero;
	base_cursor_be(c, 4, &h->magic);
	h->big = h->magic == MAGIC_IDS_02 && base_cursor_skip(&behind, 4) &&
		 base_cursor_be(&behind, 4, &zero) && zero == 0;
	h->ids = !h->big && h->magic != MAGIC_STANDARD;
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

enum hg_status snap_item_read_header(
	struct base_cursor *c, struct snap_item_header *h, struct hg_error *error)
{
	uint64_t offset = base_cursor_offset(c), left = base_cursor_left(c);
	if (left < SNAP_ITEM_HEADER_BYTES || !read_header_numbers(c, h))
		return base_corrupt(error, offset, "%llu bytes are too few for a marshalled value",
			(unsigned long long)left);
	if (!snap_item_is_magic(h->magic))
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

bool snap_item_is_cut(struct base_cursor at)
{
	struct snap_item_header h;
	return base_cursor_left(&at) < SNAP_ITEM_HEADER_BYTES || !read_header_numbers(&at, &h) ||
	       (snap_item_is_magic(h.magic) && h.data > base_cursor_left(&at));
}

enum hg_status snap_item_check_block(const struct snap_item *item, uint64_t missing, uint64_t left,
	uint64_t offset, struct hg_error *error)
{
	if (item->tag >= SNAP_TAG_STRING - 1)
		return base_corrupt(
			error, offset, "a block of tag %u cannot have fields", item->tag);
	/* Each takes a byte at least. */
	if (item->count + missing > left)
		return base_corrupt(error, offset,
			"a block of %llu fields, and %llu others to come, in the %llu bytes left",
			(unsigned long long)item->count, (unsigned long long)missing,
			(unsigned long long)left);
	if (item->count > MAX_FIELDS)
		return base_fail(error, HG_ERROR_LIMIT, offset,
			"a marshalled block of %llu fields is too large",
			(unsigned long long)item->count);
	return HG_OK;
}
