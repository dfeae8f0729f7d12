/*
 * Stopping a process and letting it go on as if nothing had been (ptrace(2)).  All of it is for one
 * thread of ours: the system binds a traced process to the thread that stopped it, and lets it go
 * when that thread ends.
 *
 * trace_thread.c is about one thread: waiting for its stops, its registers, its mask of signals.
 *
 * No signal is delivered to the process because of us or taken from it, and system calls that were
 * interrupted are restarted by the kernel.
 */
#ifndef SNAPSHOT_CAPTURE_TRACE_H
#define SNAPSHOT_CAPTURE_TRACE_H

#include "base/error.h"
#include "snapshot/capture/core_file.h"

/* One thread (trace_thread.c) */

struct snap_traced {
	pid_t id;
	bool stopped;
	bool gone; /* it has ended */
};

/* How long to wait. */
struct snap_time_limit {
	unsigned ms;
	bool until_signal; /* not much longer than until snap_signal_waits() */
};

/* Whether a blocked signal waits for us that asks to end: SIGINT, SIGTERM, SIGHUP, SIGQUIT. */
bool snap_signal_waits(void);

enum snap_wait {
	SNAP_WAIT_STOPPED,
	SNAP_WAIT_GONE,   /* it has ended, or is not ours to wait for */
	SNAP_WAIT_NOTHING /* the time is over */
};

/* Waits for the next stop, or end, of a thread or child that is traced. */
enum snap_wait snap_traced_wait(pid_t id, struct snap_time_limit limit, int *status);

/* Whether a status tells of PTRACE_EVENT_...; and of a system call with PTRACE_O_TRACESYSGOOD. */
bool snap_is_event(int status, int event);
bool snap_is_syscall(int status);

/*
 * Lets a stopped thread go on by a ptrace request (PTRACE_CONT, ...) and waits for its next stop.
 * 'status' is that of the stop it is in, and becomes that of the next: a signal that is about to be
 * delivered, is.
 */
enum snap_wait snap_traced_go(pid_t id, int request, struct snap_time_limit limit, int *status);

/*
 * After PTRACE_INTERRUPT: waits until the thread has stopped for that, or with its whole process
 * (PTRACE_EVENT_STOP), past other stops.  'status' is that of the stop it is in, or 0.
 */
enum snap_wait snap_traced_await_stop(pid_t id, struct snap_time_limit limit, int *status);

/* Registers by their places (native.h). */
bool snap_traced_registers(pid_t id, uint64_t registers[SNAP_NATIVE_REGISTERS]);
bool snap_traced_set_registers(pid_t id, const uint64_t registers[SNAP_NATIVE_REGISTERS]);

/* Blocked signals, as the kernel has them: bit 0 is signal 1. */
bool snap_traced_mask(pid_t id, uint64_t *mask);
bool snap_traced_set_mask(pid_t id, uint64_t mask);

/* All threads of a process */

/* A process with its threads, in the order of threads[] and registers[]. */
struct snap_trace {
	pid_t process;
	struct snap_traced *threads;
	struct snap_core_thread *registers;
	uint64_t count, capacity, registers_capacity;
	bool must_end; /* a thread is not stopped: it is let go when the tracing thread ends */
};

/* For a thread to stop. */
#define SNAP_TRACE_LIMIT ((struct snap_time_limit){.ms = 5000, .until_signal = true})

/*
 * Stops every thread and reads its registers.  HG_ERROR_INPUT when that is not permitted (with what
 * to do), when the process has ended, or when a thread does not stop for several seconds.  On
 * failure nothing is stopped, or 'must_end' is set.
 */
enum hg_status snap_trace_stop(struct snap_trace *trace, pid_t process, struct hg_error *error);

/* Lets all threads go on that are stopped, and frees.  Harmless when done again. */
void snap_trace_release(struct snap_trace *trace);

/* Stops one thread; false when it has ended, does not stop, or is not ours to trace. */
bool snap_trace_stop_one(struct snap_traced *thread, struct snap_time_limit limit);

/* Says that a process has ended, if it has; else that it does not do what is asked of it. */
enum hg_status snap_trace_lost(pid_t process, struct hg_error *error);

#endif
