/*
 * Children in the dominator tree, the largest first: what trees, pictures and suspects show.
 */
#ifndef QUERY_SHARED_CHILDREN_H
#define QUERY_SHARED_CHILDREN_H

#include "query/shared/query.h"

struct query_children {
	struct graph_position
		*positions; /* by retained bytes descending, then node; at most 'most' */
	uint64_t shown;
	uint64_t total;
	uint64_t hidden_bytes; /* retained by those not shown */
};

/*
 * At most 'most' (0: all) that retain at least min_bytes.  Needs graph_nodes().
 */
enum hg_status query_children_open(struct query_children *children, struct hg_snapshot *snapshot,
	struct graph_position position, uint64_t most, uint64_t min_bytes);
void query_children_release(struct query_children *children);

#endif
