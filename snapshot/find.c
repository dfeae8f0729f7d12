/* Single blocks where blocks do not lie as in memory: by the run that holds them. */
#include "snapshot/find.h"

#include "base/assert.h"

enum hg_status snap_finder_init(
	struct snap_finder *finder, const struct snap *snap, struct hg_error *error)
{
	finder->snap = snap;
	finder->first = finder->count = 0;
	finder->extent = (struct snap_extent){0};
	return snap_walk_init(&finder->walk, snap, error);
}

void snap_finder_release(struct snap_finder *finder)
{
	snap_walk_release(&finder->walk);
	*finder = (struct snap_finder){0};
}

/* Keeps the cells of the next run; false at the end of the entry. */
static bool next_cells(struct snap_finder *finder)
{
	struct snap_run run;
	if (!snap_walk_next(&finder->walk, &run))
		return false;
	struct snap_scan scan = snap_scan_run(finder->snap, &run);
	finder->first += finder->count;
	finder->count = 0;
	while (finder->count < SNAP_ENTRY_BLOCKS &&
		snap_scan_next(&scan, &finder->cells[finder->count]))
		finder->count++;
	return true;
}

bool snap_find_walking(struct snap_finder *finder, struct snap_rank rank, struct snap_cell *cell)
{
	if (rank.n - finder->first >= finder->count) {
		uint64_t entry = snap_entry_of(finder->snap, rank);
		finder->first = finder->snap->entries[entry].first_rank;
		finder->count = 0;
		snap_walk_range(&finder->walk, entry, entry + 1);
		do {
			if (!next_cells(finder))
				return false;
		} while (rank.n - finder->first >= finder->count);
	}
	base_assert(finder->first <= rank.n && finder->count <= SNAP_ENTRY_BLOCKS);
	*cell = finder->cells[rank.n - finder->first];
	return true;
}
