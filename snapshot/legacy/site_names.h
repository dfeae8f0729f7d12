/*
 * Location ids that the runtimes of the memprof compilers give to their own allocations.
 */
#ifndef SNAPSHOT_LEGACY_SITE_NAMES_H
#define SNAPSHOT_LEGACY_SITE_NAMES_H

#include "snapshot/legacy/sites.h"

struct snap_site_name {
	uint32_t id;
	const char *name;
};

/* The predefined ids of a kind of snapshot, ascending; several may have one name. */
const struct snap_site_name *snap_site_names(enum snap_ids ids, size_t *count);

#endif
