#include "snapshot/live_trace.h"

#include "base/grow.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(struct user_regs_struct) == SNAP_CORE_REGISTERS * sizeof(uint64_t),
	"registers as in core files");

enum {
	PATIENCE_MS = 5000, /* for a thread to stop */
	SYSCALL_STOP = SIGTRAP | 0x80,
	SYSCALL_BYTES = 2 /* of the instruction: 0f 05 */
};

static enum hg_status gone(struct hg_error *error, pid_t process)
{
	return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET, "process %d has ended", (int)process);
}

static uint64_t milliseconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* What /proc/ID/status says behind a key, as a number; 0 if it does not. */
static long status_number(pid_t id, const char *key)
{
	char path[64], line[256];
	long number = 0;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)id);
	FILE *file = fopen(path, "re");
	size_t length = strlen(key);
	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, key, length) == 0 && line[length] == ':')
			number = strtol(line + length + 1, NULL, 10);
	if (file)
		fclose(file);
	return number;
}

/*
 * waitpid() that does not wait.  How a child of our own ended is left for whoever started it; it
 * counts as no child any more: -1.
 */
static pid_t poll_for(pid_t id, int *status)
{
	siginfo_t about = {0};
	int events = WEXITED | WSTOPPED | __WALL | WNOHANG | WNOWAIT;
	if (waitid(P_PID, (id_t)id, &about, events) != 0)
		return errno == EINTR ? 0 : -1;
	bool ended = about.si_code == CLD_EXITED || about.si_code == CLD_KILLED ||
		     about.si_code == CLD_DUMPED;
	if (about.si_pid == id && ended && status_number(id, "PPid") == getpid())
		return -1;
	return about.si_pid ? waitpid(id, status, __WALL | WNOHANG) : 0;
}

/* Waits, but not for ever; 0 when nothing comes. */
static pid_t wait_for(pid_t id, int *status)
{
	uint64_t until = milliseconds() + PATIENCE_MS;
	for (unsigned round = 0;; round++) {
		pid_t got = poll_for(id, status);
		if (got != 0)
			return got;
		if (milliseconds() >= until)
			return 0;
		if (round < 200)
			sched_yield();
		else
			nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
	}
}

static bool is_event(int status, int event)
{
	return WIFSTOPPED(status) && status >> 16 == event;
}

/* Stopping */

/* A thread that has ended, but whose process has not been waited for. */
static bool is_dead(pid_t process, pid_t id)
{
	char path[96], line[512];
	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)process, (int)id);
	FILE *file = fopen(path, "re");
	size_t got = file ? fread(line, 1, sizeof(line) - 1, file) : 0;
	if (file)
		fclose(file);
	line[got] = '\0';
	const char *state = strrchr(line, ')');
	return !state || strchr("ZXx", state[1] ? state[2] : 'Z');
}

static enum hg_status not_permitted(struct hg_error *error, pid_t process)
{
	int scope = 0;
	long tracer = status_number(process, "TracerPid");
	if (tracer)
		return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"process %d is traced by process %ld, a debugger perhaps: end that first",
			(int)process, tracer);
	FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	if (file && fscanf(file, "%d", &scope) != 1)
		scope = 0;
	if (file)
		fclose(file);
	return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
		"not permitted to trace process %d: be the same user or root, or have "
		"CAP_SYS_PTRACE%s",
		(int)process,
		scope ? "; or, as root, write 0 to /proc/sys/kernel/yama/ptrace_scope" : "");
}

static struct snap_traced *find_thread(const struct snap_trace *trace, pid_t id)
{
	for (uint64_t i = 0; i < trace->count; i++)
		if (trace->threads[i].id == id)
			return &trace->threads[i];
	return NULL;
}

static enum hg_status seize(struct snap_trace *trace, pid_t id, struct hg_error *error)
{
	BASE_TRY(base_grow(
		&trace->threads, trace->count, &trace->capacity, sizeof(*trace->threads), error));
	if (ptrace(PTRACE_SEIZE, id, NULL, NULL) == 0) {
		trace->threads[trace->count++] = (struct snap_traced){.id = id};
		ptrace(PTRACE_INTERRUPT, id, NULL, NULL);
		return HG_OK;
	}
	if (errno == ESRCH || is_dead(trace->process, id))
		return HG_OK;
	return not_permitted(error, trace->process);
}

/*
 * Waits until a thread has stopped for us.  Signals that are about to be delivered meanwhile, are.
 */
static bool wait_stopped(struct snap_traced *thread)
{
	int status;
	while (!thread->stopped && !thread->gone) {
		pid_t got = wait_for(thread->id, &status);
		if (got == 0)
			return false;
		if (got < 0 || WIFEXITED(status) || WIFSIGNALED(status))
			thread->gone = true;
		else if (is_event(status, PTRACE_EVENT_STOP))
			thread->stopped = true;
		else if (WIFSTOPPED(status))
			ptrace(PTRACE_CONT, thread->id, NULL,
				status >> 16 ? 0L : (long)WSTOPSIG(status));
	}
	return true;
}

/* Seizes the threads that are new; how many were. */
static enum hg_status seize_new(struct snap_trace *trace, uint64_t *news, struct hg_error *error)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/task", (int)trace->process);
	DIR *folder = opendir(path);
	struct dirent *entry;
	enum hg_status status = HG_OK;
	uint64_t before = trace->count;
	if (!folder)
		return gone(error, trace->process);
	while (status == HG_OK && (entry = readdir(folder))) {
		pid_t id = (pid_t)strtol(entry->d_name, NULL, 10);
		if (id > 0 && !find_thread(trace, id))
			status = seize(trace, id, error);
	}
	closedir(folder);
	*news = trace->count - before;
	return status;
}

static bool get_registers(pid_t id, uint64_t *registers)
{
	struct iovec io = {registers, SNAP_CORE_REGISTERS * sizeof(*registers)};
	return ptrace(PTRACE_GETREGSET, id, (void *)NT_PRSTATUS, &io) == 0;
}

static bool set_registers(pid_t id, const uint64_t *registers)
{
	struct iovec io = {(void *)(uintptr_t)registers, SNAP_CORE_REGISTERS * sizeof(*registers)};
	return ptrace(PTRACE_SETREGSET, id, (void *)NT_PRSTATUS, &io) == 0;
}

/* Drops threads that have ended, and reads the registers of the others. */
static enum hg_status read_registers(struct snap_trace *trace, struct hg_error *error)
{
	uint64_t kept = 0;
	for (uint64_t i = 0; i < trace->count; i++)
		if (!trace->threads[i].gone)
			trace->threads[kept++] = trace->threads[i];
	trace->count = kept;
	for (uint64_t i = 0; i < kept; i++) {
		BASE_TRY(base_grow(&trace->registers, i, &trace->registers_capacity,
			sizeof(*trace->registers), error));
		trace->registers[i].id = (uint32_t)trace->threads[i].id;
		if (!get_registers(trace->threads[i].id, trace->registers[i].registers))
			return gone(error, trace->process);
	}
	return kept ? HG_OK : gone(error, trace->process);
}

static enum hg_status stop_all(struct snap_trace *trace, struct hg_error *error)
{
	uint64_t news = 0, done = 0;
	do {
		BASE_TRY(seize_new(trace, &news, error));
		for (; done < trace->count; done++)
			if (!wait_stopped(&trace->threads[done]))
				return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
					"thread %d of process %d does not stop: the kernel keeps "
					"it busy",
					(int)trace->threads[done].id, (int)trace->process);
	} while (news);
	return read_registers(trace, error);
}

enum hg_status snap_trace_stop(struct snap_trace *trace, pid_t process, struct hg_error *error)
{
	*trace = (struct snap_trace){.process = process};
	enum hg_status status = stop_all(trace, error);
	if (status != HG_OK)
		snap_trace_release(trace);
	return status;
}

void snap_trace_release(struct snap_trace *trace)
{
	for (uint64_t i = 0; i < trace->count; i++) {
		struct snap_traced *thread = &trace->threads[i];
		/* One that did not stop in time is let go by the kernel when we end. */
		if (thread->stopped || (!thread->gone && wait_stopped(thread)))
			ptrace(PTRACE_DETACH, thread->id, NULL, NULL);
	}
	free(trace->threads);
	free(trace->registers);
	*trace = (struct snap_trace){0};
}

/* System calls of the process */

/* A thread that is made to do a system call, and how it was before. */
struct call {
	pid_t thread;
	uint64_t registers[SNAP_CORE_REGISTERS];
	uint64_t mask; /* of blocked signals, as the kernel has it */
	uint64_t result;
	pid_t child; /* that the call made, stopped; or 0 */
};

/* Goes on to the next stop of a kind; false when the thread ended or nothing comes. */
static bool go_on(int request, pid_t thread, int *status)
{
	if (ptrace((enum __ptrace_request)request, thread, NULL, NULL) != 0)
		return false;
	pid_t got = wait_for(thread, status);
	return got == thread && WIFSTOPPED(*status);
}

/* From the entry of the call to its end, past the birth of a child. */
static bool run_call(struct call *call)
{
	int status;
	unsigned long message;
	if (!go_on(PTRACE_SYSCALL, call->thread, &status) || WSTOPSIG(status) != SYSCALL_STOP)
		return false;
	for (;;) {
		if (!go_on(PTRACE_SYSCALL, call->thread, &status))
			return false;
		if (WSTOPSIG(status) == SYSCALL_STOP)
			return true;
		if (is_event(status, PTRACE_EVENT_CLONE) &&
			ptrace(PTRACE_GETEVENTMSG, call->thread, NULL, &message) == 0)
			call->child = (pid_t)message;
	}
}

/*
 * Back into the kind of stop the thread was in: only on leaving that one does the kernel restart
 * the system call that was interrupted.
 */
static bool stop_again(struct call *call)
{
	int status;
	ptrace(PTRACE_INTERRUPT, call->thread, NULL, NULL);
	for (unsigned i = 0; i < 16; i++) {
		if (!go_on(PTRACE_CONT, call->thread, &status))
			return false;
		if (is_event(status, PTRACE_EVENT_STOP))
			return true;
	}
	return false;
}

/* Where they lie in user_regs_struct. */
enum { R10 = 7, RAX = 10, RDX = 12, RSI = 13, RDI = 14, ORIG_RAX = 15, RIP = 16, R8 = 9 };

/*
 * All signals wait meanwhile.  No single step: its SIGTRAP is forced on the thread, and would reset
 * what a program has set for that signal.
 */
static bool do_call(
	struct call *call, uint64_t instruction, uint64_t number, const uint64_t *arguments)
{
	uint64_t registers[SNAP_CORE_REGISTERS], all = UINT64_MAX;
	long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE;
	if (!get_registers(call->thread, call->registers) ||
		ptrace(PTRACE_GETSIGMASK, call->thread, (void *)sizeof(all), &call->mask) != 0)
		return false;
	memcpy(registers, call->registers, sizeof(registers));
	registers[RAX] = number;
	registers[RDI] = arguments[0];
	registers[RSI] = arguments[1];
	registers[RDX] = arguments[2];
	registers[R10] = arguments[3];
	registers[R8] = 0;
	registers[RIP] = instruction;
	registers[ORIG_RAX] = UINT64_MAX; /* no system call to restart */
	bool done = ptrace(PTRACE_SETOPTIONS, call->thread, NULL, options) == 0 &&
		    ptrace(PTRACE_SETSIGMASK, call->thread, (void *)sizeof(all), &all) == 0 &&
		    set_registers(call->thread, registers) && run_call(call) &&
		    get_registers(call->thread, registers);
	call->result = registers[RAX];
	bool stopped = stop_again(call);
	bool restored =
		set_registers(call->thread, call->registers) &&
		ptrace(PTRACE_SETSIGMASK, call->thread, (void *)sizeof(all), &call->mask) == 0 &&
		ptrace(PTRACE_SETOPTIONS, call->thread, NULL, 0L) == 0;
	return done && stopped && restored;
}

enum hg_status snap_trace_fork(
	struct snap_trace *trace, uint64_t instruction, pid_t *child, struct hg_error *error)
{
	/* No signal to the parent when it ends. */
	const uint64_t arguments[4] = {0};
	struct call call = {.thread = trace->threads[0].id};
	uint8_t code[SYSCALL_BYTES];
	int status;
	*child = 0;
	if (snap_core_read_process(&trace->process, instruction, code, sizeof(code)) !=
			sizeof(code) ||
		code[0] != 0x0f || code[1] != 0x05)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"process %d has no syscall instruction to fork with", (int)trace->process);
	bool done = do_call(&call, instruction, SYS_clone, arguments);
	*child = call.child;
	if (call.child && wait_for(call.child, &status) == call.child)
		ptrace(PTRACE_SETOPTIONS, call.child, NULL, (long)PTRACE_O_EXITKILL);
	if (!done) {
		trace->threads[0].gone = is_dead(trace->process, call.thread);
		return gone(error, trace->process);
	}
	if ((int64_t)call.result < 0 || call.child == 0)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"process %d cannot be forked: %s", (int)trace->process,
			strerror((int)-(int64_t)call.result));
	return HG_OK;
}

/* As the tracer of the child, so that then its parent may wait for it. */
static void kill_child(pid_t child)
{
	int status;
	kill(child, SIGKILL);
	for (unsigned i = 0; i < 16; i++) {
		pid_t got = wait_for(child, &status);
		if (got != child || WIFEXITED(status) || WIFSIGNALED(status))
			return;
	}
}

static bool reap_in(struct snap_traced *thread, pid_t child, uint64_t instruction)
{
	const uint64_t arguments[4] = {(uint64_t)child, 0, __WALL | WNOHANG, 0};
	bool reaped = false;
	/* It may take a moment until it is the parent's to wait for. */
	for (unsigned i = 0; i < 100 && !reaped; i++) {
		struct call call = {.thread = thread->id};
		if (!do_call(&call, instruction, SYS_wait4, arguments))
			return false;
		reaped = call.result != 0;
		if (!reaped)
			nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
	}
	return reaped;
}

bool snap_trace_end_child(pid_t process, pid_t child, uint64_t instruction)
{
	char path[64];
	bool reaped = false;
	kill_child(child);
	snprintf(path, sizeof(path), "/proc/%d/task", (int)process);
	DIR *folder = opendir(path);
	struct dirent *entry;
	while (folder && !reaped && (entry = readdir(folder))) {
		struct snap_traced thread = {.id = (pid_t)strtol(entry->d_name, NULL, 10)};
		if (thread.id <= 0 || ptrace(PTRACE_SEIZE, thread.id, NULL, NULL) != 0)
			continue;
		ptrace(PTRACE_INTERRUPT, thread.id, NULL, NULL);
		if (!wait_stopped(&thread) || thread.gone)
			continue;
		reaped = reap_in(&thread, child, instruction);
		ptrace(PTRACE_DETACH, thread.id, NULL, NULL);
	}
	if (folder)
		closedir(folder);
	/* A process that has ended leaves its children to init. */
	return reaped || kill(process, 0) != 0;
}

/* Finding the instruction */

static uint64_t find_in(pid_t process, uint64_t start, uint64_t end)
{
	enum { MOST = 4 << 20 };
	static const uint8_t syscall_bytes[SYSCALL_BYTES] = {0x0f, 0x05};
	uint64_t size = end - start < MOST ? end - start : MOST, found = 0;
	uint8_t *code = malloc(size);
	size_t got = code ? snap_core_read_process(&process, start, code, size) : 0;
	const uint8_t *at = got ? memmem(code, got, syscall_bytes, SYSCALL_BYTES) : NULL;
	if (at)
		found = start + (uint64_t)(at - code);
	free(code);
	return found;
}

/* In the vDSO, or in any other code. */
static uint64_t find_syscall(pid_t process, bool in_vdso)
{
	char path[64], line[PATH_MAX + 256];
	uint64_t found = 0;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)process);
	FILE *file = fopen(path, "re");
	while (file && found == 0 && fgets(line, sizeof(line), file)) {
		unsigned long start, end;
		char permissions[5];
		if (sscanf(line, "%lx-%lx %4s", &start, &end, permissions) == 3 &&
			strncmp(permissions, "r-x", 3) == 0 && !strstr(line, "[vsyscall]") &&
			(!in_vdso || strstr(line, "[vdso]")))
			found = find_in(process, start, end);
	}
	if (file)
		fclose(file);
	return found;
}

uint64_t snap_trace_find_syscall(pid_t process)
{
	uint64_t found = find_syscall(process, true);
	return found ? found : find_syscall(process, false);
}
