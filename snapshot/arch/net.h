/*
 * What a thread falls back on while it runs on registers that are not its own: frames in free
 * memory of its stack, as the kernel writes them for a signal handler to return from.  They lead it
 * back to its own registers, mask of signals and vector registers without anybody's help, so that
 * whoever made it do a system call may be killed at any moment, or simply let go.
 *
 * Each processor has its own, net_NAME.c, of which one is compiled, over net.c.
 */
#ifndef SNAPSHOT_ARCH_NET_H
#define SNAPSHOT_ARCH_NET_H

#include "snapshot/arch/native.h"

#include <stdbool.h>
#include <sys/types.h>

/* Addresses of instructions in code of the process. */
struct snap_net_code {
	uint64_t call;               /* a system call, and the return to what the stack says */
	uint64_t return_from_signal; /* libc's: asks the kernel to return from a signal */
};

/* Looks for them; false when the process, which may run, has not got both. */
bool snap_net_find_code(pid_t process, struct snap_net_code *code);
/* Whether they are still there. */
bool snap_net_code_is(pid_t process, const struct snap_net_code *code);

/* Values of the stack pointer before the system call. */
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
	const struct snap_net_code *code, const uint64_t registers[SNAP_NATIVE_REGISTERS],
	uint64_t mask, uint64_t limit);

/*
 * Whether a stopped thread is, by its registers, in a wait that would begin anew with them: the
 * kernel has its note of what is left used only if they are not touched.  Once the thread has got
 * from there to the beginning of the next system call, which that one is, and is stopped again,
 * this is not so.
 */
bool snap_net_must_settle(pid_t thread, const uint64_t registers[SNAP_NATIVE_REGISTERS]);

/*
 * Why a thread can be given no net, as the end of a sentence, or NULL: by one line of its
 * /proc/.../status, and by its registers; it is stopped and traced.
 */
const char *snap_net_obstacle_in_status(const char *line);
const char *snap_net_obstacle_in_registers(
	pid_t thread, const uint64_t registers[SNAP_NATIVE_REGISTERS]);

#endif
