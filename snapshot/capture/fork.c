/* System calls of a stopped process: the fork, and the wait for the copy that has ended. */
#include "snapshot/capture/fork.h"

#include "base/proc.h"
#include "snapshot/capture/call.h"

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
enum { LIMIT_FORK_MS = 120000 };

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
static bool take_child(struct snap_call *call)
{
	int status = 0;
	return snap_traced_await_stop(call->child, LIMIT_ALWAYS, &status) == SNAP_WAIT_STOPPED &&
	       ptrace(PTRACE_SETOPTIONS, call->child, NULL, (long)PTRACE_O_EXITKILL) == 0;
}

enum hg_status snap_fork(struct snap_trace *trace, const struct snap_fork_means *means,
	pid_t *child, struct hg_error *error)
{
	struct snap_time_limit limit = {.ms = LIMIT_FORK_MS, .until_signal = true};
	struct snap_call call;
	uint64_t below;
	struct obstacle obstacle;
	*child = 0;
	uint64_t chosen = choose_thread(trace, means, &below, &obstacle);
	if (chosen == trace->count)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"process %d cannot be forked: it %s", (int)trace->process, obstacle.why);
	struct snap_traced *thread = &trace->threads[chosen];
	struct snap_core_thread settled = trace->registers[chosen];
	enum snap_outcome outcome = snap_call_settle(&settled);
	if (outcome == SNAP_CALL_LEFT)
		return let_go_failed(trace, thread, error);
	if (outcome == SNAP_CALL_REFUSED)
		return no_fork(trace, error, "a wait of it cannot be gone on with");
	if (snap_call_begin(&call, &means->code, trace->process, &settled, below) != SNAP_CALL_DONE)
		return no_fork(trace, error, "its stack has no room");
	/* No signal to the parent when the child ends. */
	const struct snap_request request = {
		SYS_clone, {CLONE_PARENT_SETTID, call.net.end, call.net.child}};
	if (!snap_call_ask(&call, &request, call.net.wait))
		return let_go_failed(trace, thread, error);
	outcome = snap_call_run(&call, limit);
	bool taken = outcome == SNAP_CALL_DONE && call.child && take_child(&call);
	if (outcome == SNAP_CALL_DONE)
		outcome = snap_call_finish(&call, outcome);
	if (outcome == SNAP_CALL_LEFT || (call.child && !taken))
		return let_go_failed(trace, thread, error);
	if (outcome == SNAP_CALL_REFUSED)
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
static bool wait_for_one(struct reaping *reaping, struct snap_traced *thread,
	const struct snap_core_thread *settled, uint64_t below)
{
	struct snap_request request = {
		SYS_wait4, {(uint64_t)reaping->ids[reaping->done], 0, __WALL | WNOHANG}};
	for (unsigned i = 0; i < 100; i++) {
		struct snap_call call;
		if (snap_call_begin(&call, &reaping->means->code, reaping->process, settled,
			    below) != SNAP_CALL_DONE)
			return false;
		enum snap_outcome outcome = SNAP_CALL_LEFT;
		if (snap_call_ask(&call, &request, call.net.home))
			outcome = snap_call_run(&call, LIMIT_ALWAYS);
		if (outcome == SNAP_CALL_DONE)
			outcome = snap_call_finish(&call, outcome);
		if (outcome == SNAP_CALL_LEFT) {
			thread->stopped = false;
			reaping->must_end = true;
		}
		if (outcome != SNAP_CALL_DONE || call.result != 0)
			return outcome == SNAP_CALL_DONE;
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
	enum snap_outcome settled = SNAP_CALL_REFUSED;
	if (snap_traced_registers(id, registers.registers))
		settled = snap_call_settle(&registers);
	if (settled == SNAP_CALL_LEFT) {
		thread.stopped = false;
		reaping->must_end = true;
	}
	uint64_t below = settled == SNAP_CALL_DONE ? find_room(reaping->process, &registers,
							     reaping->means, &obstacle)
						   : 0;
	while (below && reaping->done < reaping->count &&
		wait_for_one(reaping, &thread, &registers, below))
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
