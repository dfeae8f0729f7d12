/*
 * A value of Marshal whose blocks are mostly the int 0, as a trie of calls: of each block are kept
 * its tag, its size and the fields that are something else, with their numbers, side by side.  So
 * whoever follows pointers has all of a block in a cache line or two, and needs the file no more.
 * Strings, floats and custom blocks are objects without fields.
 *
 * Cells of 32 bits: of an object size << 8 | tag, and of each field kept its number << 3 | kind and
 * none to two cells of what it is; SNAP_SPARSE_END ends it.
 */
#ifndef SNAPSHOT_MARSHAL_SPARSE_H
#define SNAPSHOT_MARSHAL_SPARSE_H

#include "base/arena.h"
#include "snapshot/marshal/item.h"

/* Of fields: OTHER is a block without fields, or what cannot be; INT64 has two cells, low first. */
enum snap_field_kind {
	SNAP_FIELD_OTHER,
	SNAP_FIELD_INT,
	SNAP_FIELD_OBJECT,
	SNAP_FIELD_INFIX, /* of cells alone: to a later field of an object */
	SNAP_FIELD_INT64  /* of cells alone */
};
enum { SNAP_SPARSE_KIND_BITS = 3 };
#define SNAP_SPARSE_END UINT32_MAX

/* Stays where it is, for its arena. */
struct snap_sparse {
	struct base_budget budget;
	struct base_arena arena;
	uint32_t objects; /* blocks with fields, strings, floats and custom blocks */
	uint32_t *starts; /* of each, its first cell */
	uint32_t *cells;
	uint64_t cell_count;
};

struct snap_field {
	enum snap_field_kind kind; /* OTHER, INT or OBJECT */
	uint32_t object;           /* of OBJECT: its number, below snap_sparse.objects */
	int64_t number;            /* of INT, else 0 */
};

struct snap_object {
	int tag;
	uint32_t size;  /* of blocks with fields, else 0 */
	uint32_t first; /* cell of its fields */
};

/*
 * Reads one value, header and data; the same is an error as of snap_marshal_read().  Memory is 4
 * bytes per object, 8 to 12 per object and field that is not 0.  Released by the caller, after
 * failures too.
 */
enum hg_status snap_sparse_read(
	struct base_cursor *cursor, struct snap_sparse *sparse, struct hg_error *error);
void snap_sparse_release(struct snap_sparse *sparse);

/* Cells behind the first one of a field. */
static inline uint32_t snap_sparse_width(uint32_t cell)
{
	return 0x21110u >> 4 * (cell & 7) & 3;
}

/* An object by its number, which is one of the value. */
static inline struct snap_object snap_sparse_object(
	const struct snap_sparse *sparse, uint32_t number)
{
	const uint32_t start = sparse->starts[number], header = sparse->cells[start];
	return (struct snap_object){(int)(header & 255), header >> 8, start + 1};
}

/* Field 'number' of an object, of which *cell is no later one; *cell goes on behind it. */
static inline struct snap_field snap_sparse_field(
	const struct snap_sparse *sparse, uint32_t *cell, uint32_t number)
{
	const uint32_t *at = sparse->cells + *cell;
	while (*at >> SNAP_SPARSE_KIND_BITS < number)
		at += 1 + snap_sparse_width(*at);
	struct snap_field field = {.kind = SNAP_FIELD_INT};
	if (*at >> SNAP_SPARSE_KIND_BITS == number) {
		switch ((enum snap_field_kind)(*at & 7)) {
		case SNAP_FIELD_INT:
			field.number = (int32_t)at[1];
			break;
		case SNAP_FIELD_INT64:
			field.number = (int64_t)((uint64_t)at[2] << 32 | at[1]);
			break;
		case SNAP_FIELD_OBJECT:
		case SNAP_FIELD_INFIX:
			field.kind = SNAP_FIELD_OBJECT;
			field.object = at[1];
			break;
		default:
			field.kind = SNAP_FIELD_OTHER;
		}
		at += 1 + snap_sparse_width(*at);
	}
	*cell = (uint32_t)(at - sparse->cells);
	return field;
}

/* The value itself. */
static inline struct snap_field snap_sparse_root(const struct snap_sparse *sparse)
{
	uint32_t cell = 1;
	return snap_sparse_field(sparse, &cell, 0);
}

/* Whether that field is the int 0; *cell goes on to it. */
static inline bool snap_sparse_is_zero(
	const struct snap_sparse *sparse, uint32_t *cell, uint32_t number)
{
	const uint32_t *at = sparse->cells + *cell;
	while (*at >> SNAP_SPARSE_KIND_BITS < number)
		at += 1 + snap_sparse_width(*at);
	*cell = (uint32_t)(at - sparse->cells);
	return *at >> SNAP_SPARSE_KIND_BITS > number;
}

/* Fetches the objects that an object leads to into the cache. */
static inline void snap_sparse_prefetch(const struct snap_sparse *sparse, uint32_t cell)
{
	for (const uint32_t *at = sparse->cells + cell; *at != SNAP_SPARSE_END;
		at += 1 + snap_sparse_width(*at))
		if ((*at & 7) == SNAP_FIELD_OBJECT)
			__builtin_prefetch(sparse->cells + sparse->starts[at[1]]);
}

#endif
