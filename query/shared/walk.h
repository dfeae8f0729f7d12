/*
 * All blocks of a snapshot in order of addresses, each with its rank; no more of them than were
 * counted, though the file may have changed since.
 */
#ifndef QUERY_SHARED_WALK_H
#define QUERY_SHARED_WALK_H

#include "query/shared/query.h"

struct query_walk {
	const struct snap *snap;
	struct snap_walk walk;
	struct snap_scan scan;
	uint32_t next;
};

static inline enum hg_status query_walk_open(struct query_walk *w, struct hg_snapshot *snapshot)
{
	*w = (struct query_walk){.snap = &snapshot->snap};
	BASE_TRY(snap_walk_init(&w->walk, w->snap, &snapshot->session->error));
	snap_walk_range(&w->walk, 0, w->snap->entry_count);
	return HG_OK;
}

/* False after the last one; the cell is valid until the next call. */
static inline bool query_walk_next(struct query_walk *w, uint32_t *rank, struct snap_cell *cell)
{
	struct snap_run run;
	while (w->next < w->snap->block_count) {
		if (snap_scan_next(&w->scan, cell)) {
			*rank = w->next++;
			return true;
		}
		if (!snap_walk_next(&w->walk, &run))
			break;
		w->scan = snap_scan_run(w->snap, &run);
	}
	return false;
}

static inline void query_walk_close(struct query_walk *w)
{
	snap_walk_release(&w->walk);
}

#endif
