/*
 * Who holds what no block holds alone: values that a list and a table have hang below neither, but
 * on the record that has both, or directly on "all roots".  In a series that tells which growing
 * paths are one leak, and names the roots of what hangs on none.
 */
#ifndef QUERY_RETENTION_SHARING_H
#define QUERY_RETENTION_SHARING_H

#include "query/retention/tree.h"

/* "global Cache.by_name;global Cache.by_age;2 more" and its NUL. */
enum { QUERY_MOST_HOLDERS = 3, QUERY_LONGEST_HELD_BY = 4096 };

/*
 * Sets 'sharings' of the tree, and 'held' of what hangs on "all roots" and is no root: of nodes
 * that retain HG_LEAST_GROWTH bytes and a ten-thousandth of everything.  Holders are what points to
 * those blocks of a node whose dominator is of the node above it; a pointer to a block further
 * inside holds nothing.  Roots that hold are told lasting ones first, those with most pointers
 * first, with the lines that define them, joined by ";".  Takes a pass over all pointers; needs
 * graph_nodes().
 */
enum hg_status query_find_sharing(struct hg_snapshot *snapshot, struct query_retention *tree);

#endif
