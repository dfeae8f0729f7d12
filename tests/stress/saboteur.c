/*
 * saboteur capture -p PID ... - stands in for heapgraph and does to the target what a bad capturer
 * would, so that it can be seen that kill_captures notices.  From the environment:
 *
 *     FAULT=none|refuse          nothing; nothing, and fails
 *     FAULT=kill|stop            a signal
 *     FAULT=mask|general|vector  changes the signal mask, or a register, of the main thread
 *     FAULT=copy|zombie|stack|stuck|sum   the target does it to itself (watched.h)
 *     WATCHED_RECORD             the file of that
 */
#include "tests/targets/watched.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_XSTATE = 1 << 14, LINGER_US = 20000, DEEDS = 20, MOST_WAITS = 500 };

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(70);
}

static void set_mask(pid_t thread)
{
	uint64_t all = UINT64_MAX;
	if (ptrace(PTRACE_SETSIGMASK, thread, (void *)sizeof(all), &all) != 0)
		fail("mask");
}

#ifdef __aarch64__
#define CHANGED_REGISTER regs[20]
#define VECTOR_NOTE ((void *)NT_FPREGSET)
enum { FIRST_VECTOR = 0, VECTOR_BYTES = 16 };
#else
#define CHANGED_REGISTER r14
#define VECTOR_NOTE ((void *)NT_X86_XSTATE)
enum { FIRST_VECTOR = 160, VECTOR_BYTES = 16 };
#endif

static void change_general(pid_t thread)
{
	struct user_regs_struct registers;
	struct iovec io = {&registers, sizeof(registers)};
	if (ptrace(PTRACE_GETREGSET, thread, (void *)NT_PRSTATUS, &io) != 0)
		fail("registers");
	registers.CHANGED_REGISTER ^= 1;
	if (ptrace(PTRACE_SETREGSET, thread, (void *)NT_PRSTATUS, &io) != 0)
		fail("registers");
}

static void change_vector(pid_t thread)
{
	static uint8_t state[MOST_XSTATE];
	struct iovec io = {state, sizeof(state)};
	if (ptrace(PTRACE_GETREGSET, thread, VECTOR_NOTE, &io) != 0)
		fail("vector registers");
	state[FIRST_VECTOR + 5 * VECTOR_BYTES] ^= 1;
	if (ptrace(PTRACE_SETREGSET, thread, VECTOR_NOTE, &io) != 0)
		fail("vector registers");
}

static void while_stopped(pid_t thread, void (*deed)(pid_t thread))
{
	int status;
	if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) != 0 ||
		ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) != 0)
		fail("ptrace");
	while (waitpid(thread, &status, __WALL) == thread && status >> 16 != PTRACE_EVENT_STOP)
		ptrace(PTRACE_CONT, thread, NULL, status >> 16 ? 0L : (long)WSTOPSIG(status));
	deed(thread);
	ptrace(PTRACE_DETACH, thread, NULL, NULL);
}

static struct watched *map_record(void)
{
	const char *path = getenv("WATCHED_RECORD");
	int file = path ? open(path, O_RDWR) : -1;
	struct watched *record =
		mmap(NULL, sizeof(*record), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (record == MAP_FAILED)
		fail("record");
	return record;
}

/* At different moments, not at each of which every register is in use: in between it works. */
static void do_often(pid_t target, void (*deed)(pid_t thread))
{
	const struct watched *record = map_record();
	for (int i = 0; i < DEEDS; i++) {
		unsigned long before = record->rounds[0];
		while_stopped(target, deed);
		/* One that has died of it goes on no more. */
		for (int wait = 0; wait < MOST_WAITS && record->rounds[0] == before; wait++)
			usleep(1000);
		usleep((unsigned)random() % 1000);
	}
}

int main(int count, char **arguments)
{
	static const struct {
		const char *name;
		int signal;
		void (*deed)(pid_t thread);
		enum watched_fault planted;
		int status;
	} faults[] = {
		{.name = "none"},
		{.name = "refuse", .status = 3},
		{.name = "kill", .signal = SIGSEGV},
		{.name = "stop", .signal = SIGSTOP},
		{.name = "mask", .deed = set_mask},
		{.name = "general", .deed = change_general},
		{.name = "vector", .deed = change_vector},
		{.name = "copy", .planted = WATCHED_FAULT_COPY},
		{.name = "zombie", .planted = WATCHED_FAULT_ZOMBIE},
		{.name = "stack", .planted = WATCHED_FAULT_STACK},
		{.name = "stuck", .planted = WATCHED_FAULT_STUCK},
		{.name = "sum", .planted = WATCHED_FAULT_SUM},
	};
	const char *name = getenv("FAULT");
	pid_t target = count > 3 ? (pid_t)strtol(arguments[3], NULL, 10) : 0;
	for (size_t i = 0; name && target > 0 && i < sizeof(faults) / sizeof(*faults); i++) {
		if (strcmp(faults[i].name, name) != 0)
			continue;
		if (faults[i].signal)
			kill(target, faults[i].signal);
		if (faults[i].deed)
			do_often(target, faults[i].deed);
		if (faults[i].planted)
			map_record()->planted = faults[i].planted;
		/* So long that it can be killed, too. */
		usleep(LINGER_US);
		return faults[i].status;
	}
	return 2;
}
