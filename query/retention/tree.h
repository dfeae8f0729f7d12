/*
 * The retention tree: the dominator tree with roots merged by kind and name, sibling blocks merged
 * by class, and recursion folded: a block whose class already stands on its path belongs to that
 * node.  So a list, a tree or a table of any size is a handful of nodes, and two snapshots of one
 * program have the same paths.
 *
 * A block belongs to one node, so that the own bytes of all nodes are the reachable bytes, and what
 * a node retains is what the blocks of its subtree have: for each root, what the dominator tree
 * says of it.  Made in one pass over the blocks and one over the dominator tree; 4 bytes per live
 * node, and some 120 for each node of the tree.
 */
#ifndef QUERY_RETENTION_TREE_H
#define QUERY_RETENTION_TREE_H

#include "query/retention/path_classes.h"
#include "query/retention/sampled.h"

/* Paths have at most so many names; what lies deeper belongs to their last node. */
enum { QUERY_DEEPEST_PATH = 500 };

struct query_retention_node {
	uint32_t parent; /* number of the node, smaller than its own; that of node 0 is 0 */
	uint32_t class;
	uint32_t depth;                     /* 0: all roots */
	uint32_t first_child, next_sibling; /* in no order; QUERY_NO_CLASS: none */
	uint32_t last_class, last_child;    /* found last, as neighbours are often alike */
	/* Examples, positions: of the block that retains most, the first, one by a fixed hash. */
	uint32_t largest, first, any;
	uint32_t any_hash;
	uint64_t largest_bytes;
	uint64_t blocks;         /* of roots: 0 */
	uint64_t bytes, offheap; /* its own */
	uint64_t retained, retained_offheap;
};

/* Of sharing.h: who holds a node that hangs on all roots and is none, and where that is defined. */
struct query_held {
	const char *by, *at; /* NULL: not asked */
};

/* Blocks of the one are held by blocks of the other that is neither it nor the one above it. */
struct query_sharing {
	uint32_t shared, holder; /* nodes */
};

struct query_retention {
	struct base_arena arena;
	struct query_path_classes classes;
	struct query_retention_node *nodes; /* parents before their children; node 0 is all roots */
	uint32_t count;
	uint64_t capacity;
	uint32_t *of_position; /* the node of each live one; QUERY_NO_CLASS if it is left out */
	struct query_sampled sampled;
	struct query_held *held; /* by node; NULL: of none */
	struct base_pool held_names;
	struct query_sharing *sharings;
	uint32_t sharing_count;
	struct base_map by_class; /* node of a class below a node: parent << 32 | class */
};

/*
 * Of everything, or if 'selected' is not NULL, a bit for each position, of these nodes and what
 * they dominate; they all hang directly below node 0 then.  In a series the
 * names of roots are those that other snapshots have, too: of stacks their function.
 */
enum hg_status query_retention_open(struct query_retention *retention, struct hg_snapshot *snapshot,
	const uint64_t *selected, bool in_series);
void query_retention_close(struct query_retention *retention);

/* The name of a node's class; "all roots" of node 0. */
const char *query_retention_name(const struct query_retention *retention, uint32_t node);

/* Whether blocks of it are roots, or records, of Gc.Memprof itself. */
bool query_retention_is_memprof(const struct query_retention *retention, uint32_t node);

#endif
