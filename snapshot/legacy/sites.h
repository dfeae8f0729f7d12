/*
 * Location ids -> source locations.
 *
 * Every block of a memprof snapshot carries the id of its allocation site in the reserved bits of
 * its header.  Three kinds of files say what the ids mean; all fill this one table.  Ids below a
 * limit are predefined by the runtime and mean different things in 0.1 and 0.2.
 */
#ifndef SNAPSHOT_LEGACY_SITES_H
#define SNAPSHOT_LEGACY_SITES_H

#include "base/error.h"
#include "base/pool.h"

#include <stdbool.h>

enum snap_ids {
	SNAP_IDS_NONE,      /* headers hold none */
	SNAP_IDS_MEMPROF01, /* pseudo-random ids, 22 bits of which the header keeps 21 */
	SNAP_IDS_MEMPROF02, /* 1024 + entry number in the .locations file */
	SNAP_IDS_OCP2014    /* entry number over the LOCS chunks of process_info */
};

/* Number 0 is "no location": file and name are both NULL. */
struct snap_location {
	const char *file; /* as the compiler was called; NULL for a predefined id */
	const char *name; /* of a predefined id, without brackets; NULL otherwise */
	int32_t line;     /* from 1; OCP files hold -1 and 0 too */
	uint32_t start;   /* column, from 0 */
	uint32_t end;     /* counted from the beginning of the start line */
};

/* Open hash from keys to numbers that are not 0; private to sites.c. */
struct snap_site_table {
	struct snap_site_slot *slots;
	uint32_t mask;
	uint32_t used;
};

/* A table of zeros, never initialised, knows no id. */
struct snap_sites {
	enum snap_ids ids;
	bool native;    /* closures of native 0.2 code carry a wrong id (defect 1 of the writer) */
	uint32_t count; /* of locations, different ones, number 0 included */
	struct snap_location *locations;
	uint32_t entries;   /* of the source read, those without location included */
	uint32_t conflicts; /* of these in a 0.1 source: entries whose low 21 bits are those of
			       an earlier one or of a predefined id */
	struct snap_site_table by_id;
	uint32_t capacity; /* of locations */
	struct base_pool pool;
};

/* A table that knows the predefined ids only. */
enum hg_status snap_sites_init(
	struct snap_sites *sites, enum snap_ids ids, bool native, struct hg_error *error);

/*
 * Reads a location source from its bytes; once per table.  HG_ERROR_INPUT with the offset when the
 * bytes are not such a file; the table then knows the predefined ids, as before.
 */
enum hg_status snap_sites_load(
	struct snap_sites *sites, const uint8_t *bytes, size_t size, struct hg_error *error);

/* Whether the bytes begin like a location source of any of the formats. */
bool snap_sites_is_source(const uint8_t *bytes, size_t size);

/* Also after a failed initialisation; the table is zeros then. */
void snap_sites_release(struct snap_sites *sites);

/*
 * Adds a location that no id leads to, and gives its number.  The file's name must live as long as
 * the table; equal locations should be added once.
 */
enum hg_status snap_sites_add(struct snap_sites *sites, const struct snap_location *location,
	uint32_t *number, struct hg_error *error);

/*
 * Number of the location of a block with this id and tag, 0 if the id is unknown or its location is
 * none, and how sure it is: HG_EXACT; HG_INFERRED when the lost bit 21 was restored; HG_GUESSED
 * where the writer is known to give wrong ids, or two entries of a 0.1 source that the header
 * cannot tell apart have different locations; HG_UNKNOWN_ORIGIN with location 0.
 */
uint32_t snap_sites_find(
	const struct snap_sites *sites, uint32_t id, unsigned tag, enum hg_confidence *confidence);

/* Whether the id belongs to the runtime, or the source has an entry for it, with a location or not.
 */
bool snap_sites_knows(const struct snap_sites *sites, uint32_t id);

#endif
