/*
 * Of heapgraph.h: places in the source: where values of a type are made, where functions are, and
 * where globals are defined.
 *
 * They are known from the type profile (exe.prof), which lists every place that allocates, so that
 * nothing needs to be sampled; from what Gc.Memprof tracks or headers say of single blocks; and of
 * functions from the program's debug information, too.
 */
#ifndef HEAPGRAPH_PLACES_H
#define HEAPGRAPH_PLACES_H

#include "heapgraph/nodes.h"

/* A line of the source; strings are valid as long as the snapshot. */
struct hg_place {
	const char *file; /* as the compiler was called */
	uint32_t line;
	bool own;    /* of the program's own source, not of a library's */
	bool exact;  /* of just this type; false: of a more general one, "'a list" for "int list" */
	bool direct; /* the expression itself makes the value; false: what it calls may do so */
	const char *kind; /* "record", "con.Some", "tuple", "closure", "prim.NAME", "call", ...: as
			     in exe.prof; "" if only blocks tell of the place */
	/*
	 * Blocks of the type that are known to have been allocated here, by a sample of Gc.Memprof
	 * or the id in their header; 0 if nothing of that is known.  What a library allocated
	 * counts there and, if the sample has its call stack, where the program called it (not
	 * 'direct').
	 */
	uint64_t located_blocks, located_bytes;
};

/*
 * Every line where values of a type are made, one row each.  First those of which blocks are known
 * (most bytes first); then lines of the program's own source, then those of libraries; of these the
 * exact ones before the general, the direct ones before calls; by file and line.
 */
struct hg_places {
	uint32_t type;
	size_t count;
	struct hg_place **rows;
};

/* 'type' as in hg_block; no rows for 0. */
HG_API enum hg_status hg_list_places(
	struct hg_snapshot *snapshot, uint32_t type, struct hg_places **out);
HG_API void hg_places_release(struct hg_places **places);

enum hg_made_part {
	HG_MADE_ANYWHERE, /* in the program's own source, then in libraries */
	HG_MADE_IN_PROGRAM,
	HG_MADE_IN_LIBRARIES
};

/*
 * The same in few words: "cache.ml:12;cache.ml:40", or "7 places" if there are more than 'most' (0:
 * no limit); "" if none is known.  Only the best places of a part are told: those of which blocks
 * are known, as far as they make 95 % of their bytes; else the exact and direct ones; else those of
 * more general types; else calls.  A call in the program is as good as a direct place if libraries
 * make such values, too.  Of a type that is made in libraries only, HG_MADE_IN_PROGRAM is "".
 * Libraries are left out where their places are less to the point than those in the program, and of
 * HG_MADE_ANYWHERE if they would be more than 'most' with them.
 */
HG_API size_t hg_made_at(struct hg_snapshot *snapshot, uint32_t type, enum hg_made_part part,
	unsigned most, char *buffer, size_t size);

/*
 * The type of a row of hg_list_types() whatever its arguments, "_ list", for the functions above; 0
 * for functions, poly variants and objects, whose rows are of all of them.
 */
HG_API uint32_t hg_declared_type(struct hg_snapshot *snapshot, uint32_t id);

/*
 * "file:line" of the function at a code address, and of that of a closure: where it begins in the
 * source.  Of a partial application it is the function that waits for its arguments.  "" if it is
 * not known; '*own' (may be NULL) as in hg_place.
 */
HG_API size_t hg_code_place(
	struct hg_snapshot *snapshot, uint64_t code, char *buffer, size_t size, bool *own);
HG_API size_t hg_function_place(
	struct hg_snapshot *snapshot, hg_node node, char *buffer, size_t size, bool *own);

/* The code of that function, for hg_code_name(); 0 if the node is no closure. */
HG_API uint64_t hg_function_code(struct hg_snapshot *snapshot, hg_node node);

/* A closure of a class by HG_BY_FUNCTION; HG_NO_NODE if there is no such class. */
HG_API hg_node hg_function_closure(const struct hg_snapshot *snapshot, uint32_t id);

/*
 * "file:line" of the definition of the global that a root is, and of a stack slot where its frame
 * is: the call that has not returned.  "" if it is not known.
 */
HG_API size_t hg_defined_at(struct hg_snapshot *snapshot, hg_node root, char *buffer, size_t size);

#endif
