/*
 * Of heapgraph.h: the dominator tree, drawings of it, and what holds much.
 */
#ifndef HEAPGRAPH_TREE_H
#define HEAPGRAPH_TREE_H

#include "heapgraph/nodes.h"

struct hg_tree_options {
	size_t size;
	hg_node from;          /* subtree to show; HG_NO_NODE, or left out: everything */
	uint32_t max_depth;    /* 0: no limit */
	uint32_t max_children; /* shown per node, the largest first; 0: all */
	uint64_t min_bytes;    /* nodes that retain less are left out */
};

/* Depth first, children by retained bytes descending, then node. */
struct hg_tree_row {
	hg_node node;
	uint32_t depth;
	uint64_t children;        /* in the whole tree */
	uint64_t hidden_children; /* of these, left out below this row */
	uint64_t hidden_bytes;    /* what they retain together */
};

struct hg_tree {
	size_t count;
	struct hg_tree_row **rows; /* the first is the virtual root or 'from' */
};

HG_API enum hg_status hg_list_tree(
	struct hg_snapshot *snapshot, const struct hg_tree_options *options, struct hg_tree **out);
HG_API void hg_tree_release(struct hg_tree **tree);

/* Retention graph: the part of the dominator tree that matters, for drawing. */
struct hg_picture_options {
	size_t size;
	hg_node from;       /* HG_NO_NODE, or left out: the virtual root */
	uint32_t max_nodes; /* 0: 80 */
	uint64_t min_bytes; /* nodes that retain less are folded */
};

/* Either a node, or what was folded below one: 'folded' nodes, of which the rest is a summary. */
struct hg_picture_node {
	hg_node node;    /* HG_NO_NODE for a folded group */
	uint64_t folded; /* how many dominated nodes the group stands for; 0 for a node */
	uint64_t bytes;  /* shallow; of a group: 0 */
	uint64_t retained_bytes;
	uint32_t location; /* of a group: the one that retains half of it or more, 0 if none */
	uint32_t type;     /* the same */
};

enum hg_picture_edge_kind {
	HG_EDGE_HOLDS,     /* the holder points to it and dominates it */
	HG_EDGE_DOMINATES, /* dominates it without pointing to it */
	HG_EDGE_REFERS     /* points to it, but does not dominate it */
};

struct hg_picture_edge {
	uint32_t from, to; /* positions in nodes */
	enum hg_picture_edge_kind kind;
	uint64_t field; /* HG_UNKNOWN when no single field makes the edge */
};

struct hg_picture {
	size_t nodes_count;
	struct hg_picture_node **nodes; /* the first is the top */
	size_t edges_count;
	struct hg_picture_edge **edges;
	uint64_t total_bytes; /* retained by the virtual root: what shares are shares of */
};

HG_API enum hg_status hg_draw_picture(struct hg_snapshot *snapshot,
	const struct hg_picture_options *options, struct hg_picture **out);
HG_API void hg_picture_release(struct hg_picture **picture);

/*
 * Suspects: nodes right below the virtual root or below roots that retain at least a tenth of the
 * reachable bytes, followed down to where the memory is gathered.
 */
#define HG_LONGEST_CHAIN 10000

struct hg_suspect {
	hg_node node;         /* the top of it */
	hg_node accumulation; /* the deepest node that still has nearly all of it */
	uint64_t retained_bytes;
	uint64_t chain;    /* blocks alike from the accumulation point on, each holding the
			      next, as the cells of a list; 1 if there is no such chain;
			      counted up to HG_LONGEST_CHAIN */
	uint64_t children; /* of the accumulation point */
	uint32_t location; /* that retains most below the accumulation point; 0 if unknown */
	uint64_t location_bytes;
	uint32_t type; /* the same */
	uint64_t type_bytes;
};

struct hg_suspects {
	size_t count;
	struct hg_suspect **rows; /* by retained bytes descending */
};

HG_API enum hg_status hg_list_suspects(struct hg_snapshot *snapshot, struct hg_suspects **out);
HG_API void hg_suspects_release(struct hg_suspects **suspects);

#endif
