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
	uint64_t field; /* of the holder that leads here; HG_UNKNOWN after roots */
};

/*
 * Merged paths: the shortest path of every selected block, drawn together where their steps have
 * the same root, or the same location and type (tag, if it is unknown).  Steps that repeat the one
 * before them (the cells of a list, the nodes of a tree) are one row.
 */
struct hg_path_row {
	hg_node node;           /* the first of them that the search met */
	uint32_t depth;         /* 0: a root */
	uint32_t location;      /* of all of them */
	uint8_t tag;            /* of 'node' */
	uint64_t nodes;         /* merged in this row */
	uint64_t targets;       /* selected nodes reached through it, itself included */
	uint64_t bytes;         /* their shallow bytes */
	uint32_t type;          /* of all of them; 0 unknown */
	uint64_t offheap_bytes; /* of the selected nodes, outside the heap */
};

struct hg_why {
	uint64_t selected, reached, unreachable; /* of the nodes */
	size_t steps_count;
	struct hg_step **steps; /* to the selected node that retains most */
	size_t rows_count;
	struct hg_path_row **rows; /* depth first, most targets first */
};

HG_API enum hg_status hg_explain_nodes(
	struct hg_snapshot *snapshot, const hg_node *nodes, size_t count, struct hg_why **out);
HG_API void hg_why_release(struct hg_why **why);

#endif
