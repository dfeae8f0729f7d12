/*
 * One thread of another process, traced by the calling thread of ours (ptrace(2)): waiting for its
 * stops, its registers and its mask of signals.
 */
#ifndef SNAPSHOT_CAPTURE_THREAD_H
#define SNAPSHOT_CAPTURE_THREAD_H

#include "snapshot/capture/core_writer.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct snap_traced {
	pid_t id;
	bool stopped;
	bool gone; /* it has ended */
};

/* How long to wait. */
struct snap_patience {
	unsigned ms;
	bool until_signal; /* not much longer than until snap_signal_waits() */
};

/* Whether a blocked signal waits for us that asks to end: SIGINT, SIGTERM, SIGHUP, SIGQUIT. */
bool snap_signal_waits(void);

enum snap_wait {
	SNAP_WAIT_STOPPED,
	SNAP_WAIT_GONE,   /* it has ended, or is not ours to wait for */
	SNAP_WAIT_NOTHING /* patience is at its end */
};

/* Waits for the next stop, or end, of a thread or child that is traced. */
enum snap_wait snap_thread_wait(pid_t id, struct snap_patience patience, int *status);

/* Whether a status tells of PTRACE_EVENT_...; and of a system call with PTRACE_O_TRACESYSGOOD. */
bool snap_is_event(int status, int event);
bool snap_is_syscall(int status);

/*
 * Lets a stopped thread go on by a ptrace request (PTRACE_CONT, ...) and waits for its next stop.
 * 'status' is that of the stop it is in, and becomes that of the next: a signal that is about to be
 * delivered, is.
 */
enum snap_wait snap_thread_go(pid_t id, int request, struct snap_patience patience, int *status);

/*
 * After PTRACE_INTERRUPT: waits until the thread has stopped for that, or with its whole process
 * (PTRACE_EVENT_STOP), past other stops.  'status' is that of the stop it is in, or 0.
 */
enum snap_wait snap_thread_await_stop(pid_t id, struct snap_patience patience, int *status);

/* Registers in the order of struct user_regs_struct. */
bool snap_thread_registers(pid_t id, uint64_t registers[SNAP_USER_REGISTERS]);
bool snap_thread_set_registers(pid_t id, const uint64_t registers[SNAP_USER_REGISTERS]);

/* Blocked signals, as the kernel has them: bit 0 is signal 1. */
bool snap_thread_mask(pid_t id, uint64_t *mask);
bool snap_thread_set_mask(pid_t id, uint64_t mask);

#endif
