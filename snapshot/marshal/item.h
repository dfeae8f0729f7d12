/*
 * Values of Marshal item by item, in all dialects (marshal.h): what the readers of whole values
 * share.  Of sizes only those are checked that the bytes under the cursor bound.
 */
#ifndef SNAPSHOT_MARSHAL_ITEM_H
#define SNAPSHOT_MARSHAL_ITEM_H

#include "base/cursor.h"
#include "base/error.h"
#include "snapshot/header.h"

/* What extern.c calls SNAP_CODE_*. */
enum {
	SNAP_CODE_INT8,
	SNAP_CODE_INT16,
	SNAP_CODE_INT32,
	SNAP_CODE_INT64,
	SNAP_CODE_SHARED8,
	SNAP_CODE_SHARED16,
	SNAP_CODE_SHARED32,
	SNAP_CODE_DOUBLES32_LITTLE,
	SNAP_CODE_BLOCK32,
	SNAP_CODE_STRING8,
	SNAP_CODE_STRING32,
	SNAP_CODE_DOUBLE_BIG,
	SNAP_CODE_DOUBLE_LITTLE,
	SNAP_CODE_DOUBLES8_BIG,
	SNAP_CODE_DOUBLES8_LITTLE,
	SNAP_CODE_DOUBLES32_BIG,
	SNAP_CODE_CODE_POINTER,
	SNAP_CODE_INFIX_POINTER,
	SNAP_CODE_CUSTOM,
	SNAP_CODE_BLOCK64,
	SNAP_CODE_SHARED64,
	SNAP_CODE_STRING64,
	SNAP_CODE_CUSTOM_FIXED = 0x19,
	SNAP_CODE_SMALL_STRING = 0x20,
	SNAP_CODE_SMALL_INT = 0x40,
	SNAP_CODE_SMALL_BLOCK = 0x80
};

enum snap_item_kind {
	SNAP_ITEM_INTEGER,
	SNAP_ITEM_BLOCK,
	SNAP_ITEM_STRING,
	SNAP_ITEM_DOUBLES,
	SNAP_ITEM_CUSTOM,
	SNAP_ITEM_SHARED,
	SNAP_ITEM_CODE,
	SNAP_ITEM_INFIX
};

/* One step of the encoding; of a block only its header. */
struct snap_item {
	enum snap_item_kind kind;
	uint8_t tag;          /* of objects */
	bool little;          /* SNAP_ITEM_DOUBLES */
	char custom;          /* SNAP_ITEM_CUSTOM: 'i', 'j' or 'n' */
	uint64_t count;       /* fields, bytes, numbers, or how many objects back */
	int64_t number;       /* SNAP_ITEM_INTEGER, SNAP_ITEM_CUSTOM */
	const uint8_t *bytes; /* SNAP_ITEM_STRING, SNAP_ITEM_DOUBLES */
};

/* Bytes of a small header, and of a location id. */
enum { SNAP_ITEM_HEADER_BYTES = 20, SNAP_ITEM_ID_BYTES = 3 };

struct snap_item_header {
	uint64_t magic, data, objects, words32, words64;
	bool big;
	bool ids; /* blocks, strings and floats carry location ids */
};

bool snap_item_is_magic(uint64_t number);

/* Leaves the cursor behind it.  HG_ERROR_INPUT, or HG_ERROR_LIMIT for a GiB of data. */
enum hg_status snap_item_read_header(
	struct base_cursor *c, struct snap_item_header *header, struct hg_error *error);
/* Whether a value begins here whose end is not there any more. */
bool snap_item_is_cut(struct base_cursor at);

static inline int64_t snap_item_sign_extend(uint64_t value, unsigned bits)
{
	unsigned shift = 64 - bits;
	return (int64_t)(value << shift) >> shift;
}

/*
 * What may be told of an item that has so many bytes before the end of the data, and carries no
 * location id, without a check.
 */
enum { SNAP_ITEM_MOST_BYTES = 16 };

/* By code, of integers and of references back: their bytes with the code. */
static const uint8_t snap_item_bytes[] = {2, 3, 5, 9, 2, 3, 5};

/* How many of the next eight items are the int 0. */
static inline unsigned snap_item_zeros(const uint8_t *at)
{
	const uint64_t other = base_load_u64le(at) ^ UINT64_C(0x4040404040404040);
	return other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
}

/* A number of 1, 2, 4 or 8 bytes. */
static inline uint64_t snap_item_number(const uint8_t *at, unsigned bytes)
{
	return __builtin_bswap64(base_load_u64le(at)) >> (64 - 8 * bytes);
}

/* HG_ERROR_INPUT: the value ends inside an item. */
enum hg_status snap_item_cut(const struct base_cursor *c, struct hg_error *error);
/* For snap_item_read() alone. */
enum hg_status snap_item_read_payload(struct base_cursor *c, bool ids, unsigned unit,
	struct snap_item *item, struct hg_error *error);
enum hg_status snap_item_read_rare(struct base_cursor *c, bool ids, uint8_t code,
	struct snap_item *item, struct hg_error *error);

/*
 * Whether a block with fields may be: its tag, and that there is a byte at least for each of its
 * fields and of the 'missing' ones of blocks around it, in the bytes 'left'.
 */
enum hg_status snap_item_check_block(const struct snap_item *item, uint64_t missing, uint64_t left,
	uint64_t offset, struct hg_error *error);

static inline enum hg_status snap_item_read(
	struct base_cursor *c, bool ids, struct snap_item *item, struct hg_error *error)
{
	uint8_t code;
	if (!base_cursor_u8(c, &code))
		return snap_item_cut(c, error);
	if (code >= SNAP_CODE_SMALL_BLOCK) {
		item->kind = SNAP_ITEM_BLOCK;
		item->tag = code & 15;
		item->count = code >> 4 & 7;
		if (ids && item->count && !base_cursor_skip(c, SNAP_ITEM_ID_BYTES))
			return snap_item_cut(c, error);
		return HG_OK;
	}
	if (code >= SNAP_CODE_SMALL_INT) {
		item->kind = SNAP_ITEM_INTEGER;
		item->number = code & 63;
		return HG_OK;
	}
	if (code >= SNAP_CODE_SMALL_STRING) {
		item->kind = SNAP_ITEM_STRING;
		item->tag = SNAP_TAG_STRING;
		item->count = code & 31;
		return snap_item_read_payload(c, ids, 1, item, error);
	}
	return snap_item_read_rare(c, ids, code, item, error);
}

#endif
