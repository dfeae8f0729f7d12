/*
 * Of heapgraph.h: patterns, and paths from the roots.
 */
#ifndef HEAPGRAPH_PATHS_H
#define HEAPGRAPH_PATHS_H

#include "heapgraph/nodes.h"

/*
 * A pattern is "type:RE", "loc:RE", "root:RE", "addr:0x..." or, bare, an address when it begins
 * with 0x, a location or its file or its file and line, a type as hg_type_name() gives it; if there
 * is none such, an RE for locations if it has a colon and a digit or no types are known, else for
 * types.  RE is a POSIX extended regular expression, unanchored.  A pattern selects blocks (of a
 * type or location, at an address) or root nodes.
 */
struct hg_selection {
	size_t count;
	hg_node *nodes;          /* ascending */
	uint64_t blocks;         /* how many of them are blocks */
	uint64_t bytes;          /* shallow */
	uint64_t retained_bytes; /* over the nodes that no other of them dominates */
	uint64_t offheap_bytes, retained_offheap_bytes; /* the same of memory outside the heap */
};

HG_API enum hg_status hg_select(
	struct hg_snapshot *snapshot, const char *pattern, struct hg_selection **out);
HG_API void hg_selection_release(struct hg_selection **selection);

/*
 * What a pattern that selects nothing may have been meant for: patterns that do select something,
 * whose names are near to it, at most five, the nearest first.
 */
struct hg_nearest {
	size_t count;
	const char **patterns;
	const char *message; /* "nothing matches 'Cach.entry'; the nearest is 'Cache.entry'" */
};

HG_API enum hg_status hg_find_nearest(
	struct hg_snapshot *snapshot, const char *pattern, struct hg_nearest **out);
HG_API void hg_nearest_release(struct hg_nearest **nearest);

/* One step of the shortest path from the virtual root to a node, holder before held. */
struct hg_step {
	hg_node node;
	uint64_t field;   /* of the holder that leads here; HG_UNKNOWN after roots */
	const char *name; /* of its class, as in the retention tree */
};

/*
 * Merged paths: the shortest path of every selected block, drawn together as in the retention tree:
 * roots by kind and name, blocks by class, and what repeats a class that stands above it on its
 * path belongs there (the cells of a list, the nodes of a tree).
 */
struct hg_path_row {
	hg_node node;           /* the first of them that the search met */
	uint32_t depth;         /* 0: a root */
	uint32_t location;      /* of all of them; 0 also if they have several */
	uint8_t tag;            /* of 'node' */
	uint64_t nodes;         /* merged in this row */
	uint64_t targets;       /* selected nodes reached through it, itself included */
	uint64_t bytes;         /* their shallow bytes */
	uint32_t type;          /* of all of them; 0 unknown */
	uint64_t offheap_bytes; /* of the selected nodes, outside the heap */
	const char *name;       /* of the class, as in the retention tree */
};

/* Steps [first, first + period * times): those of one period, of the same classes every time. */
struct hg_step_run {
	size_t first;
	size_t period; /* at most 3 */
	size_t times;  /* 1: they are shown one by one */
};

/* Roots of the stack or of C code that lead to a block, too: of one kind and name. */
struct hg_also_held {
	hg_node node;     /* the nearest of them */
	const char *name; /* "stack Server.copy server.ml:12:3-20" */
	uint64_t roots;
};

struct hg_why {
	uint64_t selected, reached, unreachable; /* of the nodes */
	size_t steps_count;
	struct hg_step **steps; /* to the selected node that retains most */
	size_t rows_count;
	struct hg_path_row **rows; /* depth first; lasting roots, then most targets first */
	size_t runs_count;
	struct hg_step_run **runs; /* of all steps; the last step is one of its own */
	/* Besides the root of the first step; the nearest first. */
	size_t also_held_count;
	struct hg_also_held **also_held;
	uint64_t also_held_roots;
};

HG_API enum hg_status hg_explain_nodes(
	struct hg_snapshot *snapshot, const hg_node *nodes, size_t count, struct hg_why **out);
HG_API void hg_why_release(struct hg_why **why);

/*
 * Who points to selected nodes: reachable holders of one class, through one of their fields; those
 * of arrays are one.
 */
struct hg_referring {
	const char *name; /* of the class, as in the retention tree */
	uint32_t type;    /* 0 unknown, or a root */
	bool is_root;
	bool is_element;    /* through any element of an array, 'field' for one */
	hg_node node;       /* the first of the holders */
	uint64_t field;     /* of it; HG_UNKNOWN: a root, or what a block holds besides fields */
	uint64_t pointers;  /* to selected nodes */
	uint64_t holders;   /* that have them */
	uint64_t targets;   /* that they lead to */
	uint64_t dominated; /* of these, by the holder itself: nothing else keeps them alive */
};

struct hg_referrers {
	uint64_t reached, unreachable; /* of the nodes */
	size_t count;
	struct hg_referring **rows; /* by pointers descending, then name and field */
};

HG_API enum hg_status hg_list_referrers(struct hg_snapshot *snapshot, const hg_node *nodes,
	size_t count, struct hg_referrers **out);
HG_API void hg_referrers_release(struct hg_referrers **referrers);

#endif
