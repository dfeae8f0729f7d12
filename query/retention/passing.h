/*
 * What only roots that pass hold together, as several slots of one frame or two frames do: it
 * hangs directly below "all roots", and passes as they do.
 */
#ifndef QUERY_RETENTION_PASSING_H
#define QUERY_RETENTION_PASSING_H

#include "query/retention/tree.h"

/* A bit for each node: whether it is directly below "all roots" and all its blocks pass, or it is a
 * root that does; with free(). */
enum hg_status query_find_passing(
	struct hg_snapshot *snapshot, const struct query_retention *tree, uint64_t **out);

#endif
