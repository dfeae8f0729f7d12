/*
 * Of heapgraph.h: what sets of nodes hold, each as a whole.
 *
 * A set retains what would be freed if all of its nodes were removed: what they dominate, and what
 * none of them holds alone, but all of them together do.
 */
#ifndef HEAPGRAPH_SETS_H
#define HEAPGRAPH_SETS_H

#include "heapgraph/nodes.h"

/* Nodes in any order; one that is named twice counts once.  None may be the virtual root. */
struct hg_set {
	const hg_node *nodes;
	size_t count;
};

struct hg_amount {
	uint64_t blocks, bytes, offheap_bytes;
};

struct hg_set_row {
	uint64_t nodes;            /* of the set, each once */
	uint64_t reachable;        /* of them */
	struct hg_amount own;      /* of those that are blocks */
	struct hg_amount retained; /* the reachable ones with all that goes with them */
	struct hg_amount shared;   /* what they lead to, and others hold, too */
};

/* A class of holders: "global Cache.table", "string list", "all roots". */
struct hg_set_holder {
	const char *name;
	uint32_t type;   /* for hg_type_name(); 0: a root, or unknown */
	bool is_root;    /* or all roots */
	bool is_member;  /* they belong to the set themselves */
	uint64_t nodes;  /* how many holders */
	hg_node largest; /* the one that retains most */
	struct hg_amount held;
};

struct hg_sets {
	size_t sets_count;
	struct hg_set_row **sets;    /* as they were given */
	struct hg_set_row all;       /* of all together, as one set */
	struct hg_amount everything; /* that the roots reach */
	struct hg_amount jointly;    /* retained by all together, and by no set alone */
	/*
	 * By whom nodes of all sets are dominated immediately, and who holds what is shared: whose
	 * pointer is the last, on a shortest path that avoids the sets, before what these lead to.
	 * By bytes held (hg_options.weight), then blocks, then name.
	 */
	size_t dominators_count;
	struct hg_set_holder **dominators;
	size_t sharers_count;
	struct hg_set_holder **sharers;
};

HG_API enum hg_status hg_compare_sets(struct hg_snapshot *snapshot, const struct hg_set *sets,
	size_t count, struct hg_sets **out);
HG_API void hg_sets_release(struct hg_sets **sets);

#endif
