/*
 * Blocks in static data, which are found by the pointers that lead to them.
 */
#ifndef SNAPSHOT_CORE_STATIC_H
#define SNAPSHOT_CORE_STATIC_H

#include "snapshot/core/state.h"

/* A word of a block or a root while loading: the static block it leads to is noted. */
enum hg_status elfcore_meet(struct elfcore *core, uint64_t value, struct hg_error *error);

/* The blocks noted, and those that they lead to. */
enum hg_status elfcore_load_static(struct elfcore *core, struct hg_error *error);

#endif
