/*
 * A preloaded library that lets one call of a program fail: FAULT=CALL:N fails the N-th call after
 * main() began, FAULT=CALL:N:on that and all later ones; FAULT=child-CALL:N those of a forked
 * child.  What CALL stands for, and the error it gives, says calls.h.  FAULT_COUNTS names a file of
 * 64-bit numbers in which they are counted: those of the program, then those of its children.
 *
 * The functions of the allocators are replaced by name.  System calls are caught in the kernel, by
 * a filter that turns them into a signal, as the C library makes its own without a name in between:
 * all that is written through stdio would be missed.
 */
#include "tests/faults/calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const names[] = {FAULT_CALL_NAMES};
static const int errors[] = {FAULT_CALL_ERRORS};

/* First those of the program, then those of its children. */
static uint64_t unshared[2 * FAULT_CALLS], *counts = unshared;
static unsigned kinds_before; /* FAULT_CALLS in a child */
static unsigned chosen = 2 * FAULT_CALLS;
static uint64_t chosen_number;
static bool chosen_on, counting;

/* Whether this call, which is counted, is one that fails; errno is then set. */
static bool fails(enum fault_call call)
{
	if (!counting)
		return false;
	unsigned kind = kinds_before + call;
	uint64_t number = __atomic_add_fetch(&counts[kind], 1, __ATOMIC_RELAXED);
	if (kind != chosen || (chosen_on ? number < chosen_number : number != chosen_number))
		return false;
	errno = errors[call];
	return true;
}

/* What stands behind a replaced function. */
#define REAL(name)                                                                                 \
	static __typeof__(&name) real;                                                             \
	if (!real)                                                                                 \
	real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

void *malloc(size_t size)
{
	REAL(malloc);
	return fails(FAULT_MALLOC) ? NULL : real(size);
}

void *calloc(size_t count, size_t size)
{
	REAL(calloc);
	return fails(FAULT_CALLOC) ? NULL : real(count, size);
}

void *realloc(void *old, size_t size)
{
	REAL(realloc);
	return fails(FAULT_REALLOC) ? NULL : real(old, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	REAL(posix_memalign);
	return fails(FAULT_MALLOC) ? ENOMEM : real(out, alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	REAL(aligned_alloc);
	return fails(FAULT_MALLOC) ? NULL : real(alignment, size);
}

/* Of jemalloc, which serves the big arrays. */
void *mallocx(size_t size, int flags);
void *mallocx(size_t size, int flags)
{
	REAL(mallocx);
	return fails(FAULT_ARENA) ? NULL : real(size, flags);
}

int pthread_create(
	pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *data)
{
	REAL(pthread_create);
	return fails(FAULT_THREAD) ? EAGAIN : real(thread, attributes, run, data);
}

pid_t fork(void)
{
	REAL(fork);
	pid_t child = fails(FAULT_FORK) ? -1 : real();
	if (child == 0)
		kinds_before = FAULT_CALLS;
	return child;
}

static const struct {
	int number;
	enum fault_call call;
} caught[] = {
	{SYS_mmap, FAULT_MMAP},
	{SYS_mremap, FAULT_MMAP},
	{SYS_openat, FAULT_OPEN},
#ifdef SYS_open
	{SYS_open, FAULT_OPEN},
#endif
	{SYS_read, FAULT_READ},
	{SYS_pread64, FAULT_READ},
	{SYS_getdents64, FAULT_READDIR},
	{SYS_newfstatat, FAULT_STAT},
	{SYS_fstat, FAULT_STAT},
	{SYS_faccessat, FAULT_STAT},
#ifdef SYS_access
	{SYS_access, FAULT_STAT},
#endif
	{SYS_write, FAULT_WRITE},
	{SYS_pwrite64, FAULT_WRITE},
	{SYS_writev, FAULT_WRITE},
	{SYS_fsync, FAULT_FSYNC},
	{SYS_ftruncate, FAULT_TRUNCATE},
	{SYS_fallocate, FAULT_TRUNCATE},
	{SYS_linkat, FAULT_RENAME},
	{SYS_renameat, FAULT_RENAME},
	{SYS_renameat2, FAULT_RENAME},
#ifdef SYS_rename
	{SYS_rename, FAULT_RENAME},
#endif
};
enum { CAUGHT = sizeof(caught) / sizeof(caught[0]) };

/* The one place whose system calls the filter lets through, known by the address behind it. */
long fault_let_through(long a, long b, long c, long d, long e, long f, long number);
extern const char fault_passed[];
__asm__(".text\n"
	".type fault_let_through, @function\n"
	"fault_let_through:\n"
	"	mov 8(%rsp), %rax\n"
	"	mov %rcx, %r10\n"
	"	syscall\n"
	".hidden fault_passed\n"
	"fault_passed:\n"
	"	ret\n");

static void on_system_call(int number, siginfo_t *info, void *data)
{
	greg_t *registers = ((ucontext_t *)data)->uc_mcontext.gregs;
	int before = errno;
	bool says_why = info->si_syscall == SYS_write && registers[REG_RDI] == STDERR_FILENO;
	(void)number;
	for (size_t i = 0; i < CAUGHT && !says_why; i++)
		if (caught[i].number == info->si_syscall && fails(caught[i].call)) {
			registers[REG_RAX] = -errno;
			errno = before;
			return;
		}
	registers[REG_RAX] =
		fault_let_through(registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
			registers[REG_R10], registers[REG_R8], registers[REG_R9], info->si_syscall);
	errno = before;
}

/* load number; each of 'caught' jumps to the check of the address behind the call. */
static bool install_filter(void)
{
	struct sock_filter filter[CAUGHT + 16];
	uint64_t behind = (uint64_t)(uintptr_t)fault_passed;
	unsigned short length = 0;
	filter[length++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < CAUGHT; i++)
		filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
			(unsigned)caught[i].number, (unsigned char)(CAUGHT - i), 0);
	filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	filter[length++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer));
	filter[length++] =
		(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)behind, 0, 3);
	filter[length++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4);
	filter[length++] = (struct sock_filter)BPF_JUMP(
		BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(behind >> 32), 0, 1);
	filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
	struct sock_fprog program = {.len = length, .filter = filter};
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void read_environment(void)
{
	const char *fault = getenv("FAULT"), *file = getenv("FAULT_COUNTS");
	bool in_child = fault && strncmp(fault, "child-", 6) == 0;
	fault += in_child ? 6 : 0;
	for (unsigned i = 0; fault && i < FAULT_CALLS; i++) {
		size_t length = strlen(names[i]);
		if (strncmp(fault, names[i], length) != 0 || fault[length] != ':')
			continue;
		char *end;
		chosen = i + (in_child ? FAULT_CALLS : 0);
		chosen_number = strtoull(fault + length + 1, &end, 10);
		chosen_on = strcmp(end, ":on") == 0;
	}
	int fd = file ? open(file, O_RDWR | O_CLOEXEC) : -1;
	if (fd < 0)
		return;
	void *shared = mmap(NULL, sizeof(unshared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (shared != MAP_FAILED)
		counts = shared;
}

static int (*real_main)(int, char **, char **);

/* A program that is not watched must not pass for one without failures. */
static int watched_main(int count, char **arguments, char **environment)
{
	struct sigaction action = {.sa_sigaction = on_system_call, .sa_flags = SA_SIGINFO};
	unsigned char any;
	sigemptyset(&action.sa_mask);
	/* From 2.41 on, glibc maps memory for this the first time, with all signals blocked. */
	if (getrandom(&any, 1, 0) != 1)
		return FAULT_UNWATCHED;
	read_environment();
	if (sigaction(SIGSYS, &action, NULL) || !install_filter())
		return FAULT_UNWATCHED;
	counting = true;
	return real_main(count, arguments, environment);
}

int __libc_start_main(int (*main)(int, char **, char **), int count, char **arguments,
	void (*init)(void), void (*fini)(void), void (*loader_fini)(void), void *stack_end);
int __libc_start_main(int (*main)(int, char **, char **), int count, char **arguments,
	void (*init)(void), void (*fini)(void), void (*loader_fini)(void), void *stack_end)
{
	REAL(__libc_start_main);
	real_main = main;
	return real(watched_main, count, arguments, init, fini, loader_fini, stack_end);
}
