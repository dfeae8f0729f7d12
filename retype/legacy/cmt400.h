/*
 * The .cmt files of OCaml 4.00.1: what types the dumps of the memprof compilers, which wrote no
 * types of their own.
 *
 *     [ "Caml1999I014", three marshalled values ]      the interface of a unit without .mli
 *     "Caml2012T001", one marshalled value             cmt_infos; the file ends after it
 *
 * Sources of the format: the files themselves (both dialects of marshal.h), and the facts about
 * typing/cmt_format.mli, typedtree.mli and types.mli of 4.00.1 in docs/formats.md.
 */
#ifndef RETYPE_LEGACY_CMT400_H
#define RETYPE_LEGACY_CMT400_H

#include "retype/types/types.h"
#include "snapshot/snapshot.h"

/*
 * Fills the table with what the locations of the snapshot need: the locations in the files that
 * they name and the types of these, down to the declarations, also of other units.  The .cmt, .cmti
 * and .cmi are looked for in the directories given, then beside the snapshot, then in the current
 * one, with the folders below, some levels deep; the first of these that have a unit tell it.  What
 * the standard library hides is known without them.
 *
 * A file that is damaged or of another version becomes a note of the snapshot that names it and the
 * offset, and the others are read.  *source is what was read, "cache.cmt and 2 others", or "".
 * Fails only for want of memory.
 */
enum hg_status retype_cmt400_read(struct retype_types *types, const char *const *directories,
	size_t count, struct snap *snap, const char **source, struct hg_error *error);

#endif
