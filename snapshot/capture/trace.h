/*
 * Stopping a process and letting it go on as if nothing had been (ptrace(2)).  All of it is for one
 * thread of ours: the system binds a traced process to the thread that stopped it, and lets it go
 * when that thread ends.
 *
 * No signal is delivered to the process because of us or taken from it, and system calls that were
 * interrupted are restarted by the kernel.
 */
#ifndef SNAPSHOT_CAPTURE_TRACE_H
#define SNAPSHOT_CAPTURE_TRACE_H

#include "base/error.h"
#include "snapshot/capture/thread.h"

/* A process with its threads, in the order of threads[] and registers[]. */
struct snap_trace {
	pid_t process;
	struct snap_traced *threads;
	struct snap_core_thread *registers;
	uint64_t count, capacity, registers_capacity;
	bool must_end; /* a thread is not stopped: it is let go when the tracing thread ends */
};

/* For a thread to stop. */
#define SNAP_TRACE_PATIENCE ((struct snap_patience){.ms = 5000, .until_signal = true})

/*
 * Stops every thread and reads its registers.  HG_ERROR_INPUT when that is not permitted (with what
 * to do), when the process has ended, or when a thread does not stop for several seconds.  On
 * failure nothing is stopped, or 'must_end' is set.
 */
enum hg_status snap_trace_stop(struct snap_trace *trace, pid_t process, struct hg_error *error);

/* Lets all threads go on that are stopped, and frees.  Harmless when done again. */
void snap_trace_release(struct snap_trace *trace);

/* Stops one thread; false when it has ended, does not stop, or is not ours to trace. */
bool snap_trace_stop_one(struct snap_traced *thread, struct snap_patience patience);

/* Says that a process has ended, if it has; else that it does not do what is asked of it. */
enum hg_status snap_trace_lost(pid_t process, struct hg_error *error);

#endif
