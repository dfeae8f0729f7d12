/*
 * Location ids that the runtimes of the memprof compilers give to their own allocations, and the
 * names of what they allocate there.
 */
#ifndef SNAPSHOT_LEGACY_LOCATION_NAMES_H
#define SNAPSHOT_LEGACY_LOCATION_NAMES_H

#include "snapshot/formats.h"

struct snap_predefined {
	uint32_t id;
	const char *name;
};

/* The predefined ids of a kind of snapshot, ascending; several may have one name. */
const struct snap_predefined *snap_predefined_locations(enum snap_ids ids, size_t *count);

#endif
