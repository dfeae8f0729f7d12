/*
 * Whether a profile is of the program that a snapshot is of: by the digests of interfaces, and the
 * sizes of the blocks of units.
 */
#ifndef RETYPE_PROFILE_AGREE_H
#define RETYPE_PROFILE_AGREE_H

#include "retype/types/types.h"
#include "snapshot/snapshot.h"

/*
 * Notes which units agree.  HG_ERROR_INPUT if most units of the program that the profile has are
 * other ones.  What is odd about the others goes into 'odd', "" if nothing is.
 */
enum hg_status retype_check_program(struct retype_types *types, const struct snap *snap, char *odd,
	size_t size, struct hg_error *error);

#endif
