/*
 * Children in the dominator tree, the largest first: what trees, pictures and suspects show.
 */
#ifndef QUERY_CHILDREN_H
#define QUERY_CHILDREN_H

#include "query/query.h"

struct children {
	uint32_t *positions; /* by retained bytes descending, then node; at most 'most' */
	uint64_t shown;
	uint64_t total;
	uint64_t hidden_bytes; /* retained by those not shown */
};

/*
 * At most 'most' (0: all) that retain at least min_bytes.  Needs graph_nodes().
 */
enum hg_status children_open(struct children *children, struct hg_snapshot *snapshot,
	uint32_t position, uint64_t most, uint64_t min_bytes);
void children_release(struct children *children);

#endif
