/*
 * Locations: where in the source blocks were allocated.
 *
 * A table of them, and which of them an id in a header means.  What fills it is not of the model: a
 * loader that knows call stacks, or the reader of a file that says what the ids of old compilers
 * are.
 */
#ifndef SNAPSHOT_LOCATIONS_H
#define SNAPSHOT_LOCATIONS_H

#include "base/hash.h"
#include "base/pool.h"

/* Number 0 is "no location": file and name are both NULL. */
struct snap_location {
	const char *file; /* as the compiler was called; NULL for a predefined id */
	const char *name; /* of a predefined id, without brackets; NULL otherwise */
	int32_t line;     /* from 1; OCP files hold -1 and 0 too */
	uint32_t start;   /* column, from 0 */
	uint32_t end;     /* counted from the beginning of the start line */
};

/* A table of zeros knows no id and has no location. */
struct snap_locations {
	uint32_t count; /* of different ones, number 0 included */
	uint32_t capacity;
	struct snap_location *items;
	uint32_t entries;   /* of the source, those without location included */
	uint32_t conflicts; /* of these: entries whose ids headers cannot tell from earlier ones */
	uint32_t first_id;  /* lower ones belong to the runtime */
	uint32_t wrong_closures_from; /* ids from here on are often wrong in closures; UINT32_MAX */
	struct base_map by_id;        /* private to locations.c */
	struct base_pool pool;        /* for names of files */
};

/* No id belongs to the runtime or is doubtful; there is number 0. */
enum hg_status snap_locations_init(struct snap_locations *locations, struct hg_error *error);

/* Also after a failed initialisation; the table is zeros then. */
void snap_locations_release(struct snap_locations *locations);

/*
 * Adds a location that no id leads to, and gives its number.  The file's name must live as long as
 * the table; equal locations should be added once.
 */
enum hg_status snap_locations_add(struct snap_locations *locations,
	const struct snap_location *location, uint32_t *number, struct hg_error *error);

/* What an id means, and how surely that is so. */
struct snap_meaning {
	uint32_t location;
	enum hg_confidence confidence;
};

enum hg_status snap_locations_set(struct snap_locations *locations, uint32_t id,
	struct snap_meaning meaning, struct hg_error *error);

/* False if the id has none. */
bool snap_locations_get(
	const struct snap_locations *locations, uint32_t id, struct snap_meaning *meaning);

/*
 * Number of the location of a block with this id and tag, 0 if the id is unknown or its location is
 * none, and how sure it is: HG_EXACT; HG_INFERRED when a lost bit was restored; HG_GUESSED where
 * the writer is known to give wrong ids, or two entries of a source that the header cannot tell
 * apart have different locations; HG_UNKNOWN_ORIGIN with location 0.
 */
uint32_t snap_locations_find(const struct snap_locations *locations, uint32_t id, unsigned tag,
	enum hg_confidence *confidence);

/* Whether the id belongs to the runtime, or has a meaning, be it that there is no location. */
bool snap_locations_know(const struct snap_locations *locations, uint32_t id);

#endif
