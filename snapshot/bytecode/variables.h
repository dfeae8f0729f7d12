/*
 * Where the values of variables of bytecode are, which a unit's block does not have: those that its
 * interface hides are in closures that have captured them, and while its code runs all of them are
 * on the stack.  Variables are named as in the profile: "table_277".
 */
#ifndef SNAPSHOT_BYTECODE_VARIABLES_H
#define SNAPSHOT_BYTECODE_VARIABLES_H

#include "snapshot/runtime/state.h"

/*
 * The variable that a closure beginning with a function has captured in a field; false if none is
 * known.  Strings live as long as the runtime.
 */
bool snap_bytecode_captured(
	struct snap_runtime *runtime, uint64_t code, uint64_t field, struct snap_captured *out);
/*
 * The values of a unit whose code still runs are on the stack: those in the frame that returns to
 * an instruction, and that begins below 'end', as units of one value.
 */
enum hg_status snap_add_frame_units(
	struct snap_runtime *runtime, uint64_t code, uint64_t end, struct hg_error *error);

#endif
