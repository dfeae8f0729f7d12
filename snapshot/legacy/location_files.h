/*
 * The file that says what the ids of a snapshot of a legacy format mean: chosen and read.
 */
#ifndef SNAPSHOT_LEGACY_LOCATION_FILES_H
#define SNAPSHOT_LEGACY_LOCATION_FILES_H

#include "snapshot/snapshot.h"

/* Reads the file named, or the one found, into snap->locations, and sets profile and note. */
enum hg_status snap_load_location_file(
	struct snap *snap, const char *named, struct hg_error *error);

#endif
