/*
 * Location ids -> source locations.
 *
 * Every block of a memprof snapshot carries the id of its location in the reserved bits of its
 * header.  Three kinds of files say what the ids mean; all fill the model's table.  Ids below a
 * limit are predefined by the runtime and mean different things in 0.1 and 0.2.
 */
#ifndef SNAPSHOT_LEGACY_LOCATION_SOURCE_H
#define SNAPSHOT_LEGACY_LOCATION_SOURCE_H

#include "snapshot/formats.h"
#include "snapshot/locations.h"

/* A table that knows the predefined ids only; 'native': of a program in native code. */
enum hg_status snap_source_init(
	struct snap_locations *locations, enum snap_ids ids, bool native, struct hg_error *error);

/*
 * Reads a location source from its bytes into a table that knows the predefined ids of the same
 * kind.  HG_ERROR_INPUT with the offset when the bytes are not such a file; the table then knows
 * the predefined ids, as before.
 */
enum hg_status snap_source_load(struct snap_locations *locations, enum snap_ids ids, bool native,
	const uint8_t *bytes, size_t size, struct hg_error *error);

/* Whether the bytes begin like a location source of any of the formats. */
bool snap_source_begins(const uint8_t *bytes, size_t size);

#endif
