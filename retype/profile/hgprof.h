/*
 * The reader of exe.prof, format "hgprof 1" (docs/exe-prof.md): a type table as heapgraph-prof has
 * written it from the .cmt files of a program.
 */
#ifndef RETYPE_PROFILE_HGPROF_H
#define RETYPE_PROFILE_HGPROF_H

#include "retype/types/types.h"

/*
 * Fills the table from the bytes of a profile, which must outlive it: what locations make is read
 * when it is asked for.  HG_ERROR_INPUT names the line: a file cut short, a number that is not
 * defined or out of range, a later format.
 */
enum hg_status retype_hgprof_read(
	struct retype_types *types, const uint8_t *bytes, size_t size, struct hg_error *error);

/* Whether they begin as a profile does, of this format or a later one. */
bool retype_is_hgprof(const uint8_t *bytes, size_t size);

#endif
