/*
 * A value of Marshal that is large and walked along its pointers, as a trie of calls: of each
 * object is kept where it is, and its fields are read from the file whenever they are asked for, in
 * their order.  So a value takes no more memory than 16 bytes per object; mostly its fields are the
 * int 0, of which eight are passed over at a time.  Strings, floats and custom blocks are objects
 * without fields.
 *
 * The bytes under the cursor must outlive the value.  They are checked when it is read; should they
 * change later, fields are wrong, but nothing is read from outside the value.
 */
#ifndef SNAPSHOT_MARSHAL_SPARSE_H
#define SNAPSHOT_MARSHAL_SPARSE_H

#include "base/arena.h"
#include "snapshot/marshal/item.h"

/* OTHER is a block without fields, or what cannot be. */
enum snap_field_kind { SNAP_FIELD_OTHER, SNAP_FIELD_INT, SNAP_FIELD_OBJECT };

/* Offsets in the data of the first byte of an object and of what follows it. */
struct snap_extent {
	uint32_t start, end;
	uint32_t next; /* number of the first object behind it and all that is in it */
	uint32_t mark; /* 0: none */
};

/*
 * What a block is marked with, of which this is the first field, while it is read: of blocks of tag
 * 0 that begin with an integer of 64 bits, if they are as mostly written.  NULL: no block is.
 */
struct snap_sparse_marks {
	uint32_t (*mark)(const void *data, int64_t first);
	const void *data;
};

/* Stays where it is, for its arena. */
struct snap_sparse {
	struct base_budget budget;
	struct base_arena arena;
	struct base_cursor data; /* of the encoded items; start is their start */
	uint32_t objects;        /* blocks with fields, strings, floats and custom blocks */
	struct snap_extent *extents;
	uint32_t fast_end; /* offsets below it have SNAP_ITEM_MOST_BYTES, and no location ids */
	bool ids;
};

struct snap_field {
	enum snap_field_kind kind;
	uint32_t object; /* of OBJECT: its number, below snap_sparse.objects */
	int64_t number;  /* of INT, else 0 */
};

/* A place among the fields of an object, of which 'number' is the next one. */
struct snap_fields {
	uint32_t number, size;
	uint32_t offset; /* of that field in the data */
	uint32_t object; /* number of the object that begins next */
};

struct snap_object {
	int tag;
	struct snap_fields fields; /* all of them; none if it is no block */
};

/*
 * Reads one value, header and data; the same is an error as of snap_marshal_read().  Released by
 * the caller, after failures too.
 */
enum hg_status snap_sparse_read(struct base_cursor *cursor, const struct snap_sparse_marks *marks,
	struct snap_sparse *sparse, struct hg_error *error);
void snap_sparse_release(struct snap_sparse *sparse);

/* An object by its number, which is one of the value. */
struct snap_object snap_sparse_object(const struct snap_sparse *sparse, uint32_t number);

/* The value itself. */
struct snap_field snap_sparse_root(const struct snap_sparse *sparse);

/* For snap_sparse_next() alone: there is no field where one was. */
static inline struct snap_field snap_sparse_lose(struct snap_fields *fields)
{
	fields->number = fields->size;
	return (struct snap_field){.kind = SNAP_FIELD_OTHER};
}

/* A new object that begins at an offset, and is passed over with all that is in it. */
static inline struct snap_field snap_sparse_inner(
	const struct snap_sparse *sparse, struct snap_fields *fields, uint32_t start)
{
	const uint32_t object = fields->object;
	if (object >= sparse->objects || sparse->extents[object].start != start)
		return snap_sparse_lose(fields);
	fields->offset = sparse->extents[object].end;
	fields->object = sparse->extents[object].next;
	return (struct snap_field){SNAP_FIELD_OBJECT, object, 0};
}

static inline struct snap_field snap_sparse_reference(struct snap_fields *fields, uint64_t back)
{
	if (back == 0 || back > fields->object)
		return snap_sparse_lose(fields);
	return (struct snap_field){SNAP_FIELD_OBJECT, (uint32_t)(fields->object - back), 0};
}

/* Any field, with a look at the end of the data; of infix pointers what they lead into. */
struct snap_field snap_sparse_any_field(
	const struct snap_sparse *sparse, struct snap_fields *fields);

/* The next field, if there is one left. */
static inline struct snap_field snap_sparse_next(
	const struct snap_sparse *sparse, struct snap_fields *fields)
{
	enum { INFIX_BYTES = 5 };
	const uint8_t *at = sparse->data.start + fields->offset;
	fields->number++;
	if (fields->offset >= sparse->fast_end)
		return snap_sparse_any_field(sparse, fields);
	if (*at == SNAP_CODE_INFIX_POINTER) {
		at += INFIX_BYTES;
		fields->offset += INFIX_BYTES;
	}
	const uint8_t code = *at;
	if (code > SNAP_CODE_SMALL_BLOCK + 15 ||
		(code == SNAP_CODE_BLOCK32 && snap_item_number(at + 1, 4) >> 10))
		return snap_sparse_inner(sparse, fields, fields->offset);
	if ((code & 0xc0) == SNAP_CODE_SMALL_INT) {
		fields->offset++;
		return (struct snap_field){.kind = SNAP_FIELD_INT, .number = code & 63};
	}
	if (code >= sizeof(snap_item_bytes))
		return snap_sparse_any_field(sparse, fields);
	const unsigned bytes = snap_item_bytes[code] - 1u;
	const uint64_t number = snap_item_number(at + 1, bytes);
	fields->offset += 1 + bytes;
	if (code >= SNAP_CODE_SHARED8)
		return snap_sparse_reference(fields, number);
	return (struct snap_field){.kind = SNAP_FIELD_INT,
		.number = snap_item_sign_extend(number, bytes == 8 ? 63 : 8 * bytes)};
}

/*
 * Field 'number', and goes on behind it; the int 0 if there is no such field.  Of earlier ones only
 * those may be asked for that snap_sparse_pass_zeros() passed over.
 */
static inline struct snap_field snap_sparse_field(
	const struct snap_sparse *sparse, struct snap_fields *fields, uint32_t number)
{
	struct snap_field field = {.kind = SNAP_FIELD_INT};
	if (number >= fields->size)
		return field;
	while (fields->number <= number)
		field = snap_sparse_next(sparse, fields);
	return field;
}

/* Goes on to the next field that is not the int 0, as it is mostly written, or behind the last. */
static inline void snap_sparse_pass_zeros(
	const struct snap_sparse *sparse, struct snap_fields *fields)
{
	const uint8_t *const data = sparse->data.start;
	while (fields->number < fields->size) {
		uint32_t run = 0, left = fields->size - fields->number;
		if (fields->offset < sparse->fast_end)
			run = snap_item_zeros(data + fields->offset);
		else if (fields->offset < base_cursor_left(&sparse->data))
			run = data[fields->offset] == SNAP_CODE_SMALL_INT;
		if (!run)
			return;
		run = run < left ? run : left;
		fields->offset += run;
		fields->number += run;
	}
}

#endif
