/*
 * The fields of a block that have types, by the block's own type.  Twice the same loops, once to
 * propose and once to look who is to blame, each with what it does built in: a call for each field
 * would be felt.
 */
#ifndef RETYPE_INFER_FIELDS_H
#define RETYPE_INFER_FIELDS_H

#include "retype/infer/blocks.h"

#define INFER_INLINE static inline __attribute__((always_inline))

/* What is done with each value, of a type that is known. */
struct infer_taker {
	void (*take)(void *context, uint64_t value, struct retype_term type);
	void *context;
};

INFER_INLINE void infer_take_value(
	struct infer_taker taker, uint64_t value, struct retype_term type)
{
	if (type.n)
		taker.take(taker.context, value, type);
}

INFER_INLINE void infer_take_fields(struct infer_taker taker, const struct retype_field *fields,
	uint64_t count, const snap_field *values, uint64_t value_count)
{
	for (uint64_t i = 0; i < count && i < value_count; i++)
		infer_take_value(taker, values[i], fields[i].type);
}

INFER_INLINE void infer_take_elements(
	struct infer_taker taker, struct retype_term inner, const struct snap_cell *cell)
{
	for (uint64_t i = 0; i < cell->field_count; i++)
		infer_take_value(taker, cell->fields[i], inner);
}

/* A poly variant is the hash of its tag, and the argument. */
INFER_INLINE void infer_take_tagged(struct infer_taker taker, struct retype_types *types,
	struct retype_term type, const struct snap_cell *cell)
{
	if (cell->field_count != 2 || !(cell->fields[0] & 1))
		return;
	int64_t hash = (int64_t)cell->fields[0] >> 1;
	infer_take_value(taker, cell->fields[1], retype_tagged(types, type, hash, NULL));
}

/* A slot leads nowhere; a value with arguments begins with its slot. */
INFER_INLINE void infer_take_extension(
	struct infer_taker taker, struct infer_blocks *blocks, const struct snap_cell *cell)
{
	if (cell->tag != 0 || cell->field_count < 2)
		return;
	const struct retype_extension *extension = infer_extension(blocks, cell->fields[0]);
	if (extension && extension->field_count == cell->field_count - 1)
		infer_take_fields(taker, extension->fields, extension->field_count,
			cell->fields + 1, cell->field_count - 1);
}

/* An object is the table of its methods, its number, and its variables (CamlinternalOO). */
INFER_INLINE void infer_take_object(
	struct infer_taker taker, struct infer_blocks *blocks, const struct snap_cell *cell)
{
	enum { VARIABLES = 2 };
	const struct retype_class *class = infer_class(blocks, cell);
	if (class && cell->field_count > VARIABLES)
		infer_take_fields(taker, class->fields, class->field_count,
			cell->fields + VARIABLES, cell->field_count - VARIABLES);
}

/* An ephemeron's words are no fields.  Empty ones lead to no block. */
INFER_INLINE void infer_take_ephemeron(struct infer_taker taker, const struct snap *snap,
	const struct retype_fit *fit, const struct snap_cell *cell)
{
	uint64_t value;
	if (!snap->process || fit->field_count == 0)
		return;
	for (uint64_t i = SNAP_EPHEMERON_DATA; i < cell->wosize; i++) {
		uint64_t key = i - SNAP_EPHEMERON_FIRST_KEY;
		uint64_t last = fit->field_count - 1;
		struct retype_term type = i == SNAP_EPHEMERON_DATA
						  ? fit->inner
						  : fit->fields[key < last ? key : last].type;
		if (snap_process_word(snap, snap_field_address(cell->address, i), &value))
			infer_take_value(taker, value, type);
	}
}

/* The fit is a copy: what is done with a value may ask for others. */
INFER_INLINE void infer_take_block(struct infer_taker taker, struct infer_blocks *blocks,
	const struct retype_fit *fit, struct retype_term type, const struct snap_cell *cell)
{
	switch (fit->match) {
	case RETYPE_FIELDS:
		infer_take_fields(
			taker, fit->fields, fit->field_count, cell->fields, cell->field_count);
		break;
	case RETYPE_ELEMENTS:
		infer_take_elements(taker, fit->inner, cell);
		break;
	case RETYPE_TAGGED:
		infer_take_tagged(taker, blocks->in->types, type, cell);
		break;
	case RETYPE_EXTENSION:
		infer_take_extension(taker, blocks, cell);
		break;
	case RETYPE_INSTANCE:
		infer_take_object(taker, blocks, cell);
		break;
	case RETYPE_WEAKLY:
		infer_take_ephemeron(taker, blocks->in->snap, fit, cell);
		break;
	case RETYPE_MISFIT:
	case RETYPE_UNTOLD:
	case RETYPE_LEAF:
	case RETYPE_INNER:
	case RETYPE_FUNCTION:
		break;
	}
}

#endif
