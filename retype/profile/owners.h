/*
 * Which units are the program's own, and which are of libraries: a line of the program's own source
 * is where people look first.
 */
#ifndef RETYPE_PROFILE_OWNERS_H
#define RETYPE_PROFILE_OWNERS_H

#include "retype/types/types.h"
#include "snapshot/snapshot.h"

/* Tells it of the units of which the profile does not. */
void retype_find_owners(struct retype_types *types, const struct snap *snap);

#endif
