/*
 * A system call that a stopped thread is made to do: it is given other registers, and beneath them
 * a net (arch/net.h) that brings it back to its own if nobody does.
 *
 * In order: snap_call_settle(), snap_call_begin(), snap_call_ask(), snap_call_run(),
 * snap_call_finish().
 */
#ifndef SNAPSHOT_CAPTURE_CALL_H
#define SNAPSHOT_CAPTURE_CALL_H

#include "snapshot/arch/net.h"
#include "snapshot/capture/core_file.h"
#include "snapshot/capture/trace.h"

struct snap_call {
	pid_t thread;
	const struct snap_net_code *code;
	uint64_t registers[SNAP_NATIVE_REGISTERS]; /* as it was */
	uint64_t mask;
	struct snap_net net;
	int status; /* of the stop it is in */
	uint64_t result;
	pid_t child; /* that the call made, stopped; or 0 */
};

enum snap_outcome {
	SNAP_CALL_DONE,
	SNAP_CALL_REFUSED, /* it could not begin; the thread is as it was */
	SNAP_CALL_LEFT     /* to its net: it has ended, or does not stop */
};

struct snap_request {
	uint64_t number;
	uint64_t arguments[SNAP_NATIVE_ARGUMENTS];
};

/*
 * Lets a thread that has to settle (snap_net_must_settle()) get to the beginning of the system call
 * that it is in, with its registers in 'thread', in which restart_syscall(2) is the call that it
 * goes on with.  SNAP_CALL_REFUSED: it is at another place now.
 */
enum snap_outcome snap_call_settle(struct snap_core_thread *thread);

/* Reads how the thread is, and spreads below an address a net that leads to its settled registers.
 */
enum snap_outcome snap_call_begin(struct snap_call *call, const struct snap_net_code *code,
	pid_t process, const struct snap_core_thread *thread, uint64_t below);

/* Gives it the registers of the call, with the stack pointer at a frame of the net. */
bool snap_call_ask(struct snap_call *call, const struct snap_request *request, uint64_t stack);

/* From before the call to its end, or to the birth of a child. */
enum snap_outcome snap_call_run(struct snap_call *call, struct snap_time_limit limit);

/*
 * Back into the kind of stop the thread was in: only on leaving that one does the kernel restart
 * the system call that was interrupted.  Then all is put back; the net was for accidents.
 * Returns 'outcome', or SNAP_CALL_LEFT.
 */
enum snap_outcome snap_call_finish(struct snap_call *call, enum snap_outcome outcome);

#endif
