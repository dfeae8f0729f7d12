/* A system call that a stopped thread is made to do. */
#include "snapshot/capture/call.h"

#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

/* A thread of a frozen cgroup does not get to the beginning of a call. */
enum { LIMIT_ENTRY_MS = 2000 };

#define LIMIT_ALWAYS ((struct snap_time_limit){.ms = 5000})

static enum snap_outcome restore_thread(struct snap_call *call, enum snap_outcome outcome)
{
	/* The mask first: wherever the registers lead to, there is its own mask in the end. */
	return snap_traced_set_mask(call->thread, call->mask) &&
			       snap_traced_set_registers(call->thread, call->registers) &&
			       ptrace(PTRACE_SETOPTIONS, call->thread, NULL, 0L) == 0
		       ? outcome
		       : SNAP_CALL_LEFT;
}

enum snap_outcome snap_call_finish(struct snap_call *call, enum snap_outcome outcome)
{
	ptrace(PTRACE_INTERRUPT, call->thread, NULL, NULL);
	return snap_traced_await_stop(call->thread, LIMIT_ALWAYS, &call->status) ==
			       SNAP_WAIT_STOPPED
		       ? restore_thread(call, outcome)
		       : SNAP_CALL_LEFT;
}

static bool will_begin_anew(const struct snap_call *call)
{
	int64_t result = (int64_t)call->result;
	return result <= -512 && result >= -516;
}

enum snap_outcome snap_call_run(struct snap_call *call, struct snap_time_limit limit)
{
	uint64_t registers[SNAP_NATIVE_REGISTERS];
	unsigned long message;
	bool inside = false;
	for (;;) {
		struct snap_time_limit here = {
			inside ? limit.ms : LIMIT_ENTRY_MS, inside && limit.until_signal};
		enum snap_wait got =
			snap_traced_go(call->thread, PTRACE_SYSCALL, here, &call->status);
		if (got == SNAP_WAIT_NOTHING && !inside) {
			call->status = 0;
			return snap_call_finish(call, SNAP_CALL_REFUSED);
		}
		if (got != SNAP_WAIT_STOPPED)
			return SNAP_CALL_LEFT;
		if (snap_is_event(call->status, PTRACE_EVENT_CLONE) &&
			ptrace(PTRACE_GETEVENTMSG, call->thread, NULL, &message) == 0) {
			call->child = (pid_t)message;
			return SNAP_CALL_DONE;
		}
		if (!snap_is_syscall(call->status))
			continue;
		inside = !inside;
		if (inside)
			continue;
		if (!snap_traced_registers(call->thread, registers))
			return SNAP_CALL_LEFT;
		call->result = registers[SNAP_NATIVE_RESULT];
		if (!will_begin_anew(call))
			return SNAP_CALL_DONE;
	}
}

/* Registers first, and then the mask: until then a handler finds room below the net. */
bool snap_call_ask(struct snap_call *call, const struct snap_request *request, uint64_t stack)
{
	uint64_t registers[SNAP_NATIVE_REGISTERS];
	memcpy(registers, call->registers, sizeof(registers));
	registers[SNAP_NATIVE_NUMBER] = request->number;
	for (size_t i = 0; i < SNAP_NATIVE_ARGUMENTS; i++)
		registers[snap_native_arguments[i]] = request->arguments[i];
	registers[SNAP_NATIVE_PC] = call->code->call;
	registers[SNAP_NATIVE_SP] = stack;
	snap_native_leave_call(registers, call->code->return_from_signal);
	return snap_traced_set_registers(call->thread, registers) &&
	       snap_traced_set_mask(call->thread, UINT64_MAX);
}

enum snap_outcome snap_call_settle(struct snap_core_thread *thread)
{
	enum { ROUNDS = 3 };
	struct snap_time_limit limit = {.ms = LIMIT_ENTRY_MS};
	pid_t id = (pid_t)thread->id;
	uint64_t stack = thread->registers[SNAP_NATIVE_SP], number = SYS_restart_syscall;
	for (unsigned i = 0; snap_net_must_settle(id, thread->registers); i++) {
		int status = 0;
		number = thread->registers[SNAP_NATIVE_NUMBER];
		/* A call that had not begun takes a round more. */
		if (i == ROUNDS)
			return SNAP_CALL_REFUSED;
		if (ptrace(PTRACE_SETOPTIONS, id, NULL, (long)PTRACE_O_TRACESYSGOOD) != 0 ||
			snap_traced_go(id, PTRACE_SYSCALL, limit, &status) == SNAP_WAIT_GONE)
			return SNAP_CALL_LEFT;
		ptrace(PTRACE_INTERRUPT, id, NULL, NULL);
		if (snap_traced_await_stop(id, LIMIT_ALWAYS, &status) != SNAP_WAIT_STOPPED ||
			!snap_traced_registers(id, thread->registers))
			return SNAP_CALL_LEFT;
	}
	if (thread->registers[SNAP_NATIVE_NUMBER] == SYS_restart_syscall)
		thread->registers[SNAP_NATIVE_NUMBER] = number;
	/* In a handler of a signal. */
	return thread->registers[SNAP_NATIVE_SP] == stack ? SNAP_CALL_DONE : SNAP_CALL_REFUSED;
}

enum snap_outcome snap_call_begin(struct snap_call *call, const struct snap_net_code *code,
	pid_t process, const struct snap_core_thread *thread, uint64_t below)
{
	long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE;
	pid_t id = (pid_t)thread->id;
	*call = (struct snap_call){.thread = id, .code = code};
	if (!snap_traced_registers(id, call->registers) || !snap_traced_mask(id, &call->mask) ||
		!snap_net_spread(&call->net, process, id, call->code, thread->registers, call->mask,
			below) ||
		ptrace(PTRACE_SETOPTIONS, id, NULL, options) != 0)
		return SNAP_CALL_REFUSED;
	return SNAP_CALL_DONE;
}
