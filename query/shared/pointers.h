/*
 * Who points to the nodes of a set: one pass over the fields of live blocks, then what is no field,
 * the values of roots, what fibers hold and data of ephemerons.
 */
#ifndef QUERY_SHARED_POINTERS_H
#define QUERY_SHARED_POINTERS_H

#include "query/shared/query.h"

struct query_pointer {
	uint32_t holder, target;      /* nodes */
	uint64_t field;               /* HG_UNKNOWN: it is none */
	const struct snap_cell *cell; /* of the holder, until the next call; NULL: it is a root */
};

typedef enum hg_status query_pointer_fn(void *data, const struct query_pointer *pointer);

/*
 * Calls 'met' for each pointer of a live node to one of those selected, a bit by node: of blocks in
 * order of addresses and fields, of roots, of links.  Ends with the first failure, and returns it.
 */
enum hg_status query_pointers_to(
	struct hg_snapshot *snapshot, const uint64_t *selected, query_pointer_fn *met, void *data);

#endif
