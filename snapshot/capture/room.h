/*
 * Where the stack of a stopped thread is free, so that something can be written there which the
 * thread does not notice.
 *
 * That is below the stack pointer, where this is in the stack that C code runs on.  OCaml 5 runs
 * its own code on fibers of a few hundred bytes, in memory of malloc(); below them are other data.
 * There it is below the place at which the runtime will go on with C code.  Anywhere else (an
 * alternate stack for signals, coroutines, the instructions that change stacks) there is none.
 */
#ifndef SNAPSHOT_CAPTURE_ROOM_H
#define SNAPSHOT_CAPTURE_ROOM_H

#include "snapshot/capture/core_file.h"

/* Where the runtime of OCaml 5 says which stacks a thread has; all 0 for other programs. */
struct snap_fibers {
	bool are_used;
	const char *hidden; /* they may be used: why the state of a thread is not known; or NULL */
	int64_t state;      /* of Caml_state, from the thread pointer; bytes */
	/* Offsets in the state, and in a fiber: layout.h */
	uint16_t c_stack, current_stack, handler;
};

/* The address below which a thread's stack is free; 0 for none. */
uint64_t snap_room_below(
	pid_t process, const struct snap_core_thread *thread, const struct snap_fibers *fibers);

#endif
