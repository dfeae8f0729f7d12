/*
 * Where code is from that the program has loaded itself, by Dynlink or in a toplevel: its events
 * are in no file of the program, but the runtime has decoded them (runtime/backtrace_byt.c,
 * caml_add_debug_info), sorted by address.
 */
#ifndef SNAPSHOT_BYTECODE_LOADED_H
#define SNAPSHOT_BYTECODE_LOADED_H

#include "snapshot/runtime/frames.h"
#include "snapshot/runtime/state.h"

/*
 * The first event from an instruction on, at most 'most' bytes behind it; if there is none, with
 * is_last the last before it.
 */
struct snap_loaded_query {
	uint64_t code, most;
	bool is_last;
};
bool snap_find_loaded_event(struct snap_runtime *runtime, const struct snap_loaded_query *query,
	struct snap_code_location *out);

#endif
