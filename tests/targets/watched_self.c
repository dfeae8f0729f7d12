/*
 * What a watched program sees of itself while it is captured: its threads, signals, files and
 * children; written into the record that it shares with the test.
 */
#include "tests/targets/watched_self.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { KERNEL_MASK_BYTES = 8, PAGE = 4096 };

struct watched *watched;

static __thread uint64_t first_mask;
static __thread stack_t first_stack;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/*
 * A fork waits for whoever reads the events of a userfaultfd, which can be as slow as it likes.  It
 * needs a range of memory of its own, all of which is there.
 */
static void slow_forks(void)
{
	struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_EVENT_FORK};
	int events = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	char *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (events < 0 || memory == MAP_FAILED)
		fail("userfaultfd");
	*memory = 1;
	struct uffdio_register range = {.range = {.start = (uintptr_t)memory, .len = PAGE},
		.mode = UFFDIO_REGISTER_MODE_MISSING};
	if (ioctl(events, UFFDIO_API, &api) != 0 || ioctl(events, UFFDIO_REGISTER, &range) != 0)
		fail("userfaultfd");
	watched->fork_events = (unsigned long)events + 1;
}

/* A mask with a signal in it, so that one that is emptied is seen. */
static void set_mask(void)
{
	sigset_t mask;
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

/* In small pages, so that a fork has much to copy. */
static void take_memory(size_t bytes)
{
	char *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		fail("memory");
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < bytes; at += PAGE)
		memory[at] = 1;
}

void watched_open(const char *path)
{
	int file = open(path, O_RDWR | O_CLOEXEC);
	if (file < 0)
		fail(path);
	watched = mmap(NULL, sizeof(*watched), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (watched == MAP_FAILED)
		fail(path);
	close(file);
	set_mask();
	const char *megabytes = getenv("WATCHED_MEGABYTES");
	if (megabytes && strtoul(megabytes, NULL, 10) > 0)
		take_memory(strtoul(megabytes, NULL, 10) << 20);
	const char *forks = getenv("WATCHED_FORKS");
	if (forks && strcmp(forks, "slow") == 0)
		slow_forks();
}

/* As the kernel has it: the C library hides two signals of its own. */
static uint64_t signal_mask(void)
{
	uint64_t mask = 0;
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &mask, KERNEL_MASK_BYTES);
	return mask;
}

void watched_thread(void)
{
	first_mask = signal_mask();
	sigaltstack(NULL, &first_stack);
}

/* The faults that only the process itself can make. */
static void plant(unsigned slot)
{
	static char other[1 << 16];
	stack_t stack = {.ss_sp = other, .ss_size = sizeof(other)};
	unsigned long fault = watched->planted;
	if (fault == WATCHED_FAULT_STUCK && slot == 0)
		for (;;)
			pause();
	if (fault == WATCHED_FAULT_NONE || fault == WATCHED_FAULT_STUCK ||
		!atomic_compare_exchange_strong(&watched->planted, &fault, WATCHED_FAULT_NONE))
		return;
	if (fault == WATCHED_FAULT_STACK)
		sigaltstack(&stack, NULL);
	if (fault == WATCHED_FAULT_SUM)
		watched->torn++;
	if (fault == WATCHED_FAULT_COPY || fault == WATCHED_FAULT_ZOMBIE) {
		if (syscall(SYS_clone, 0, NULL, NULL, NULL, 0) == 0) {
			if (fault == WATCHED_FAULT_ZOMBIE)
				_exit(0);
			for (;;)
				pause();
		}
	}
}

void watched_round(unsigned slot)
{
	stack_t stack;
	if (watched->planted)
		plant(slot);
	sigaltstack(NULL, &stack);
	if (signal_mask() != first_mask)
		watched->mask_changed++;
	if (stack.ss_sp != first_stack.ss_sp || stack.ss_size != first_stack.ss_size ||
		stack.ss_flags != first_stack.ss_flags)
		watched->stack_changed++;
	watched->rounds[slot]++;
}

bool watched_ending(void)
{
	return watched->ending != 0;
}

void watched_result(void)
{
	printf("RESULT %s\n", watched->torn ? "wrong" : "right");
	fflush(stdout);
}
