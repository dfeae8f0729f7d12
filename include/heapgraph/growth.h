/*
 * Of heapgraph.h: what several snapshots of a program show.
 */
#ifndef HEAPGRAPH_GROWTH_H
#define HEAPGRAPH_GROWTH_H

#include "heapgraph/classes.h"

/* Growth between two snapshots of the same program, rows matched by name. */
struct hg_growth {
	uint32_t old_id, new_id; /* class in either snapshot; UINT32_MAX when it has none there */
	uint64_t blocks_old, blocks_new;
	uint64_t bytes_old, bytes_new;
	uint64_t retained_old, retained_new;
};

struct hg_diff {
	enum hg_key key;
	size_t count;
	struct hg_growth **rows; /* by |bytes_new - bytes_old| descending, then name; unchanged
				   classes are left out */
};

HG_API enum hg_status hg_compare_snapshots(struct hg_snapshot *old_snapshot,
	struct hg_snapshot *new_snapshot, enum hg_key key, struct hg_diff **out);
HG_API void hg_diff_release(struct hg_diff **diff);

#endif
