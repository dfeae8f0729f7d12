/* System calls of a stopped process: the fork, and the wait for the copy that has ended. */
#include "snapshot/capture/fork.h"

#include "base/proc.h"

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

/*
 * Copying the tables of pages takes about 10 ms for a gigabyte, and many times that where others
 * want the processor.  Other waits are for moments.
 */
enum { LIMIT_FORK_MS = 120000, LIMIT_ENTRY_MS = 2000 };

#define LIMIT_ALWAYS ((struct snap_time_limit){.ms = 5000})

void snap_fork_prepare(
	struct snap_fork_means *means, pid_t process, const struct snap_fibers *fibers)
{
	*means = (struct snap_fork_means){.fibers = fibers};
	means->has_code = snap_net_find_code(process, &means->code);
}

/* Threads that can be used */

/*
 * A thread amid a restartable sequence (rseq(2)) must come out of it as the kernel has it; with
 * other registers it would not.
 */
static bool is_amid_sequence(pid_t process, const struct snap_core_thread *thread)
{
	enum { SEQUENCE = 8 };
	struct __ptrace_rseq_configuration where;
	struct {
		uint32_t version, flags;
		uint64_t start, size, abort;
	} sequence;
	uint64_t address, pc = thread->registers[SNAP_NATIVE_PC];
	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, (pid_t)thread->id, (void *)sizeof(where),
		    &where) != (long)sizeof(where) ||
		where.rseq_abi_pointer == 0)
		return false;
	if (base_proc_read_memory(process, where.rseq_abi_pointer + SEQUENCE, &address,
		    sizeof(address)) != sizeof(address) ||
		address == 0)
		return false;
	return base_proc_read_memory(process, address, &sequence, sizeof(sequence)) !=
		       sizeof(sequence) ||
	       pc - sequence.start < sequence.size;
}

/* What keeps a thread from doing a system call for us. */
struct obstacle {
	const char *why; /* the end of a sentence; NULL: nothing */
	bool passes;     /* it may be otherwise at another moment */
};

/* A filter may end a process for a system call. */
static struct obstacle obstacle_in_status(pid_t process, pid_t thread)
{
	char line[256];
	struct obstacle found = {0};
	FILE *file = base_proc_open(process, thread, "status");
	if (!file)
		return (struct obstacle){"cannot be looked at", true};
	while (!found.why && fgets(line, sizeof(line), file)) {
		if (strcmp(line, "Seccomp:\t2\n") == 0)
			found.why = "has a seccomp filter";
		else
			found.why = snap_net_obstacle_in_status(line);
	}
	fclose(file);
	return found;
}

static struct obstacle obstacle_of(pid_t process, const struct snap_core_thread *thread)
{
	struct obstacle found = obstacle_in_status(process, (pid_t)thread->id);
	if (!found.why)
		found.why = snap_net_obstacle_in_registers((pid_t)thread->id, thread->registers);
	if (found.why)
		return found;
	if (is_amid_sequence(process, thread))
		return (struct obstacle){"is amid a restartable sequence", true};
	return (struct obstacle){0};
}

/* The address below which a thread can be given a net; else 0, and why not. */
static uint64_t find_room(pid_t process, const struct snap_core_thread *thread,
	const struct snap_fork_means *means, struct obstacle *obstacle)
{
	*obstacle = obstacle_of(process, thread);
	uint64_t below = obstacle->why ? 0 : snap_room_below(process, thread, means->fibers);
	if (!obstacle->why && !below)
		*obstacle = (struct obstacle){"runs on a stack that is not known", true};
	return below;
}

/* The first thread that can be used; else trace->count, and the first thing that may pass. */
static uint64_t choose_thread(const struct snap_trace *trace, const struct snap_fork_means *means,
	uint64_t *below, struct obstacle *obstacle)
{
	*below = 0;
	*obstacle = (struct obstacle){
		means->fibers->hidden ? means->fibers->hidden : "has no code for a system call",
		false};
	if (means->fibers->hidden || !means->has_code ||
		!snap_net_code_is(trace->process, &means->code))
		return trace->count;
	for (uint64_t i = 0; i < trace->count; i++) {
		struct obstacle one;
		*below = find_room(trace->process, &trace->registers[i], means, &one);
		if (*below)
			return i;
		if (!obstacle->passes)
			*obstacle = one;
	}
	return trace->count;
}

bool snap_fork_must_wait(const struct snap_trace *trace, const struct snap_fork_means *means)
{
	uint64_t below;
	struct obstacle obstacle;
	return choose_thread(trace, means, &below, &obstacle) == trace->count && obstacle.passes;
}

/* One system call */

struct call {
	pid_t thread;
	const struct snap_net_code *code;
	uint64_t registers[SNAP_NATIVE_REGISTERS]; /* as it was */
	uint64_t mask;
	struct snap_net net;
	int status; /* of the stop it is in */
	uint64_t result;
	pid_t child; /* that the call made, stopped; or 0 */
};

enum outcome {
	CALL_DONE,
	CALL_REFUSED, /* it could not begin; the thread is as it was */
	CALL_LEFT     /* to its net: it has ended, or does not stop */
};

struct request {
	uint64_t number;
	uint64_t arguments[SNAP_NATIVE_ARGUMENTS];
};

static enum outcome restore_thread(struct call *call, enum outcome outcome)
{
	/* The mask first: wherever the registers lead to, there is its own mask in the end. */
	return snap_traced_set_mask(call->thread, call->mask) &&
			       snap_traced_set_registers(call->thread, call->registers) &&
			       ptrace(PTRACE_SETOPTIONS, call->thread, NULL, 0L) == 0
		       ? outcome
		       : CALL_LEFT;
}

/*
 * Back into the kind of stop the thread was in: only on leaving that one does the kernel restart
 * the system call that was interrupted.  Then all is put back; the net was for accidents.
 */
static enum outcome finish_call(struct call *call, enum outcome outcome)
{
	ptrace(PTRACE_INTERRUPT, call->thread, NULL, NULL);
	return snap_traced_await_stop(call->thread, LIMIT_ALWAYS, &call->status) ==
			       SNAP_WAIT_STOPPED
		       ? restore_thread(call, outcome)
		       : CALL_LEFT;
}

static bool will_begin_anew(const struct call *call)
{
	int64_t result = (int64_t)call->result;
	return result <= -512 && result >= -516;
}

/*
 * From before the call to its end, or to the birth of a child.  A thread of a frozen cgroup does
 * not get to the beginning.
 */
static enum outcome run_call(struct call *call, struct snap_time_limit limit)
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
			return finish_call(call, CALL_REFUSED);
		}
		if (got != SNAP_WAIT_STOPPED)
			return CALL_LEFT;
		if (snap_is_event(call->status, PTRACE_EVENT_CLONE) &&
			ptrace(PTRACE_GETEVENTMSG, call->thread, NULL, &message) == 0) {
			call->child = (pid_t)message;
			return CALL_DONE;
		}
		if (!snap_is_syscall(call->status))
			continue;
		inside = !inside;
		if (inside)
			continue;
		if (!snap_traced_registers(call->thread, registers))
			return CALL_LEFT;
		call->result = registers[SNAP_NATIVE_RESULT];
		if (!will_begin_anew(call))
			return CALL_DONE;
	}
}

/* Registers first, and then the mask: until then a handler finds room below the net. */
static bool set_registers(struct call *call, const struct request *request, uint64_t stack)
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

/*
 * Lets a thread that has to settle get to the beginning of the system call that it is in, with its
 * registers in 'thread'.  A call that had not begun when it was stopped is made and interrupted
 * then, so that it takes another round.  CALL_REFUSED: the rounds are used up, or it is at another
 * place now.
 */
static enum outcome settle_thread(struct snap_core_thread *thread)
{
	enum { ROUNDS = 3 };
	struct snap_time_limit limit = {.ms = LIMIT_ENTRY_MS};
	pid_t id = (pid_t)thread->id;
	uint64_t stack = thread->registers[SNAP_NATIVE_SP];
	for (unsigned i = 0; snap_net_must_settle(id, thread->registers); i++) {
		int status = 0;
		if (i == ROUNDS)
			return CALL_REFUSED;
		if (ptrace(PTRACE_SETOPTIONS, id, NULL, (long)PTRACE_O_TRACESYSGOOD) != 0 ||
			snap_traced_go(id, PTRACE_SYSCALL, limit, &status) == SNAP_WAIT_GONE)
			return CALL_LEFT;
		ptrace(PTRACE_INTERRUPT, id, NULL, NULL);
		if (snap_traced_await_stop(id, LIMIT_ALWAYS, &status) != SNAP_WAIT_STOPPED ||
			!snap_traced_registers(id, thread->registers))
			return CALL_LEFT;
	}
	/* In a handler of a signal. */
	return thread->registers[SNAP_NATIVE_SP] == stack ? CALL_DONE : CALL_REFUSED;
}

/* Reads how the thread is, and spreads its net. */
static enum outcome begin_call(struct call *call, const struct snap_fork_means *means,
	pid_t process, pid_t thread, uint64_t below)
{
	long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE;
	*call = (struct call){.thread = thread, .code = &means->code};
	if (!snap_traced_registers(thread, call->registers) ||
		!snap_traced_mask(thread, &call->mask) ||
		!snap_net_spread(&call->net, process, thread, call->code, call->registers,
			call->mask, below) ||
		ptrace(PTRACE_SETOPTIONS, thread, NULL, options) != 0)
		return CALL_REFUSED;
	return CALL_DONE;
}

/* The fork */

static enum hg_status no_fork(
	const struct snap_trace *trace, struct hg_error *error, const char *why)
{
	return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET, "process %d cannot be forked: %s",
		(int)trace->process, why);
}

/*
 * Whether a thread that does not do what it is asked has ended: one that is being killed is not to
 * be traced any more while it still gives back its memory.
 */
static bool is_ending(pid_t process, pid_t thread)
{
	enum { LOOKS = 100, BETWEEN_NS = 10000000 };
	for (unsigned i = 0; i < LOOKS; i++) {
		if (base_proc_has_ended(process, thread))
			return true;
		nanosleep(&(struct timespec){.tv_nsec = BETWEEN_NS}, NULL);
	}
	return false;
}

static enum hg_status let_go_failed(
	struct snap_trace *trace, struct snap_traced *thread, struct hg_error *error)
{
	thread->stopped = false;
	trace->must_end = true;
	if (snap_signal_waits())
		return base_fail(error, HG_ERROR_CANCELLED, HG_NO_OFFSET, "cancelled");
	if (!is_ending(trace->process, thread->id))
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"process %d does not get to the end of a fork; it goes on",
			(int)trace->process);
	return snap_trace_lost(trace->process, error);
}

/* Whoever traces the parent traces the child, which stops before it runs. */
static bool take_child(struct call *call)
{
	int status = 0;
	return snap_traced_await_stop(call->child, LIMIT_ALWAYS, &status) == SNAP_WAIT_STOPPED &&
	       ptrace(PTRACE_SETOPTIONS, call->child, NULL, (long)PTRACE_O_EXITKILL) == 0;
}

enum hg_status snap_fork(struct snap_trace *trace, const struct snap_fork_means *means,
	pid_t *child, struct hg_error *error)
{
	struct snap_time_limit limit = {.ms = LIMIT_FORK_MS, .until_signal = true};
	struct call call;
	uint64_t below;
	struct obstacle obstacle;
	*child = 0;
	uint64_t chosen = choose_thread(trace, means, &below, &obstacle);
	if (chosen == trace->count)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"process %d cannot be forked: it %s", (int)trace->process, obstacle.why);
	struct snap_traced *thread = &trace->threads[chosen];
	struct snap_core_thread settled = trace->registers[chosen];
	enum outcome outcome = settle_thread(&settled);
	if (outcome == CALL_LEFT)
		return let_go_failed(trace, thread, error);
	if (outcome == CALL_REFUSED)
		return no_fork(trace, error, "a wait of it cannot be gone on with");
	if (begin_call(&call, means, trace->process, thread->id, below) != CALL_DONE)
		return no_fork(trace, error, "its stack has no room");
	/* No signal to the parent when the child ends. */
	const struct request request = {
		SYS_clone, {CLONE_PARENT_SETTID, call.net.end, call.net.child}};
	if (!set_registers(&call, &request, call.net.wait))
		return let_go_failed(trace, thread, error);
	outcome = run_call(&call, limit);
	bool taken = outcome == CALL_DONE && call.child && take_child(&call);
	if (outcome == CALL_DONE)
		outcome = finish_call(&call, outcome);
	if (outcome == CALL_LEFT || (call.child && !taken))
		return let_go_failed(trace, thread, error);
	if (outcome == CALL_REFUSED)
		return no_fork(trace, error, "it does not run (frozen by its cgroup, perhaps)");
	if (!call.child)
		return no_fork(trace, error, strerror((int)-(int64_t)call.result));
	*child = call.child;
	return HG_OK;
}

/* The end of a copy */

/* As the tracer of the child, so that then its parent may wait for it. */
static void kill_child(pid_t child)
{
	int status = 0;
	kill(child, SIGKILL);
	/* Giving back its memory may take seconds, in which nothing stands still. */
	struct snap_time_limit limit = {.ms = LIMIT_FORK_MS};
	while (snap_traced_wait(child, limit, &status) == SNAP_WAIT_STOPPED)
		continue;
}

/*
 * A zombie that only a copy can be: its parent is not told of its end, it was killed, and did
 * nothing else before.
 */
static bool is_old_copy(pid_t process, pid_t id)
{
	struct base_proc_stat stat;
	return base_proc_read_stat(id, 0, &stat) && stat.state == 'Z' && stat.parent == process &&
	       stat.exit_signal == 0 && stat.exit_code == SIGKILL;
}

enum { MOST_COPIES = 16 };

/* Stops one thread and has it wait. */
struct reaping {
	pid_t process;
	const struct snap_fork_means *means;
	pid_t ids[MOST_COPIES];
	unsigned count, done;
	bool must_end;
};

/* It may take a moment until the child is the parent's to wait for. */
static bool wait_for_one(struct reaping *reaping, struct snap_traced *thread, uint64_t below)
{
	struct request request = {
		SYS_wait4, {(uint64_t)reaping->ids[reaping->done], 0, __WALL | WNOHANG}};
	for (unsigned i = 0; i < 100; i++) {
		struct call call;
		if (begin_call(&call, reaping->means, reaping->process, thread->id, below) !=
			CALL_DONE)
			return false;
		enum outcome outcome = CALL_LEFT;
		if (set_registers(&call, &request, call.net.home))
			outcome = run_call(&call, LIMIT_ALWAYS);
		if (outcome == CALL_DONE)
			outcome = finish_call(&call, outcome);
		if (outcome == CALL_LEFT) {
			thread->stopped = false;
			reaping->must_end = true;
		}
		if (outcome != CALL_DONE || call.result != 0)
			return outcome == CALL_DONE;
		nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
	}
	return false;
}

static void reap_in(struct reaping *reaping, pid_t id)
{
	struct snap_traced thread = {.id = id};
	struct snap_core_thread registers = {.id = (uint32_t)id};
	struct obstacle obstacle;
	if (!snap_trace_stop_one(&thread, LIMIT_ALWAYS)) {
		reaping->must_end |= !thread.gone;
		return;
	}
	enum outcome settled = CALL_REFUSED;
	if (snap_traced_registers(id, registers.registers))
		settled = settle_thread(&registers);
	if (settled == CALL_LEFT) {
		thread.stopped = false;
		reaping->must_end = true;
	}
	uint64_t below = settled == CALL_DONE ? find_room(reaping->process, &registers,
							reaping->means, &obstacle)
					      : 0;
	while (below && reaping->done < reaping->count && wait_for_one(reaping, &thread, below))
		reaping->done++;
	if (thread.stopped)
		ptrace(PTRACE_DETACH, id, NULL, NULL);
}

/* Calls visit() for every thread until it has had enough. */
static void for_each_thread(struct reaping *reaping, void (*visit)(struct reaping *, pid_t))
{
	char path[BASE_PROC_PATH];
	struct dirent *entry;
	base_proc_path(path, reaping->process, 0, "task");
	DIR *folder = opendir(path);
	while (folder && !reaping->must_end && (entry = readdir(folder))) {
		pid_t id = (pid_t)strtol(entry->d_name, NULL, 10);
		if (id > 0)
			visit(reaping, id);
	}
	if (folder)
		closedir(folder);
}

/* The old copies among the children of a thread, while the list has room. */
static void list_of(struct reaping *reaping, pid_t thread)
{
	int id;
	FILE *file = base_proc_open(reaping->process, thread, "children");
	while (file && reaping->count < MOST_COPIES && fscanf(file, "%d", &id) == 1)
		if (is_old_copy(reaping->process, id))
			reaping->ids[reaping->count++] = id;
	if (file)
		fclose(file);
}

static void reap_if_left(struct reaping *reaping, pid_t thread)
{
	if (reaping->done < reaping->count)
		reap_in(reaping, thread);
}

/* Whether all that are listed are waited for. */
static bool reap_listed(struct reaping *reaping)
{
	enum { ATTEMPTS = 10 };
	/* At another moment a thread may be on another stack. */
	for (unsigned i = 0; i < ATTEMPTS && reaping->done < reaping->count && !reaping->must_end;
		i++) {
		if (i > 0)
			nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
		for_each_thread(reaping, reap_if_left);
	}
	return reaping->done == reaping->count && !reaping->must_end;
}

bool snap_fork_end_child(
	pid_t process, pid_t child, const struct snap_fork_means *means, bool *must_end)
{
	enum { MOST_LISTS = 1000 }; /* the program may make more, or not be allowed to wait */
	struct reaping reaping = {.process = process, .means = means, .ids = {child}, .count = 1};
	kill_child(child);
	bool all = reap_listed(&reaping);
	bool is_reaped = reaping.done > 0;
	for (unsigned i = 0; i < MOST_LISTS && all && reaping.count > 0; i++) {
		reaping.count = reaping.done = 0;
		for_each_thread(&reaping, list_of);
		all = reap_listed(&reaping);
	}
	*must_end |= reaping.must_end;
	/* A process that has ended leaves its children to init. */
	return is_reaped || kill(process, 0) != 0;
}
