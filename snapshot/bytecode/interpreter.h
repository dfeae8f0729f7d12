/*
 * Stacks of bytecode (runtime/interp.c, runtime/caml/stacks.h): values, and between them where
 * functions return to (code, environment, arguments left), and trap frames (code, a distance,
 * environment, arguments left).  The runtime scans all of it, as nothing else is known of its
 * words.
 *
 * Their pointer is saved when the interpreter calls C code that may collect, and stale between; but
 * the interpreter has it in a register that C functions preserve.
 */
#ifndef SNAPSHOT_BYTECODE_INTERPRETER_H
#define SNAPSHOT_BYTECODE_INTERPRETER_H

#include "snapshot/runtime/stacks.h"

/*
 * The innermost frames of the interpreter, one per thread: runtime->innermost, as
 * snap_find_innermost() fills it for native programs.
 */
enum hg_status snap_find_interpreters(struct snap_runtime *runtime, struct hg_error *error);
/*
 * A stack of bytecode, of which 'words' is all that is reserved: from the stack pointer, which a
 * thread that interprets on it has in a register and which else was saved at 'sp', to its end.
 */
enum hg_status snap_walk_bytecode(struct snap_runtime *runtime, struct snap_stack_walk *walk,
	struct snap_range words, uint64_t sp, bool *complete, struct hg_error *error);

#endif
