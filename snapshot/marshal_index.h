/*
 * A value of Marshal that is asked where it lies: of each object is kept where it begins and ends,
 * 12 bytes, and its fields are decoded from the bytes under the cursor, which must outlive it.
 * Made for values that are large, of many small integers, and asked about once (marshal.h, where a
 * value becomes an array, answers faster).
 *
 * Fields are asked in their order.  What the bytes say is checked again when they are asked, so
 * that answers about a file that changes meanwhile are wrong, but lead nowhere.
 */
#ifndef SNAPSHOT_MARSHAL_INDEX_H
#define SNAPSHOT_MARSHAL_INDEX_H

#include "snapshot/marshal_item.h"

struct snap_index {
	const uint8_t *first, *end; /* of the encoded items */
	bool ids;
	uint32_t objects; /* blocks with fields, strings, floats and custom blocks */
	/* Of each, offsets in the items and how many objects there are before its end. */
	struct snap_extent {
		uint32_t start, end, after;
	} * extents;
};

/* Of a field: its offset in the items, and how many objects there are before it. */
struct snap_place {
	uint32_t next, objects;
};

enum snap_field_kind { SNAP_FIELD_OTHER, SNAP_FIELD_INT, SNAP_FIELD_OBJECT };

struct snap_field {
	enum snap_field_kind kind; /* OTHER: a block without fields, or what cannot be */
	uint32_t object;           /* of OBJECT: its number, below snap_index.objects */
	int64_t number;            /* of INT, else 0 */
};

struct snap_object {
	int tag;
	uint32_t size;           /* of blocks with fields, else 0 */
	struct snap_place first; /* of its fields */
};

/*
 * Reads one value, header and data; the same is an error as of snap_marshal_read().  Released by
 * the caller, after failures too.
 */
enum hg_status snap_index_read(
	struct base_cursor *cursor, struct snap_index *index, struct hg_error *error);
void snap_index_release(struct snap_index *index);

/* The value itself stands here. */
static inline struct snap_place snap_index_root(void)
{
	return (struct snap_place){0, 0};
}

/* An object by its number, which is one of the index. */
struct snap_object snap_index_object(const struct snap_index *index, uint32_t number);

/* For snap_index_next() alone. */
struct snap_field snap_index_next_rare(const struct snap_index *index, struct snap_place *place);

static inline struct snap_field snap_index_field_of_object(
	const struct snap_index *index, uint64_t number)
{
	struct snap_field field = {.kind = SNAP_FIELD_OBJECT, .object = (uint32_t)number};
	return number < index->objects ? field : (struct snap_field){.kind = SNAP_FIELD_OTHER};
}

/* The field at a place, and its place behind it. */
static inline struct snap_field snap_index_next(
	const struct snap_index *index, struct snap_place *place)
{
	enum { LONGEST = 16 };
	const uint8_t *p = index->first + place->next;
	if (index->end - p < LONGEST || index->ids)
		return snap_index_next_rare(index, place);
	const uint64_t bytes = __builtin_bswap64(base_load_u64le(p + 1));
	struct snap_field field = {.kind = SNAP_FIELD_INT};
	switch (*p) {
	case SNAP_CODE_INT8:
		place->next += 2;
		field.number = (int64_t)bytes >> 56;
		return field;
	case SNAP_CODE_INT16:
		place->next += 3;
		field.number = (int64_t)bytes >> 48;
		return field;
	case SNAP_CODE_INT32:
		place->next += 5;
		field.number = (int64_t)bytes >> 32;
		return field;
	case SNAP_CODE_INT64:
		place->next += 9;
		field.number = snap_item_sign_extend(bytes, 63);
		return field;
	case SNAP_CODE_SHARED8:
		place->next += 2;
		return snap_index_field_of_object(index, place->objects - (bytes >> 56));
	case SNAP_CODE_SHARED16:
		place->next += 3;
		return snap_index_field_of_object(index, place->objects - (bytes >> 48));
	case SNAP_CODE_SHARED32:
		place->next += 5;
		return snap_index_field_of_object(index, place->objects - (bytes >> 32));
	default:
		if ((*p & 0xc0) != SNAP_CODE_SMALL_INT)
			return snap_index_next_rare(index, place);
		place->next++;
		field.number = *p & 63;
		return field;
	}
}

/* How many of the next fields, of 'most', are the int 0 and were passed over. */
static inline uint32_t snap_index_skip_zeros(
	const struct snap_index *index, struct snap_place *place, uint32_t most)
{
	const uint8_t *p = index->first + place->next;
	uint32_t count = 0;
	while (count < most && p + count < index->end && p[count] == SNAP_CODE_SMALL_INT)
		count++;
	place->next += count;
	return count;
}

#endif
