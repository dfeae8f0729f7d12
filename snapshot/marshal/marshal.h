/*
 * Values written by OCaml's Marshal, as far as compilers, dumpers of the memprof line and Spacetime
 * write them: .prof, .locations, process_info, .cmt, series.  Three dialects, told apart by the
 * magic number: the standard one, with small and big headers, and two whose blocks carry a location
 * id (which is skipped).
 *
 * A value is kept as one array of 32-bit cells: every block is a header cell and a cell per field.
 * Strings, numbers that do not fit a cell, floats and custom blocks stay where they are in the file
 * and are decoded when asked for, so the bytes under the cursor must outlive the value.  A value
 * may be cyclic: whoever walks it bounds the walk, for instance by snap_marshal.objects.
 */
#ifndef SNAPSHOT_MARSHAL_H
#define SNAPSHOT_MARSHAL_H

#include "base/cursor.h"
#include "base/error.h"
#include "base/pool.h"
#include "snapshot/header.h"

#include <stdbool.h>

/*
 * An integer, a pointer to an object, or absent (the zero value).  Handles mean something only
 * together with the snap_marshal they came from.
 */
struct snap_value {
	uint32_t bits;
};

struct snap_marshal {
	struct snap_value root;
	uint32_t objects; /* blocks with fields, strings, floats and custom blocks */
	uint64_t offset;  /* of the header in the file, for messages */
	const uint32_t *cells;
	uint64_t cell_count;
	struct base_cursor data; /* of the encoded items; start is the start of the file */
	bool ids;                /* blocks carry location ids */
};

/* Whether the bytes begin with the magic number of one of the dialects. */
bool snap_marshal_begins(const uint8_t *bytes, size_t size);

/*
 * Reads one value, header and data, and leaves the cursor after it.  HG_ERROR_INPUT with the
 * offset of the first contradiction; HG_ERROR_LIMIT for a GiB of data or as many words, or 2^24 - 2
 * fields in one block.  Cells come from 'pool'; they and what is needed while reading stay below 24
 * bytes per byte of data, about 3 for values that occur.
 */
enum hg_status snap_marshal_read(struct base_cursor *cursor, struct base_pool *pool,
	struct snap_marshal *out, struct hg_error *error);

/* Leaves the cursor after a value, without a look at its data. */
enum hg_status snap_marshal_skip(struct base_cursor *cursor, struct hg_error *error);
/* Whether a value begins here whose end is not there any more. */
bool snap_marshal_is_cut(struct base_cursor at);
/* The float that is the first field of a block, of which nothing else is read. */
bool snap_marshal_first_double(struct base_cursor at, double *out);

static inline bool snap_value_absent(struct snap_value value)
{
	return value.bits == 0;
}

static inline bool snap_value_is_zero(struct snap_value value)
{
	return value.bits == 1;
}

/* Blocks with fields are in cells; all else but small integers is decoded when asked for. */
static inline bool snap_value_is_block(struct snap_value value)
{
	return (value.bits & 3) == 0 && value.bits != 0;
}

/* Of a block with fields: where its header is among the cells, below snap_marshal_cells(). */
static inline uint32_t snap_marshal_cell(struct snap_value value)
{
	return value.bits >> 2;
}

static inline uint64_t snap_marshal_cells(const struct snap_marshal *m)
{
	return m->cell_count;
}

/* Physical equality. */
static inline bool snap_value_same(struct snap_value a, struct snap_value b)
{
	return a.bits == b.bits;
}

/*
 * All questions may be asked of every value, absent ones too: what does not apply is answered by
 * false, 0 or absent.  So a chain of fields needs one check, at its end.
 */

bool snap_marshal_encoded_int(const struct snap_marshal *m, struct snap_value value, int64_t *out);

static inline bool snap_marshal_int(
	const struct snap_marshal *m, struct snap_value value, int64_t *out)
{
	if (!(value.bits & 1))
		return snap_marshal_encoded_int(m, value, out);
	*out = (int64_t)((uint64_t)value.bits << 32) >> 33;
	return true;
}

static inline bool snap_marshal_is_int(const struct snap_marshal *m, struct snap_value value)
{
	int64_t ignored;
	return snap_marshal_int(m, value, &ignored);
}

/* Tag of an object; -1 for integers, code pointers and absent. */
int snap_marshal_encoded_tag(const struct snap_marshal *m, struct snap_value value);

static inline int snap_marshal_tag(const struct snap_marshal *m, struct snap_value value)
{
	return snap_value_is_block(value) ? (int)(m->cells[value.bits >> 2] & 255)
					  : snap_marshal_encoded_tag(m, value);
}

/* Fields of a block, or numbers in a float array (1 for a float). */
uint32_t snap_marshal_encoded_size(const struct snap_marshal *m, struct snap_value value);

static inline uint32_t snap_marshal_size(const struct snap_marshal *m, struct snap_value value)
{
	return snap_value_is_block(value) ? m->cells[value.bits >> 2] >> 8
					  : snap_marshal_encoded_size(m, value);
}

/* Absent past the end.  A pointer into a closure is answered by the closure. */
static inline struct snap_value snap_marshal_field(
	const struct snap_marshal *m, struct snap_value value, uint64_t index)
{
	const uint32_t position = value.bits >> 2;
	if (!snap_value_is_block(value) || index >= m->cells[position] >> 8)
		return (struct snap_value){0};
	return (struct snap_value){m->cells[position + 1 + index]};
}

/* The bytes lie in the file, without a NUL after them. */
bool snap_marshal_string(const struct snap_marshal *m, struct snap_value value,
	const uint8_t **bytes, uint32_t *length);

/* Number 'index' of a float array; number 0 of a float. */
bool snap_marshal_double(
	const struct snap_marshal *m, struct snap_value value, uint32_t index, double *out);

/* A boxed integer: 'kind' is 'i' (int32), 'j' (int64) or 'n' (nativeint). */
bool snap_marshal_custom(
	const struct snap_marshal *m, struct snap_value value, char *kind, int64_t *out);

#endif
