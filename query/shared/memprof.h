/*
 * The blocks that Gc.Memprof keeps for itself in a program that samples its allocations: the call
 * stacks of samples, and profiles.  No type of the program leads there, and no holder of the
 * program; they are there because somebody looks.
 */
#ifndef QUERY_SHARED_MEMPROF_H
#define QUERY_SHARED_MEMPROF_H

#include "query/shared/query.h"

#include "base/bits.h"

/* The name of their type. */
#define QUERY_MEMPROF_TYPE "[Gc.Memprof]"

/*
 * Finds them, once the graph and the types are there: of the blocks without a type those that a
 * root of Gc.Memprof holds if they are call stacks or a profile, and the call stacks that nothing
 * holds any more, with what was made to hand them over.
 */
enum hg_status query_find_memprof(struct hg_snapshot *snapshot);

static inline bool query_is_memprof_own(const struct hg_snapshot *snapshot, uint32_t rank)
{
	return snapshot->memprof_own && base_bit(snapshot->memprof_own, rank);
}

#endif
