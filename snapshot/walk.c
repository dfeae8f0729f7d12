/* Runs of blocks, index entry by index entry, and the look-up of one block by rank. */
#include "snapshot/walk.h"

#include "base/assert.h"
#include "base/search.h"

#include <stdlib.h>

/* Room for the blocks of one run; stays in the cache next to the processor. */
enum { SCRATCH_WORDS = 4096 };

enum hg_status snap_walk_init(
	struct snap_walk *walk, const struct snap *snap, struct hg_error *error)
{
	*walk = (struct snap_walk){.snap = snap};
	uint64_t words = snap->largest_block > SCRATCH_WORDS ? snap->largest_block : SCRATCH_WORDS;
	walk->scratch = words > SIZE_MAX / 8 ? NULL : malloc(words * 8);
	if (!walk->scratch)
		return base_no_memory(error, words * 8);
	walk->scratch_words = (size_t)words;
	return HG_OK;
}

void snap_walk_range(struct snap_walk *walk, uint64_t first, uint64_t end)
{
	base_assert(first <= end && end <= walk->snap->entry_count);
	walk->entry = first;
	walk->entry_end = end;
	walk->blocks_left = 0;
}

void snap_walk_release(struct snap_walk *walk)
{
	free(walk->scratch);
	*walk = (struct snap_walk){0};
}

enum hg_status snap_walks_open(
	const struct snap *snap, unsigned count, struct snap_walk **out, struct hg_error *error)
{
	struct snap_walk *walks = calloc(count, sizeof(*walks));
	if (!walks)
		return base_no_memory(error, count * sizeof(*walks));
	enum hg_status status = HG_OK;
	for (unsigned i = 0; i < count && status == HG_OK; i++)
		status = snap_walk_init(&walks[i], snap, error);
	if (status != HG_OK)
		snap_walks_close(walks, count);
	else
		*out = walks;
	return status;
}

void snap_walks_close(struct snap_walk *walks, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		snap_walk_release(&walks[i]);
	free(walks);
}

static void enter_entry(struct snap_walk *walk)
{
	const struct snap *snap = walk->snap;
	const struct snap_index_entry *entry = &snap->entries[walk->entry++];
	walk->cursor = base_cursor_over(snap->file.bytes, snap->file.size);
	walk->blocks_left = entry->blocks;
	walk->address = entry->address;
	walk->offset = entry->offset;
	/* An offset that is none leaves nothing to read for formats that read from the file. */
	if (!base_cursor_seek(&walk->cursor, entry->offset))
		walk->cursor.next = walk->cursor.end;
}

bool snap_walk_next(struct snap_walk *walk, struct snap_run *run)
{
	for (;;) {
		if (walk->blocks_left && walk->snap->format->next_run(walk, run)) {
			base_assert((const uint64_t *)run->words != walk->scratch ||
				    run->count <= walk->scratch_words);
			return true;
		}
		if (walk->entry >= walk->entry_end)
			return false;
		enter_entry(walk);
	}
}

uint64_t snap_entry_of(const struct snap *snap, struct snap_rank rank)
{
	base_assert(rank.n < snap->block_count);
	uint64_t entry = BASE_FIRST_ABOVE(snap->entries, snap->entry_count, first_rank, rank.n) - 1;
	base_assert(rank.n - snap->entries[entry].first_rank < snap->entries[entry].blocks);
	return entry;
}

bool snap_block(struct snap_walk *walk, struct snap_rank rank, struct snap_cell *cell)
{
	struct snap_run run;
	/* Who asks for one block asks more than once. */
	if (walk->found_next && walk->found_next - 1 == rank.n && walk->found.fields) {
		*cell = walk->found;
		return true;
	}
	uint64_t entry = snap_entry_of(walk->snap, rank);
	if (walk->found_next == 0 || walk->found_entry != entry || rank.n < walk->found_next) {
		walk->found_entry = entry;
		walk->found_next = walk->snap->entries[entry].first_rank;
		walk->scan = (struct snap_scan){0};
		walk->found = (struct snap_cell){0};
		snap_walk_range(walk, entry, entry + 1);
	}
	for (;;) {
		while (snap_scan_next(&walk->scan, cell))
			if (walk->found_next++ == rank.n) {
				walk->found = *cell;
				return true;
			}
		if (!snap_walk_next(walk, &run)) {
			walk->found_next = 0;
			walk->found = (struct snap_cell){0};
			return false;
		}
		walk->scan = snap_scan_run(walk->snap, &run);
	}
}
