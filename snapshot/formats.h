/*
 * The formats of snapshots: one table, one row and one loader for each.  Whoever adds a format
 * writes its loader in a folder of its own and adds, both at the end, the row to formats.c and its
 * name to enum hg_format of heapgraph.h, whose numbers stay; nothing else names it.
 */
#ifndef SNAPSHOT_FORMATS_H
#define SNAPSHOT_FORMATS_H

#include "base/file.h"
#include "base/session.h"
#include "snapshot/ranks.h"

struct snap;
struct snap_run;
struct snap_walk;

/* What the ids of locations in headers mean. */
enum snap_ids {
	SNAP_IDS_NONE,      /* headers hold none */
	SNAP_IDS_MEMPROF01, /* pseudo-random ids, 22 bits of which the header keeps 21 */
	SNAP_IDS_MEMPROF02, /* 1024 + entry number in the .locations file */
	SNAP_IDS_OCP2014    /* entry number over the LOCS chunks of process_info */
};

/* How to read one format; functions that may be NULL say so. */
struct snap_format {
	const char *name; /* of --as */
	const char *title;
	enum snap_ids ids;
	/* Whether the bytes or, where these cannot tell, the base name of the file say so. */
	bool (*recognise)(const char *name, const struct base_file *file);
	/* Adds to the text in the buffer what there is to say of a file besides its magic number;
	 * NULL: the title says all.  Fails only if memory runs out. */
	enum hg_status (*describe)(const struct hg_session *session, const char *path, char *buffer,
		size_t size, struct hg_error *error);
	/* Fills the snapshot from snap->file, checking everything. */
	enum hg_status (*load)(
		struct snap *snap, const struct hg_input *input, struct hg_error *error);
	/* Once there are ranks: what needs them (links, off-heap bytes); or NULL. */
	enum hg_status (*finalise)(struct snap *snap, struct hg_error *error);
	void (*release)(struct snap *snap); /* of format_data, or NULL */
	/* The next run of a walk, whose position walk.c has set. */
	bool (*next_run)(struct snap_walk *walk, struct snap_run *run);
	/* First bytes of an opaque block, at most the given number; NULL: never recorded. */
	size_t (*content)(const struct snap *snap, struct snap_rank rank, uint64_t bytes,
		const uint8_t **out, bool *cut);
	/* Where headers hold ids: reads what they mean into snap->locations, from the file named or
	 * one that it finds; else NULL. */
	enum hg_status (*load_locations)(
		struct snap *snap, const char *named, struct hg_error *error);
	/* Whether the bytes begin like a file that says what the ids mean; or NULL. */
	bool (*is_location_source)(const uint8_t *bytes, size_t size);
};

/* A row of the table; NULL at its end. */
const struct snap_format *snap_format_row(unsigned index);

/* The format of a name; NULL if there is none. */
const struct snap_format *snap_format_named(const char *name);

/* The format of a file, of which the first bytes are enough; NULL if it has none of the table. */
const struct snap_format *snap_format_of(const char *name, const struct base_file *file);

/* Whether the bytes begin like a source of locations for some format. */
bool snap_is_location_source(const uint8_t *bytes, size_t size);

#endif
