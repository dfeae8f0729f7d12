/*
 * The file of types of a snapshot: named by the user, or looked for.
 */
#ifndef RETYPE_PROFILE_PROFILE_H
#define RETYPE_PROFILE_PROFILE_H

#include "base/file.h"
#include "base/pool.h"
#include "snapshot/snapshot.h"

/*
 * exe.prof or PROGRAM.prof, compressed (.zst) or not, beside the snapshot, beside the program or in
 * the current folder; the first that is in format hgprof.  It is open then, *path in the pool; else
 * *path is "", *state tells whether something was found, and *reason what, or where it was looked
 * for.
 */
enum hg_status retype_find_profile(const struct snap *snap, struct base_pool *pool,
	struct base_file *file, const char **path, enum hg_type_state *state, const char **reason,
	struct hg_error *error);

/* Opens the file that was named. */
enum hg_status retype_open_profile(
	const struct snap *snap, const char *named, struct base_file *file, struct hg_error *error);

#endif
