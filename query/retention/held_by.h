/*
 * Who holds what hangs directly below "all roots" and is no root: the paths of a series name it
 * without one, as several roots hold it, or several slots of one frame.
 */
#ifndef QUERY_RETENTION_HELD_BY_H
#define QUERY_RETENTION_HELD_BY_H

#include "query/retention/tree.h"

/* "global Cache.by_name;global Cache.by_age;2 more" and its NUL. */
enum { QUERY_MOST_HOLDERS = 3, QUERY_LONGEST_HELD_BY = 4096 };

/*
 * Calls 'told' with the holders of each such node that retains a hundredth of everything or more,
 * in order of nodes: lasting roots first, those with most pointers first.  They are what points to
 * those of its blocks that no other block or root holds alone; a pointer to a block further inside
 * holds nothing.  If there is such a node, that takes a pass over all pointers.
 */
typedef enum hg_status query_held_by_fn(void *data, uint32_t node, const char *holders);
enum hg_status query_held_by(struct hg_snapshot *snapshot, const struct query_retention *tree,
	query_held_by_fn *told, void *data);

#endif
