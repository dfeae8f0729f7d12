/* Where values lead, and the shapes of blocks. */
#include "retype/infer/heap.h"

#include "base/assert.h"

enum hg_status infer_heap_init(
	struct infer_heap *heap, const struct snap *snap, struct hg_error *error)
{
	heap->snap = snap;
	heap->blocks = NULL;
	BASE_TRY(snap_finder_init(&heap->finder, snap, error));
	BASE_TRY(snap_finder_init(&heap->aside, snap, error));
	return snap_finder_init(&heap->inside, snap, error);
}

void infer_heap_release(struct infer_heap *heap)
{
	snap_finder_release(&heap->finder);
	snap_finder_release(&heap->aside);
	snap_finder_release(&heap->inside);
}

uint32_t infer_rank(const struct snap *snap, struct snap_header_address header)
{
	return snap_line_rank(snap_ranks_line_of(&snap->ranks, header), header).n;
}

bool infer_resolve_stray(const struct snap *snap, uint64_t value, struct infer_target *target)
{
	enum snap_outcome outcome = snap_resolve(snap, value, &target->header);
	if (!snap_outcome_is_block(outcome))
		return false;
	target->is_infix = outcome == SNAP_INFIX;
	target->rank = infer_rank(snap, target->header);
	base_assert(target->rank < snap->block_count);
	return true;
}

bool infer_resolve(const struct snap *snap, uint64_t value, struct infer_target *target)
{
	if (value & 7)
		return false;
	struct snap_header_address header = snap_pointed_header(value);
	if (!snap_ranks_spans(&snap->ranks, header))
		return false;
	const struct snap_line *line = snap_ranks_line_of(&snap->ranks, header);
	if (!snap_line_is_block(line, header))
		return infer_resolve_stray(snap, value, target);
	*target = (struct infer_target){.rank = snap_line_rank(line, header).n, .header = header};
	base_assert(target->rank < snap->block_count);
	return true;
}

bool infer_find(struct snap_finder *finder, uint64_t value, struct infer_target *target,
	struct snap_cell *cell)
{
	return infer_resolve(finder->snap, value, target) &&
	       snap_find(finder, (struct snap_rank){target->rank}, target->header, cell);
}

struct infer_shape infer_read_shape(
	struct infer_heap *heap, uint32_t rank, struct snap_header_address header)
{
	struct snap_cell cell;
	base_assert(rank < heap->snap->block_count);
	struct infer_shape shape = {heap->blocks[rank].shape & 255, heap->blocks[rank].shape >> 8};
	if (shape.wosize == RETYPE_LONG &&
		snap_find(&heap->aside, (struct snap_rank){rank}, header, &cell))
		shape.wosize = cell.wosize;
	return shape;
}

bool infer_is_static(const struct snap *snap, struct snap_header_address header)
{
	const struct snap_chunk *chunk = snap_chunk_at(snap, header.a);
	return chunk && chunk->segment == HG_SEGMENT_STATIC;
}
