/* A dump of the running process: its name, its threads, the fork and what the child does. */
#include "ocaml/dump.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static atomic_uint_fast64_t next_index;

void dump_restart_numbers(void)
{
	atomic_store(&next_index, 0);
}

static uint64_t nanoseconds(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t dump_nanoseconds(void)
{
	return nanoseconds(CLOCK_MONOTONIC);
}

/* 'number' is an errno, or 0. */
static bool fail(struct dump *dump, const char *what, int number)
{
	dump->of_system = number != 0;
	snprintf(dump->message, sizeof(dump->message), "%s: %s%s%s", dump->path, what,
		number ? ": " : "", number ? strerror(number) : "");
	return false;
}

/*
 * The next number whose name is free: in a container every run may have the same process id, and
 * dumps of an earlier one are not to be lost.
 */
static bool choose_name(struct dump *dump, const char *folder)
{
	const char *slash = *folder == '\0' || folder[strlen(folder) - 1] == '/' ? "" : "/";
	do {
		dump->index = atomic_fetch_add(&next_index, 1);
		int length = snprintf(dump->path, sizeof(dump->path), "%s%sheap.dump.%ld.%ju",
			folder, slash, (long)getpid(), (uintmax_t)dump->index);
		if (length >= (int)sizeof(dump->path))
			return fail(dump, "cannot be written", ENAMETOOLONG);
	} while (access(dump->path, F_OK) == 0);
	return true;
}

static bool add_thread(struct dump *dump, uint32_t id)
{
	struct snap_core_thread *grown =
		realloc(dump->threads, (dump->thread_count + 1) * sizeof(*grown));
	if (!grown)
		return fail(dump, "no memory for the list of threads", ENOMEM);
	dump->threads = grown;
	grown[dump->thread_count++] = (struct snap_core_thread){.id = id};
	return true;
}

/*
 * The others are in C without the lock of the runtime, or in the runtime for a stop of all domains:
 * what the runtime saved for them is exact, and their registers are not needed.
 */
static bool list_threads(struct dump *dump)
{
	uint32_t own = (uint32_t)syscall(SYS_gettid);
	if (!add_thread(dump, own))
		return false;
	DIR *folder = opendir("/proc/self/task");
	if (!folder)
		return fail(dump, "no list of threads", errno);
	bool fine = true;
	for (struct dirent *entry; fine && (entry = readdir(folder));) {
		uint32_t id = (uint32_t)strtoul(entry->d_name, NULL, 10);
		if (id != 0 && id != own)
			fine = add_thread(dump, id);
	}
	closedir(folder);
	return fine;
}

bool dump_prepare(struct dump *dump, const char *folder, const char *trigger)
{
	*dump = (struct dump){.domains = 1, .child = -1};
	snprintf(dump->trigger, sizeof(dump->trigger), "%s", trigger);
	if (!choose_name(dump, folder) || !list_threads(dump))
		return false;
	void *shared = mmap(NULL, sizeof(struct dump_report), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return fail(dump, "no memory to share with a child", errno);
	dump->report = shared;
	dump->report->error = -1;
	return true;
}

void dump_release(struct dump *dump)
{
	if (dump->report)
		munmap(dump->report, sizeof(*dump->report));
	free(dump->threads);
	dump->report = NULL;
	dump->threads = NULL;
}

void dump_set_registers(struct dump *dump, const ucontext_t *context)
{
	snap_native_from_context(dump->threads[0].registers, context);
}

/* The child.  It runs nothing but system calls and what is safe in a signal handler. */

/* So that nobody waits for the end of a pipe or socket that only the child still holds. */
static void close_files(void)
{
	struct rlimit limit;
	if (syscall(SYS_close_range, 0u, ~0u, 0u) == 0)
		return;
	unsigned count = 65536;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < count)
		count = (unsigned)limit.rlim_cur;
	for (unsigned i = 0; i < count; i++)
		close((int)i);
}

static int write_core(struct snap_core *core, const struct dump *dump, pid_t origin)
{
	struct snap_core_process process = {
		.id = getpid(),
		.origin = origin,
		.threads = dump->threads,
		.thread_count = dump->thread_count,
	};
	struct snap_core_facts facts = {
		.time = dump->time,
		.index = dump->index,
		.trigger = dump->trigger,
		.method = "in-process",
		.consistency = "inside",
		.ocaml_version = dump->ocaml_version,
		.memory = dump->memory,
	};
	int status = snap_core_open(core, dump->path, false);
	if (status == 0)
		status = snap_core_write_memory(core, &process);
	if (status == 0)
		status = snap_core_finish(core, &facts);
	if (status == 0)
		status = snap_core_commit(core);
	return status;
}

_Noreturn static void run_child(const struct dump *dump, pid_t origin)
{
	struct dump_report *report = dump->report;
	struct snap_core core;
	close_files();
	int status = write_core(&core, dump, origin);
	if (status != 0) {
		for (size_t i = 0; core.failed[i] && i + 1 < sizeof(report->failed); i++)
			report->failed[i] = core.failed[i];
		snap_core_abandon(&core);
	}
	report->bytes = core.written_bytes;
	report->error = status;
	_exit(status != 0);
}

void dump_fork(struct dump *dump)
{
	pid_t origin = getpid();
	sigset_t all, before;
	/* Handlers of the program are not to run in the child. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	dump->time = nanoseconds(CLOCK_REALTIME);
	uint64_t start = dump_nanoseconds();
	snap_core_read_memory(origin, &dump->memory);
	/* Neither handlers of pthread_atfork() nor a signal at the end, as fork() would have. */
	dump->child = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, 0);
	if (dump->child == 0)
		run_child(dump, origin);
	int number = errno;
	dump->forked = dump_nanoseconds();
	dump->fork_ns = dump->forked - start;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (dump->child < 0)
		fail(dump, "no process to write it", number);
}

bool dump_wait(struct dump *dump)
{
	int status = 0;
	pid_t ended;
	if (dump->child < 0)
		return false;
	do
		ended = waitpid(dump->child, &status, __WALL);
	while (ended < 0 && errno == EINTR);
	dump->write_ns = dump_nanoseconds() - dump->forked;
	const struct dump_report *report = dump->report;
	dump->bytes = report->bytes;
	if (report->error == 0)
		return true;
	if (report->error > 0)
		return fail(dump, report->failed, report->error);
	char what[80] = "the process that wrote it ended midway";
	if (ended > 0 && WIFSIGNALED(status))
		snprintf(what, sizeof(what), "the process that wrote it was killed by signal %d",
			WTERMSIG(status));
	return fail(dump, what, 0);
}
