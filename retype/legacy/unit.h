/*
 * One file and the unit it is of.
 */
#ifndef RETYPE_LEGACY_UNIT_H
#define RETYPE_LEGACY_UNIT_H

#include "retype/legacy/reader.h"

/* What one file holds. */
struct cmt_unit {
	const char *name, *source, *builddir, *path;
	struct base_file file;
	struct base_pool cells;
	struct snap_marshal m;
	struct snap_value tree;    /* Typedtree.structure or an array of parts; absent */
	struct snap_value facade;  /* Types.signature: of an interface, or what is inferred */
	struct snap_value members; /* of a pack: names of files */
	struct snap_value imports; /* (name, digest) list */
	char digest[33], source_digest[33]; /* hexadecimal; "" unknown */
	bool is_interface, is_partial, is_pack, is_of_other_version;
	bool has_no_interface; /* an implementation that exports all of it */
	bool is_registered;
	uint32_t scope;
};

/*
 * Opens a file once; *unit is RETYPE_NONE if it cannot be used, and a note says why.  A status
 * that is not HG_OK is want of memory.
 */
enum hg_status cmt_open_file(struct cmt_reader *r, uint32_t file, uint32_t *unit);

/*
 * The unit of a name: the implementation if there is one, else the interface.  'user' is the unit
 * that refers to it, which knows the digest of the interface it was compiled with; RETYPE_NONE for
 * none.  RETYPE_NONE if it is not found.
 */
uint32_t cmt_unit_named(struct cmt_reader *r, const char *name, uint32_t user);

void cmt_unit_release(struct cmt_unit *unit);

#endif
