/*
 * Moments at which the runtime has blocks half moved or half made, told by the names of its
 * functions: a table from the sources of 4.13 to 5.3 (runtime/minor_gc.c, compact.c, shared_heap.c,
 * array.c, obj.c).
 */
#ifndef SNAPSHOT_RUNTIME_MOMENTS_H
#define SNAPSHOT_RUNTIME_MOMENTS_H

#include <stdbool.h>

enum snap_moment {
	SNAP_MOMENT_NONE,
	SNAP_MOMENT_MINOR_COLLECTION,
	SNAP_MOMENT_COMPACTION,
	SNAP_MOMENT_FILLING, /* of a block that a local root holds already */
};

/*
 * What a function of the runtime is part of.  *is_ahead: nothing has been moved yet, as when a
 * domain of 5.x waits for the others to begin a collection; with more domains than processors that
 * is where they mostly are.
 */
enum snap_moment snap_moment_of_function(const char *name, bool *is_ahead);

#endif
