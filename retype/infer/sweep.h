/*
 * Sweeps: every block of a snapshot, or some by their bits, in order of addresses; and the shapes
 * of all, which are noted first, so that few proposals have to go to the heap.
 */
#ifndef RETYPE_INFER_SWEEP_H
#define RETYPE_INFER_SWEEP_H

#include "base/bits.h"
#include "retype/infer/heap.h"
#include "retype/infer/input.h"
#include "retype/infer/undo.h"

struct infer_sweeper {
	const struct infer_input *in;
	struct infer_heap *heap;
	const struct infer_undo *undo;
	const struct infer_failure *failure; /* after one no more blocks are looked at */
	uint64_t *candidates;                /* bits by rank, for sweeps over some blocks */
	uint64_t *described;                 /* bits by rank: closures, objects, custom blocks */
};

/* The bits are in the arena. */
enum hg_status infer_sweeper_init(struct infer_sweeper *sweeper, const struct infer_input *in,
	struct infer_heap *heap, const struct infer_undo *undo, const struct infer_failure *failure,
	struct base_arena *arena);

/* Notes the shape of every block. */
enum hg_status infer_note_shapes(struct infer_sweeper *sweeper, struct retype_block *blocks);

/* Every block whose bit is set (NULL: every block), in order of addresses.  Uses heap->finder. */
typedef void infer_visit_fn(void *context, uint32_t rank, const struct snap_cell *cell);
enum hg_status infer_sweep(
	struct infer_sweeper *sweeper, const uint64_t *bits, infer_visit_fn *visit, void *context);

/* The same for blocks with a tag, and for those of them that had no type before the stratum. */
enum hg_status infer_sweep_tag(
	struct infer_sweeper *sweeper, unsigned tag, infer_visit_fn *visit, void *context);
enum hg_status infer_sweep_untyped(
	struct infer_sweeper *sweeper, unsigned tag, infer_visit_fn *visit, void *context);

/* The i-th of the numbers 0 .. count - 1, in the order that is asked for. */
uint64_t infer_reorder(const struct infer_input *in, uint64_t i, uint64_t count);

#endif
