/*
 * Single blocks in any order: by its address where a block's words lie as in memory, else by the
 * run that holds it, which is kept for the next one.
 */
#ifndef SNAPSHOT_FIND_H
#define SNAPSHOT_FIND_H

#include "snapshot/process.h"
#include "snapshot/walk.h"

struct snap_finder {
	const struct snap *snap;
	struct snap_walk walk;
	struct snap_extent extent; /* of the last block that lay in one */
	/* The blocks of the last run: ranks [first, first + count). */
	struct snap_cell cells[SNAP_ENTRY_BLOCKS];
	uint32_t first, count;
};

enum hg_status snap_finder_init(
	struct snap_finder *finder, const struct snap *snap, struct hg_error *error);
void snap_finder_release(struct snap_finder *finder);

/* The next block of the last run, by rank; else by walking. */
bool snap_find_walking(struct snap_finder *finder, struct snap_rank rank, struct snap_cell *cell);

/*
 * A block by its rank and the address of its header.  The cell's fields live until the next call.
 * False only if the file changed behind our back.
 */
static inline bool snap_find(struct snap_finder *finder, struct snap_rank rank,
	struct snap_header_address address, struct snap_cell *cell)
{
	const struct snap *snap = finder->snap;
	struct snap_extent *extent = &finder->extent;
	uint64_t left;
	if (address.a - extent->start >= extent->end - extent->start &&
		!snap_process_extent(snap, address, extent))
		return snap_find_walking(finder, rank, cell);
	const snap_field *words =
		(const snap_field *)(const void *)(extent->bytes + (address.a - extent->start));
	left = (extent->end - address.a) / 8;
	if (left == 0)
		return snap_find_walking(finder, rank, cell);
	cell->address = address;
	cell->header = words[0];
	cell->wosize = snap_header_wosize(cell->header, snap->reserved);
	cell->tag = snap_header_tag(cell->header);
	cell->fields = words + 1;
	cell->field_count = snap_tag_has_fields(cell->tag) && !snap->no_fields ? cell->wosize : 0;
	return cell->field_count < left || snap_find_walking(finder, rank, cell);
}

/* Where 'count' words lie one after the other as in memory, in the extent of the block found last;
 * else NULL. */
static inline const snap_field *snap_find_words(
	const struct snap_finder *finder, uint64_t address, uint64_t count)
{
	const struct snap_extent *extent = &finder->extent;
	uint64_t distance = address - extent->start, size = extent->end - extent->start;
	if (distance >= size || (size - distance) / 8 < count)
		return NULL;
	return (const snap_field *)(const void *)(extent->bytes + distance);
}

/* Asks for the memory of a block that will be found soon. */
static inline void snap_find_soon(
	const struct snap_finder *finder, struct snap_header_address address)
{
	uint64_t distance = address.a - finder->extent.start;
	if (distance < finder->extent.end - finder->extent.start)
		__builtin_prefetch(finder->extent.bytes + distance);
}

#endif
