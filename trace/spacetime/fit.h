/*
 * Nodes that are longer than the shape of their function.  OCaml 4.11 leaves parts out of shapes
 * whose code is dead, but not out of nodes, so that what stands behind lies further right.  Used
 * allocation points name the field that they are in, pointers lead to calls, and dead fields hold
 * nothing: so the parts can be put where they fit, in their order, with the fewest gaps.
 */
#ifndef TRACE_SPACETIME_FIT_H
#define TRACE_SPACETIME_FIT_H

#include "snapshot/marshal/sparse.h"
#include "trace/spacetime/tables.h"

/*
 * The first field of each part at places[0..shape->count).  *work, steps of this and earlier calls,
 * is what limits the time for a file that was made to take long.  False if they fit nowhere.
 */
bool spacetime_fit(const struct spacetime_tables *tables, const struct snap_sparse *trie,
	const struct snap_object *node, const struct spacetime_shape *shape, uint64_t *work,
	uint32_t *places);

#endif
