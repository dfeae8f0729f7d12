/*
 * The walk over a typed tree.
 */
#ifndef RETYPE_LEGACY_WALK_H
#define RETYPE_LEGACY_WALK_H

#include "retype/legacy/reader.h"

/*
 * Walks over the typed tree of a unit in the order of the source, holders before what they hold;
 * registers what is defined, and hands every expression to 'meet' (which may be NULL).
 */
typedef void cmt_meet_fn(struct cmt_reader *r, uint32_t unit, struct snap_value expression);
void cmt_walk(struct cmt_reader *r, uint32_t unit, cmt_meet_fn *meet);

#endif
