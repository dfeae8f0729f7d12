/*
 * What a thread falls back on while it runs on registers that are not its own: frames in free
 * memory of its stack, as the kernel writes them for a signal handler to return from.  They lead it
 * back to its own registers, mask of signals and vector registers without anybody's help, so that
 * whoever made it do a system call may be killed at any moment, or simply let go.
 *
 * All this is of x86-64 (net_x86_64.c); another processor has its own.
 *
 * A system call is made at an instruction 'syscall; ret' with rsp at one of the frames; the first
 * word of each is the address of libc's code that asks the kernel to return from a signal.  Layout
 * of the frames: arch/x86/include/asm/sigframe.h, asm/fpu/signal.h and uapi/asm/sigcontext.h of
 * Linux, System V ABI for AMD64.
 */
#ifndef SNAPSHOT_CAPTURE_NET_H
#define SNAPSHOT_CAPTURE_NET_H

#include "snapshot/capture/core_writer.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Addresses of instructions in code of the process. */
struct snap_net_code {
	uint64_t call;               /* syscall; ret */
	uint64_t return_from_signal; /* mov $15, %rax; syscall */
};

/* Looks for them; false when the process, which may run, has not got both. */
bool snap_net_find_code(pid_t process, struct snap_net_code *code);
/* Whether they are still there. */
bool snap_net_code_is(pid_t process, const struct snap_net_code *code);

/* Values of rsp before the system call. */
struct snap_net {
	uint64_t home;  /* goes on as if nothing had been */
	uint64_t wait;  /* waits for the child at 'child' first */
	uint64_t end;   /* ends the process: for the child of a fork */
	uint64_t child; /* address where clone() is to write the child's id (CLONE_PARENT_SETTID) */
};

/*
 * Writes the frames into the memory of a stopped thread, downwards from 'limit'; everything below
 * that is free.  False, and nothing else is changed, when there is no room (a guard page), or when
 * the processor's state cannot be put back in this way.
 *
 * Interrupted system calls are made anew.
 */
bool snap_net_spread(struct snap_net *net, pid_t process, pid_t thread,
	const struct snap_net_code *code, const uint64_t registers[SNAP_USER_REGISTERS],
	uint64_t mask, uint64_t limit);

/*
 * Where the stack of a stopped thread is free, so that something can be written there which the
 * thread does not notice.
 *
 * That is below rsp, where rsp is in the stack that C code runs on.  OCaml 5 runs its own code on
 * fibers of a few hundred bytes, in memory of malloc(); below them are other data.  There it is
 * below the place at which the runtime will go on with C code.  Anywhere else (an alternate stack
 * for signals, coroutines, the instructions that change stacks) there is none.
 */

/* Where the runtime of OCaml 5 says which stacks a thread has; all 0 for other programs. */
struct snap_fibers {
	bool are_used;
	int64_t state; /* of Caml_state, from fs_base; bytes */
	/* Offsets in the state, and in a fiber: layout.h */
	uint16_t c_stack, current_stack, handler;
};

/* The address below which a thread's stack is free; 0 for none. */
uint64_t snap_room_below(
	pid_t process, const struct snap_core_thread *thread, const struct snap_fibers *fibers);

#endif
