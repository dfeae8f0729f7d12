/* One thread of another process, traced by the calling thread of ours (ptrace(2)). */
#include "snapshot/capture/trace.h"

#include "base/proc.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SYSCALL_STOP = SIGTRAP | 0x80 };

static uint64_t monotonic_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

bool snap_signal_waits(void)
{
	sigset_t pending;
	sigpending(&pending);
	return sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM) ||
	       sigismember(&pending, SIGHUP) || sigismember(&pending, SIGQUIT);
}

/*
 * waitpid() that does not wait.  How a child of our own ended is left for whoever started it; it
 * counts as no child any more: -1.
 */
static pid_t poll_for(pid_t id, int *status)
{
	siginfo_t about = {0};
	struct base_proc_stat stat;
	int events = WEXITED | WSTOPPED | __WALL | WNOHANG | WNOWAIT;
	if (waitid(P_PID, (id_t)id, &about, events) != 0)
		return errno == EINTR ? 0 : -1;
	bool ended = about.si_code == CLD_EXITED || about.si_code == CLD_KILLED ||
		     about.si_code == CLD_DUMPED;
	if (about.si_pid == id && ended && base_proc_read_stat(id, 0, &stat) &&
		stat.parent == getpid())
		return -1;
	return about.si_pid ? waitpid(id, status, __WALL | WNOHANG) : 0;
}

/* Sleeps for an eighth of what has passed. */
static void nap(uint64_t waited_ns)
{
	enum { LEAST_NS = 10000, MOST_NS = 1000000 };
	uint64_t ns = waited_ns / 8;
	ns = ns < LEAST_NS ? LEAST_NS : ns > MOST_NS ? MOST_NS : ns;
	nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
}

/*
 * Sleeps between looks, for a program whose processor we would have to ourselves, were we of the
 * real-time class, could not get to where we wait for it.  A stop takes some microseconds mostly.
 */
enum snap_wait snap_traced_wait(pid_t id, struct snap_time_limit limit, int *status)
{
	enum { ROUNDS_AT_ONCE = 8, AFTER_SIGNAL_NS = 500000000 };
	uint64_t start = monotonic_ns(), until = start + (uint64_t)limit.ms * 1000000;
	for (unsigned round = 0;; round++) {
		pid_t got = poll_for(id, status);
		if (got != 0)
			return got == id && WIFSTOPPED(*status) ? SNAP_WAIT_STOPPED
								: SNAP_WAIT_GONE;
		if (round < ROUNDS_AT_ONCE)
			continue;
		uint64_t now = monotonic_ns();
		if (limit.until_signal && until > now + AFTER_SIGNAL_NS && snap_signal_waits())
			until = now + AFTER_SIGNAL_NS;
		if (now >= until)
			return SNAP_WAIT_NOTHING;
		nap(now - start);
	}
}

bool snap_is_event(int status, int event)
{
	return WIFSTOPPED(status) && status >> 16 == event;
}

bool snap_is_syscall(int status)
{
	return WIFSTOPPED(status) && WSTOPSIG(status) == SYSCALL_STOP;
}

enum snap_wait snap_traced_go(pid_t id, int request, struct snap_time_limit limit, int *status)
{
	long signal = 0;
	if (WIFSTOPPED(*status) && *status >> 16 == 0 && !snap_is_syscall(*status))
		signal = WSTOPSIG(*status);
	if (ptrace((enum __ptrace_request)request, id, NULL, signal) != 0)
		return SNAP_WAIT_GONE;
	return snap_traced_wait(id, limit, status);
}

enum snap_wait snap_traced_await_stop(pid_t id, struct snap_time_limit limit, int *status)
{
	enum snap_wait got = WIFSTOPPED(*status) ? snap_traced_go(id, PTRACE_CONT, limit, status)
						 : snap_traced_wait(id, limit, status);
	while (got == SNAP_WAIT_STOPPED && !snap_is_event(*status, PTRACE_EVENT_STOP))
		got = snap_traced_go(id, PTRACE_CONT, limit, status);
	return got;
}

/* Where the thread's own data are is not in NT_PRSTATUS on all processors. */
bool snap_traced_registers(pid_t id, uint64_t registers[SNAP_NATIVE_REGISTERS])
{
	struct iovec io = {registers, SNAP_NATIVE_GIVEN * sizeof(*registers)};
	if (ptrace(PTRACE_GETREGSET, id, (void *)NT_PRSTATUS, &io) != 0)
		return false;
	if (SNAP_NATIVE_REGISTERS == SNAP_NATIVE_GIVEN)
		return true;
	io = (struct iovec){&registers[SNAP_NATIVE_THREAD], sizeof(*registers)};
	return ptrace(PTRACE_GETREGSET, id, (void *)NT_ARM_TLS, &io) == 0;
}

bool snap_traced_set_registers(pid_t id, const uint64_t registers[SNAP_NATIVE_REGISTERS])
{
	struct iovec io = {(void *)(uintptr_t)registers, SNAP_NATIVE_GIVEN * sizeof(*registers)};
	return ptrace(PTRACE_SETREGSET, id, (void *)NT_PRSTATUS, &io) == 0;
}

bool snap_traced_mask(pid_t id, uint64_t *mask)
{
	return ptrace(PTRACE_GETSIGMASK, id, (void *)sizeof(*mask), mask) == 0;
}

bool snap_traced_set_mask(pid_t id, uint64_t mask)
{
	return ptrace(PTRACE_SETSIGMASK, id, (void *)sizeof(mask), &mask) == 0;
}
