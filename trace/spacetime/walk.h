/*
 * The walk over a trie of calls.  Every node of an OCaml function is met once, with the backtrace
 * of whoever called it first; functions that tail-call each other are a ring of nodes with one
 * backtrace.  Backtraces are paths of parents, as deep recursion would make them quadratic.
 *
 * Source of the order: spacetime_lib's; of nodes: OCaml's runtime/spacetime_nat.c.
 */
#ifndef TRACE_SPACETIME_WALK_H
#define TRACE_SPACETIME_WALK_H

#include "trace/spacetime/tables.h"

/* A frame and what called it.  16 bytes. */
struct spacetime_frame {
	uint64_t pc;
	uint32_t caller; /* an index; 0 is the empty backtrace */
	bool in_c;
};

enum spacetime_step_kind {
	SPACETIME_NODE,
	SPACETIME_ALLOCATES,
	SPACETIME_C_ALLOCATES,
	SPACETIME_CALLS,
	SPACETIME_CALLS_C,
	SPACETIME_CALLS_INDIRECTLY,
	SPACETIME_C_CALLS
};

struct spacetime_step {
	enum spacetime_step_kind kind;
	uint64_t pc;       /* of all but nodes: the innermost frame */
	uint32_t caller;   /* the frames around it */
	uint64_t function; /* of nodes; of calls by OCaml what is called */
	int64_t count;     /* of calls by OCaml, if they are counted */
	uint32_t annotation;
	int64_t words; /* allocated, with headers */
};

/* HG_OK to go on. */
typedef enum hg_status spacetime_step_fn(void *data, const struct spacetime_step *step);

struct spacetime_walk {
	const struct spacetime_tables *tables;
	spacetime_step_fn *step;
	void *data;
	struct hg_error *error;
	bool unused; /* to be set: allocation points that were never reached are steps, too */
	/* To be set: no frames are kept, but the caller of a step is how many are around it, and
	 * steps are without addresses of parts. */
	bool path_only;

	struct spacetime_frame *frames; /* of all walks; from malloc */
	uint64_t frame_count, frame_capacity;
	uint64_t deepest;         /* most frames around anything, with path_only */
	uint64_t tries;           /* that there are */
	uint64_t nodes, repaired; /* repaired: their shapes had parts missing */
	uint64_t misfits;         /* nodes whose fields are not known: left out */
	uint64_t damaged;         /* pointers that lead nowhere, or to where they must not */
	uint64_t first_damage;    /* offset of the trie with the first of these and of misfits */
	uint64_t fit_work;
};

enum hg_status spacetime_walk_init(struct spacetime_walk *walk,
	const struct spacetime_tables *tables, spacetime_step_fn *step, void *data,
	struct hg_error *error);
void spacetime_walk_release(struct spacetime_walk *walk);

/* Walks one trie; *any is false where there is none. */
enum hg_status spacetime_walk_trie(struct spacetime_walk *walk,
	const struct spacetime_series *series, uint64_t offset, bool *any);

#endif
