/*
 * What the names of snapshots tell: "heap.dump.PID.N", "memprof.PID[.NAME].N.dump",
 * "memprof.PID.N.NAME.dump", each perhaps with ".zst" after it.
 */
#ifndef SNAPSHOT_FILE_NAMES_H
#define SNAPSHOT_FILE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

enum { SNAP_NAME_PARTS = 128 };

/* A base name cut at its dots; parts are not NUL-terminated. */
struct snap_name {
	unsigned count;
	const char *parts[SNAP_NAME_PARTS];
	unsigned lengths[SNAP_NAME_PARTS];
};

/* More than SNAP_NAME_PARTS parts: the last holds the rest.  A ".zst" at the end is dropped. */
struct snap_name snap_name_split(const char *path);

bool snap_name_part_is(const struct snap_name *name, unsigned part, const char *text);

/* A part that is a decimal number. */
bool snap_name_part_number(const struct snap_name *name, unsigned part, uint64_t *out);

#endif
