/*
 * What blocks tell of themselves: extension constructors by name, objects by their methods, and
 * whether what fields hold has the shape that a type says.
 */
#ifndef RETYPE_INFER_BLOCKS_H
#define RETYPE_INFER_BLOCKS_H

#include "base/hash.h"
#include "retype/infer/fits.h"
#include "retype/infer/heap.h"
#include "retype/infer/input.h"

struct infer_blocks {
	const struct infer_input *in;
	struct infer_heap *heap;
	struct infer_fits *fits;
	struct infer_failure *failure;
	struct base_map extensions; /* by the value of the slot: number + 1; 0: none */
	struct base_map classes;    /* by table of methods and size, the same */
};

void infer_blocks_init(struct infer_blocks *blocks, const struct infer_input *in,
	struct infer_heap *heap, struct infer_fits *fits, struct infer_failure *failure);
void infer_blocks_release(struct infer_blocks *blocks);

/* The extension constructor by its slot; NULL if the value is none or the profile has none. */
const struct retype_extension *infer_extension(struct infer_blocks *blocks, uint64_t slot);
/* Whether a value is the slot of an extension constructor. */
bool infer_is_extension_slot(struct infer_blocks *blocks, uint64_t value);
/* The class of an object; NULL if it is not known. */
const struct retype_class *infer_class(struct infer_blocks *blocks, const struct snap_cell *object);

/*
 * How many fields of a block hold what the type says they cannot: of the first ones, one level
 * deep.
 */
unsigned infer_count_misfits(struct infer_blocks *blocks, uint32_t rank,
	struct snap_header_address header, struct retype_term type);

/* Whether a value may be of a type, by its shape. */
bool infer_may_be(struct infer_blocks *blocks, uint64_t value, struct retype_term type);

/* Whether all values of a type are integers. */
bool infer_is_immediate(const struct retype_types *types, struct retype_term type);

#endif
