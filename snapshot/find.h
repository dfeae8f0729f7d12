/*
 * Single blocks in any order: by its address where a block's words lie as in memory, else by the
 * run that holds it, which is kept for the next one.
 */
#ifndef SNAPSHOT_FIND_H
#define SNAPSHOT_FIND_H

#include "snapshot/walk.h"

struct snap_finder {
	const struct snap *snap;
	struct snap_walk walk;
	/* The blocks of the last run: ranks [first, first + count). */
	struct snap_cell cells[SNAP_STRETCH_BLOCKS];
	uint32_t first, count;
};

enum hg_status snap_finder_init(
	struct snap_finder *finder, const struct snap *snap, struct hg_error *error);
void snap_finder_release(struct snap_finder *finder);

/* The next block of the last run, by rank; else by walking. */
bool snap_find_walking(struct snap_finder *finder, struct snap_rank rank, struct snap_cell *cell);

/*
 * A block by its rank and the word of its header (address >> 3).  The cell's fields live until the
 * next call.  False only if the file changed behind our back.
 */
static inline bool snap_find(
	struct snap_finder *finder, struct snap_rank rank, uint64_t word, struct snap_cell *cell)
{
	const struct snap *snap = finder->snap;
	const snap_field *words =
		snap->format->block_words ? snap->format->block_words(snap, 8 * word) : NULL;
	if (!words)
		return snap_find_walking(finder, rank, cell);
	cell->address = 8 * word;
	cell->header = words[0];
	cell->wosize = snap_header_wosize(cell->header, snap->reserved);
	cell->tag = snap_header_tag(cell->header);
	cell->fields = words + 1;
	cell->field_count = snap_tag_has_fields(cell->tag) && !snap->no_fields ? cell->wosize : 0;
	return true;
}

#endif
