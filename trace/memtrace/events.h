/*
 * Events of the packet that a reader of memtrace is in.
 */
#ifndef TRACE_MEMTRACE_EVENTS_H
#define TRACE_MEMTRACE_EVENTS_H

#include "trace/memtrace/state.h"

enum hg_status memtrace_batch_init(struct memtrace_batch *batch, struct hg_error *error);

/*
 * Reads events of the packet at the cursor into the batch, which is emptied before.  It ends at the
 * packet's end, when it is full, and before a location of a code that was known: what is read
 * before that has the locations that the code had.  What cannot be read ends the packet.
 */
void memtrace_read_events(struct memtrace *trace);

#endif
