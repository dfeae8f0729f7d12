/*
 * Stopping a process, making it do system calls, and letting it go on as if nothing had been
 * (ptrace(2)).  For one thread of ours at a time: the system binds a traced process to the thread
 * that stopped it.
 *
 * Nothing the process can see changes: no signal is delivered to it because of us or taken from it,
 * its registers and masks of signals are put back, and system calls that were interrupted are
 * restarted by the kernel.
 */
#ifndef SNAPSHOT_LIVE_TRACE_H
#define SNAPSHOT_LIVE_TRACE_H

#include "base/error.h"
#include "snapshot/core_writer.h"

#include <sys/types.h>

struct snap_traced {
	pid_t id;
	bool stopped;
	bool gone;
};

/* A process with its threads, in the order of threads[] and registers[]. */
struct snap_trace {
	pid_t process;
	struct snap_traced *threads;
	struct snap_core_thread *registers;
	uint64_t count, capacity, registers_capacity;
};

/*
 * Stops every thread and reads its registers.  HG_ERROR_INPUT when that is not permitted (with what
 * to do), when the process has ended, or when a thread does not stop for several seconds.  On
 * failure nothing is stopped.
 */
enum hg_status snap_trace_stop(struct snap_trace *trace, pid_t process, struct hg_error *error);

/* Lets all threads go on, and frees.  Harmless for what is not stopped. */
void snap_trace_release(struct snap_trace *trace);

/*
 * Makes a stopped thread of the process fork, at an address where there is a syscall instruction.
 * *child is a stopped copy that never runs; it is killed should this process die.  HG_ERROR_LIMIT
 * when the system refuses to fork.
 */
enum hg_status snap_trace_fork(
	struct snap_trace *trace, uint64_t instruction, pid_t *child, struct hg_error *error);

/*
 * Kills the copy and makes its parent, which runs, wait for it, so that no zombie stays; for that
 * one of its threads is stopped once more.  False when that did not work.
 */
bool snap_trace_end_child(pid_t process, pid_t child, uint64_t instruction);

/* Address of a syscall instruction in code of the process, preferably of its vDSO; 0: none. */
uint64_t snap_trace_find_syscall(pid_t process);

#endif
