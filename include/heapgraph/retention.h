/*
 * Of heapgraph.h: the retention tree.
 *
 * It is the dominator tree with roots merged by kind and name, sibling blocks merged by class, and
 * recursion folded: a block whose class already stands on its path belongs to that node.  The class
 * of a block is its type; where that is unknown its tag, size and location, or its function.  Names
 * hold no addresses, so that two snapshots of a program have the same paths.
 */
#ifndef HEAPGRAPH_RETENTION_H
#define HEAPGRAPH_RETENTION_H

#include "heapgraph/nodes.h"

struct hg_retention;

struct hg_retention_options {
	size_t size;
	const char *from; /* a pattern as for hg_select(): only what these blocks or roots hold,
			     each directly below the first row; NULL: everything */
};

/*
 * One node.  All 'bytes' are the reachable bytes; retained ones are those of the node and all below
 * it, the first row's again the reachable bytes, a root's what hg_block says of all its slots.
 */
struct hg_retention_row {
	uint32_t parent; /* number of a row before it; that of row 0 is 0 */
	uint32_t depth;  /* 0: all roots */
	uint32_t children;
	const char *name; /* "global Cache.table", "(string, Cache.entry) Hashtbl.t" */
	uint32_t type;    /* for hg_type_name(); 0: a root, or unknown */
	bool is_root;
	bool is_memprof;        /* records of Gc.Memprof itself */
	enum hg_root_kind kind; /* of roots */
	uint64_t blocks;        /* of roots: 0 */
	uint64_t bytes, offheap_bytes;
	uint64_t retained_bytes, retained_offheap_bytes;
	uint64_t weight; /* what it retains, as hg_options.weight: both, or only the first */
	/* Examples: the one that retains most, the first, one at random but always the same. */
	hg_node largest, first, any;
};

HG_API enum hg_status hg_retention_open(struct hg_snapshot *snapshot,
	const struct hg_retention_options *options, struct hg_retention **out);
HG_API void hg_retention_close(struct hg_retention *retention);

/* Depth first, children by weight descending, then name. */
HG_API size_t hg_retention_count(const struct hg_retention *retention);
/* NULL past the end; valid as long as the tree. */
HG_API const struct hg_retention_row *hg_retention_at(
	const struct hg_retention *retention, size_t row);

/*
 * The names from the root on, joined by " / ".  A name that holds that, ends with " /" or begins
 * with a quotation mark stands in quotation marks, and those in it are doubled.  "all roots" for
 * row 0.
 */
HG_API size_t hg_retention_path(
	const struct hg_retention *retention, size_t row, char *buffer, size_t size);

/* Bytes of the first name of a path, as it stands there; " / " follows, or the end. */
HG_API size_t hg_path_first_name(const char *path);

/*
 * Where the blocks of a row are made: "file:line"s joined by ";".  First lines of the program's own
 * source, where the class is made, or if that is in libraries only, where the class below it is
 * made that retains most; then the definition of the root; lines of libraries last.  And that
 * definition alone.  "" if nothing is known.
 */
HG_API size_t hg_retention_made_at(
	const struct hg_retention *retention, size_t row, char *buffer, size_t size);
HG_API size_t hg_retention_defined_at(
	const struct hg_retention *retention, size_t row, char *buffer, size_t size);

/*
 * Pointers that are no dominance, from row to row: who shares with whom what hangs higher up.  Made
 * when first asked for; by 'to', pointers descending, 'from'.
 */
struct hg_cross_edge {
	uint32_t from, to; /* rows */
	uint64_t pointers;
};

struct hg_cross_edges {
	size_t count;
	struct hg_cross_edge **rows;
};

HG_API enum hg_status hg_list_cross_edges(
	struct hg_retention *retention, struct hg_cross_edges **out);
HG_API void hg_cross_edges_release(struct hg_cross_edges **edges);

/*
 * The holders of a row that several share: rows of depth 1 whose blocks, or those below them, point
 * into it or below it from elsewhere.  Roots that pass come last; by pointers descending, then row.
 */
HG_API enum hg_status hg_list_sharers(
	struct hg_retention *retention, size_t row, struct hg_cross_edges **out);

/*
 * By which field the blocks of the row above hold those of a row, of the block of it that retains
 * most: ".data", "hd", "[]" whatever the index; "" for roots, and where the type does not tell.
 */
HG_API size_t hg_retention_field(
	const struct hg_retention *retention, size_t row, char *buffer, size_t size);

/*
 * Holders: what right below all roots retains a tenth of the memory or more, in the heap and
 * outside; each followed down to where its memory is gathered, by the rules of Eclipse MAT: to the
 * row below that retains most, as long as that is 7/10 of the row above it, and no further than to
 * where blocks become many.
 */
#define HG_HOLDER_PARTS 3

struct hg_holder {
	uint32_t row;          /* of depth 1 */
	uint32_t accumulation; /* that row, or one below it */
	uint64_t retained_bytes, retained_offheap_bytes;
	/* What it is made of: rows from the accumulation on with most bytes of their own. */
	uint32_t parts[HG_HOLDER_PARTS];
	uint64_t part_bytes[HG_HOLDER_PARTS]; /* own, in the heap and outside */
	uint32_t part_count;
};

struct hg_holders {
	size_t count;
	struct hg_holder **rows; /* by retained bytes descending, then row */
	uint64_t threshold;      /* bytes */
};

HG_API enum hg_status hg_list_holders(struct hg_retention *retention, struct hg_holders **out);
HG_API void hg_holders_release(struct hg_holders **holders);

/*
 * A pattern for hg_select() and hg_retention_options.from that selects the roots or blocks of a row
 * of depth 1: "root:^global Cache[.]table$".  "" if none does, as for blocks without a type.
 */
HG_API size_t hg_retention_pattern(
	const struct hg_retention *retention, size_t row, char *buffer, size_t size);

#endif
