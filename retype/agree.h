/*
 * Whether a profile is of the program that a snapshot is of: by the digests of interfaces, and the
 * sizes of the blocks of units.
 */
#ifndef RETYPE_AGREE_H
#define RETYPE_AGREE_H

#include "retype/retype.h"

enum retype_agreement {
	RETYPE_UNIT_SAME,
	RETYPE_UNIT_REBUILT, /* its interface is the same, its other values may not be */
	RETYPE_UNIT_STALE,   /* another interface */
};

enum retype_agreement retype_unit_agrees(
	const struct retype_unit *unit, const struct snap_unit *block, const struct snap *snap);

/*
 * HG_ERROR_INPUT if most units of the program that the profile has are other ones.  What is odd
 * about the others goes into 'note', "" if nothing is.
 */
enum hg_status retype_check_program(const struct retype_types *types, const struct snap *snap,
	char *note, size_t size, struct hg_error *error);

#endif
