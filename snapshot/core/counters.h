/*
 * What was found in the heap of a core, beside what the runtime itself counts: where a layout is
 * not that of the program, both can be read without a fault and still disagree.
 */
#ifndef SNAPSHOT_CORE_COUNTERS_H
#define SNAPSHOT_CORE_COUNTERS_H

#include "snapshot/core/state.h"

/*
 * Notes, for the user, where the words of the heap's areas and the blocks in them are not as many
 * as the runtime counts; of a core whose heap is loaded.
 */
void elfcore_compare_counters(struct elfcore *core);

#endif
