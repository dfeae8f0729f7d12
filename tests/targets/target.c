/*
 * A process to be captured, which notices when it is disturbed.  It says READY, works until its
 * standard input ends, and then says what it noticed.  The name of a symbol makes it pass for a
 * native OCaml program.
 *
 *     target busy THREADS     sums up the same numbers again and again: are the sums right?
 *     target sleep            threads that wait in system calls: does one fail, or wake early?
 *     target signals          sends itself signals: does each arrive, and no other?
 *     target memory MEGABYTES much of it; each byte on standard input adds 16 MB more
 *     target unforkable       memory that a fork does not inherit
 *     target guards GONE      pages that the kernel guards, and GONE that are of a file cut since;
 *                             says NO GUARDS first where they cannot be told
 *     target traced           a child that it traces; says its id
 *     target zombies COUNT    children like copies whose capturers were killed
 *     target later            passes for one of OCaml 5.6.0
 *     target exit STATUS [FOLDER N]   ends after 0.5 s, or when FOLDER has its heap.dump.PID.N
 *     target die SIGNAL [FOLDER N]    the same, by a signal
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Looked for in the table of symbols only. */
__attribute__((visibility("default"))) uint64_t caml_frametable[2];

/* As in a block of Stdlib.Sys: its version, once a mode puts it there. */
__attribute__((visibility("default"))) const char *volatile camlStdlib__Sys[64];

enum { MOST_THREADS = 16, PAGE = 4096, MEGABYTE = 1 << 20 };

static atomic_bool ending;
static atomic_ulong rounds, wrong;

static void ready(void)
{
	puts("READY");
	fflush(stdout);
}

/* Until standard input ends.  A read that was interrupted is a disturbance. */
static void wait_for_end(void)
{
	char byte;
	while (read(STDIN_FILENO, &byte, 1) > 0)
		continue;
	if (errno == EINTR)
		puts("read failed: interrupted");
	ending = true;
}

static void *work(void *data)
{
	uint64_t expected = 0;
	(void)data;
	while (!ending) {
		uint64_t sum = 0, x = 1;
		for (int i = 0; i < 1000000; i++) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			sum += x >> 33;
		}
		if (rounds && expected && sum != expected)
			wrong++;
		expected = sum;
		rounds++;
	}
	return NULL;
}

static void busy(int count)
{
	pthread_t threads[MOST_THREADS];
	for (int i = 0; i < count && i < MOST_THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	while (!rounds)
		usleep(1000);
	ready();
	wait_for_end();
	for (int i = 0; i < count && i < MOST_THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%lu wrong sums\n", (unsigned long)wrong);
}

/* System calls that wait for two seconds or for what never comes. */
static void *sleep_relative(void *data)
{
	struct timespec time = {.tv_sec = 2}, start, end;
	(void)data;
	clock_gettime(CLOCK_MONOTONIC, &start);
	int result = nanosleep(&time, NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	int64_t elapsed = (end.tv_sec - start.tv_sec) * 1000000000 + end.tv_nsec - start.tv_nsec;
	if (result != 0 || elapsed < 2000000000)
		printf("nanosleep: %s after %lld ns\n", result ? strerror(errno) : "early",
			(long long)elapsed);
	return NULL;
}

static void *poll_nothing(void *data)
{
	struct timespec time = {.tv_sec = 2};
	sigset_t none;
	(void)data;
	sigemptyset(&none);
	int result = ppoll(NULL, 0, &time, &none);
	if (result != 0)
		printf("ppoll: %s\n", strerror(errno));
	return NULL;
}

static void *read_pipe(void *data)
{
	char byte;
	ssize_t got = read(*(int *)data, &byte, 1);
	if (got != 1)
		printf("read of a pipe: %s\n", strerror(errno));
	return NULL;
}

static void sleep_all(void)
{
	pthread_t threads[3];
	int ends[2];
	if (pipe(ends) != 0)
		exit(1);
	pthread_create(&threads[0], NULL, sleep_relative, NULL);
	pthread_create(&threads[1], NULL, poll_nothing, NULL);
	pthread_create(&threads[2], NULL, read_pipe, &ends[0]);
	usleep(100000);
	ready();
	wait_for_end();
	if (write(ends[1], "x", 1) != 1)
		exit(1);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	puts("slept");
}

static volatile sig_atomic_t wanted_signals, other_signals;

static void on_signal(int number)
{
	if (number == SIGRTMIN)
		wanted_signals++;
	else
		other_signals++;
}

/* SIGTRAP stays ignored, and signals that were sent while it stood still arrive. */
static void count_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, trap;
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	int sent = 0;
	for (int i = 1; i < NSIG; i++)
		if (i != SIGTRAP)
			sigaction(i, &action, NULL);
	signal(SIGTRAP, SIG_IGN);
	ready();
	while (poll(&input, 1, 0) == 0) {
		sigqueue(getpid(), SIGRTMIN, (union sigval){0});
		sent++;
		usleep(100);
	}
	sigaction(SIGTRAP, NULL, &trap);
	printf("%d signals lost, %d others, SIGTRAP %s\n", sent - (int)wanted_signals,
		(int)other_signals, trap.sa_handler == SIG_IGN ? "ignored" : "changed");
}

static void *fill(size_t megabytes)
{
	size_t size = megabytes * MEGABYTE;
	uint64_t *memory =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		exit(1);
	for (size_t i = 0; i < size / sizeof(*memory); i++)
		memory[i] = i + 1;
	return memory;
}

static void grow(size_t megabytes)
{
	char byte;
	uint64_t *first = fill(megabytes);
	ready();
	while (read(STDIN_FILENO, &byte, 1) == 1)
		fill(16);
	size_t changed = 0;
	for (size_t i = 0; i < megabytes * MEGABYTE / sizeof(*first); i++)
		changed += first[i] != i + 1;
	printf("%zu words changed\n", changed);
}

static void keep_from_forks(void)
{
	if (madvise(fill(1), MEGABYTE, MADV_DONTFORK) != 0)
		exit(1);
	ready();
	wait_for_end();
	puts("done");
}

/* Of a file without a name that is cut to nothing when all is set up. */
static char *map_file(size_t pages, FILE **file)
{
	*file = tmpfile();
	if (!*file || ftruncate(fileno(*file), (off_t)pages * PAGE) != 0)
		exit(1);
	void *memory =
		mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(*file), 0);
	if (memory == MAP_FAILED)
		exit(1);
	return memory;
}

/* Whether it does what MADV_GUARD_INSTALL of Linux 6.13 is to do, and the kernel says so (6.15). */
static bool guard(char *page)
{
	enum { INSTALL = 102 };
	uint64_t entry = 0;
	if (madvise(page, PAGE, INSTALL) != 0)
		return false;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	ssize_t got = pread(fd, &entry, sizeof(entry), (off_t)((uintptr_t)page / PAGE * 8));
	close(fd);
	return got == sizeof(entry) && entry >> 58 & 1;
}

/* Of three pages of memory and of a file, that in between: next to pages that are written to. */
static void keep_guards(int gone)
{
	FILE *file, *cut;
	char *memory[] = {fill(1), map_file(3, &file)};
	bool guarded = true;
	for (int i = 0; i < 2; i++) {
		memory[i][0] = memory[i][2 * PAGE] = 7;
		guarded &= guard(memory[i] + PAGE);
	}
	for (int i = 0; i < gone; i++) {
		map_file(1, &cut);
		if (ftruncate(fileno(cut), 0) != 0)
			exit(1);
	}
	if (!guarded)
		puts("NO GUARDS");
	ready();
	wait_for_end();
	puts("done");
}

static void trace_child(void)
{
	pid_t child = fork();
	if (child == 0)
		for (;;)
			pause();
	if (ptrace(PTRACE_SEIZE, child, NULL, (void *)PTRACE_O_EXITKILL) != 0)
		exit(1);
	printf("%d\n", (int)child);
	ready();
	wait_for_end();
}

/* Their end is no signal to their parent, and they are killed. */
static void leave_zombies(int count)
{
	siginfo_t about;
	for (int i = 0; i < count; i++) {
		long child = syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
		if (child == 0)
			for (;;)
				pause();
		if (child < 0 || kill((pid_t)child, SIGKILL) != 0 ||
			waitid(P_PID, (id_t)child, &about, WEXITED | WNOWAIT | __WALL) != 0)
			exit(1);
	}
	ready();
	wait_for_end();
	for (count = 0; waitpid(-1, NULL, __WALL | WNOHANG) > 0; count++)
		continue;
	printf("%d zombies\n", count);
}

/* However slow the machine is, within a minute. */
static void wait_for_capture(const char *folder, const char *number)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/heap.dump.%d.%s", folder, (int)getpid(), number);
	for (int i = 0; i < 6000 && access(path, F_OK) != 0; i++)
		usleep(10000);
}

static void pass_for_later(void)
{
	static const char version[16] __attribute__((aligned(8))) = "5.6.0";
	camlStdlib__Sys[1] = version;
	ready();
	wait_for_end();
}

int main(int count, char **arguments)
{
	const char *mode = count > 1 ? arguments[1] : "";
	int number = count > 2 ? atoi(arguments[2]) : 0;
	if (strcmp(mode, "busy") == 0)
		busy(number);
	else if (strcmp(mode, "sleep") == 0)
		sleep_all();
	else if (strcmp(mode, "signals") == 0)
		count_signals();
	else if (strcmp(mode, "memory") == 0)
		grow((size_t)number);
	else if (strcmp(mode, "unforkable") == 0)
		keep_from_forks();
	else if (strcmp(mode, "guards") == 0)
		keep_guards(number);
	else if (strcmp(mode, "traced") == 0)
		trace_child();
	else if (strcmp(mode, "zombies") == 0)
		leave_zombies(number);
	else if (strcmp(mode, "later") == 0)
		pass_for_later();
	else if (strcmp(mode, "exit") != 0 && strcmp(mode, "die") != 0)
		return 2;
	else if (count == 5)
		wait_for_capture(arguments[3], arguments[4]);
	else
		usleep(500000);
	if (strcmp(mode, "die") == 0)
		raise(number);
	if (strcmp(mode, "exit") == 0)
		return number;
	/* A copy of it that was left behind would be a child. */
	pid_t child = waitpid(-1, NULL, __WALL | WNOHANG);
	if (child >= 0 && strcmp(mode, "traced") != 0)
		puts("there is a child");
	return 0;
}
