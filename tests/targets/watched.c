/*
 * A process to be captured while others do it harm: it does the same again and again, checks each
 * time that nothing of it has changed, and counts what has in a file (watched.h) until that says
 * that it is to end.  The name of a symbol makes it pass for a native OCaml program.
 *
 *     watched nanosleep FILE   the main thread is in this system call nearly all the time
 *     watched stacked FILE     the same, the number of the call in the code being on the stack
 *     watched called FILE      the same, and there in the frame of the caller (both on x86-64 only)
 *     watched clock FILE       the same with clock_nanosleep, to a moment
 *     watched poll FILE
 *     watched select FILE
 *     watched read FILE        of a pipe, into which a second thread writes
 *     watched futex FILE       that a second thread wakes
 *     watched limited FILE     of a futex that nobody wakes, so long
 *     watched busy FILE        with all registers in use, vector registers too
 *     watched signals FILE     the same in three threads, with a signal each millisecond
 *     watched alarms FILE      nanosleep with the same signals, and a busy thread
 */
#include "tests/targets/registers.h"
#include "tests/targets/watched_self.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Looked for in the table of symbols only. */
__attribute__((visibility("default"))) uint64_t caml_frametable[2];

enum { WAIT_NS = 30000000, WAKE_US = 10000, TIMER_US = 1000, STACK_BYTES = 1 << 16 };

struct mode {
	const char *name;
	void (*step)(void);     /* a round of the main thread */
	void *(*other)(void *); /* what a second and third thread do; NULL: there are none */
	unsigned others;
	bool alarms;
};

/* Slots: the main thread's, those of the others, and then the signal handler's. */
enum { SLOT_MAIN, SLOT_OTHER };

static const struct mode *mode;
static unsigned alarm_slot;
static int pipe_ends[2];
static uint32_t futex_word;

static int64_t nanoseconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* A call that waits as long as ever succeeds, and takes that long. */
static void waited(int result, int wanted, int64_t since, int64_t least)
{
	if (result != wanted || nanoseconds() - since < least)
		watched->interrupted++;
}

static void step_nanosleep(void)
{
	struct timespec time = {.tv_nsec = WAIT_NS};
	int64_t start = nanoseconds();
	waited(nanosleep(&time, NULL), 0, start, WAIT_NS);
}

#ifdef __x86_64__
/* So that no instruction has it. */
static volatile int64_t sleep_number = SYS_nanosleep;

/* As glibc does since 2.41 with one thread, and with several; below the red zone. */
static void step_stacked(void)
{
	struct timespec time = {.tv_nsec = WAIT_NS};
	int64_t start = nanoseconds(), result = sleep_number;
	__asm__ volatile("sub $0x108, %%rsp\n\t"
			 "mov %0, 0x10(%%rsp)\n\t"
			 "mov 0x10(%%rsp), %%rax\n\t"
			 "syscall\n\t"
			 "add $0x108, %%rsp"
			 : "+a"(result)
			 : "D"(&time), "S"(NULL)
			 : "rcx", "r11", "memory", "cc");
	waited((int)result, 0, start, WAIT_NS);
}

static void step_called(void)
{
	struct timespec time = {.tv_nsec = WAIT_NS};
	int64_t start = nanoseconds(), result = sleep_number, none;
	__asm__ volatile("sub $0x108, %%rsp\n\t"
			 "mov %0, 0x20(%%rsp)\n\t"
			 "mov 0x20(%%rsp), %%rsi\n\t"
			 "call 1f\n\t"
			 "add $0x108, %%rsp\n\t"
			 "jmp 2f\n"
			 "1:\tmov %%rsi, %%rax\n\t"
			 "xor %%esi, %%esi\n\t"
			 "mov %%r11, 0x8(%%rsp)\n\t"
			 "syscall\n\t"
			 "ret\n"
			 "2:"
			 : "+a"(result), "=S"(none)
			 : "D"(&time)
			 : "rcx", "r11", "memory", "cc");
	waited((int)result, 0, start, WAIT_NS);
}
#endif

static void step_clock(void)
{
	struct timespec time;
	int64_t start = nanoseconds(), until = start + WAIT_NS;
	time.tv_sec = until / 1000000000;
	time.tv_nsec = until % 1000000000;
	waited(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL), 0, start, WAIT_NS);
}

/* poll and select wait at least as long as they are told, in whole ticks. */
static void step_poll(void)
{
	int64_t start = nanoseconds();
	waited(poll(NULL, 0, WAIT_NS / 1000000), 0, start, WAIT_NS);
}

static void step_select(void)
{
	struct timeval time = {.tv_usec = WAIT_NS / 1000};
	int64_t start = nanoseconds();
	waited(select(0, NULL, NULL, NULL, &time), 0, start, WAIT_NS);
}

static void step_read(void)
{
	char byte = 0;
	int got = (int)read(pipe_ends[0], &byte, 1);
	waited(got == 1 ? byte : -1, 'x', nanoseconds(), 0);
}

static void write_byte(void)
{
	if (write(pipe_ends[1], "x", 1) != 1)
		watched->interrupted++;
}

/* The end may come between a look of the main thread and its wait: hence a last byte. */
static void *write_pipe(void *data)
{
	watched_thread();
	while (!watched_ending()) {
		usleep(WAKE_US);
		write_byte();
		watched_round(SLOT_OTHER);
	}
	write_byte();
	return data;
}

/* Waits for the number to change, which the other thread makes it do. */
static void step_futex(void)
{
	static uint32_t before;
	long result = 0;
	while (__atomic_load_n(&futex_word, __ATOMIC_SEQ_CST) == before && !watched_ending()) {
		result = syscall(SYS_futex, &futex_word, FUTEX_WAIT_PRIVATE, before, NULL, NULL, 0);
		if (result != 0 && errno != EAGAIN)
			watched->interrupted++;
	}
	before = __atomic_load_n(&futex_word, __ATOMIC_SEQ_CST);
}

/* As libc does it for itself, with the number in an instruction, which syscall(2) has in none. */
static long wait_for_futex(const struct timespec *time)
{
#ifdef __x86_64__
	register const struct timespec *limit __asm__("r10") = time;
	long result;
	__asm__ volatile(
		"mov %1, %%eax\n\t"
		"syscall"
		: "=a"(result)
		: "i"(SYS_futex), "D"(&futex_word), "S"(FUTEX_WAIT_PRIVATE), "d"(0), "r"(limit)
		: "rcx", "r11", "memory", "cc");
	return result;
#else
	long result = syscall(SYS_futex, &futex_word, FUTEX_WAIT_PRIVATE, 0, time, NULL, 0);
	return result < 0 ? -errno : result;
#endif
}

/* For the whole time, which is told from the beginning of the call. */
static void step_limited(void)
{
	struct timespec time = {.tv_nsec = WAIT_NS};
	int64_t start = nanoseconds();
	waited(wait_for_futex(&time) == -ETIMEDOUT, 1, start, WAIT_NS);
}

static void change_word(void)
{
	__atomic_add_fetch(&futex_word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &futex_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* A last change, as for the pipe. */
static void *wake_futex(void *data)
{
	watched_thread();
	while (!watched_ending()) {
		usleep(WAKE_US);
		change_word();
		watched_round(SLOT_OTHER);
	}
	change_word();
	return data;
}

static void step_busy(void)
{
	static __thread uint64_t seed;
	if (!registers_survive(++seed))
		watched->torn++;
}

static void *be_busy(void *data)
{
	watched_thread();
	while (!watched_ending()) {
		step_busy();
		watched_round((unsigned)(uintptr_t)data);
	}
	return NULL;
}

/* Sleeps on in spite of signals. */
static void step_alarms(void)
{
	struct timespec time = {.tv_nsec = WAIT_NS}, left;
	int64_t start = nanoseconds();
	while (nanosleep(&time, &left) != 0) {
		if (errno != EINTR)
			watched->interrupted++;
		time = left;
	}
	waited(0, 0, start, WAIT_NS);
}

static void on_alarm(int number)
{
	(void)number;
	watched->rounds[alarm_slot]++;
}

static void set_timer(void)
{
	stack_t stack = {.ss_sp = malloc(STACK_BYTES), .ss_size = STACK_BYTES};
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART | SA_ONSTACK};
	struct itimerval each = {{0, TIMER_US}, {0, TIMER_US}};
	if (!stack.ss_sp || sigaltstack(&stack, NULL) != 0)
		exit(1);
	if (!mode->alarms)
		return;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &each, NULL);
}

static void run(void)
{
	pthread_t threads[WATCHED_SLOTS];
	if (pipe(pipe_ends) != 0)
		exit(1);
	alarm_slot = SLOT_OTHER + mode->others;
	watched->slots = alarm_slot + mode->alarms;
	for (unsigned i = 0; i < mode->others; i++)
		if (pthread_create(&threads[i], NULL, mode->other,
			    (void *)(uintptr_t)(SLOT_OTHER + i)) != 0)
			exit(1);
	set_timer();
	watched_thread();
	watched->ready = 1;
	while (!watched_ending()) {
		mode->step();
		watched_round(SLOT_MAIN);
	}
	for (unsigned i = 0; i < mode->others; i++)
		pthread_join(threads[i], NULL);
}

int main(int count, char **arguments)
{
	static const struct mode modes[] = {
		{"nanosleep", step_nanosleep, NULL, 0, false},
#ifdef __x86_64__
		{"stacked", step_stacked, NULL, 0, false},
		{"called", step_called, NULL, 0, false},
#endif
		{"clock", step_clock, NULL, 0, false},
		{"poll", step_poll, NULL, 0, false},
		{"select", step_select, NULL, 0, false},
		{"read", step_read, write_pipe, 1, false},
		{"futex", step_futex, wake_futex, 1, false},
		{"limited", step_limited, NULL, 0, false},
		{"busy", step_busy, NULL, 0, false},
		{"signals", step_busy, be_busy, 2, true},
		{"alarms", step_alarms, be_busy, 1, true},
	};
	for (size_t i = 0; count == 3 && i < sizeof(modes) / sizeof(*modes); i++)
		if (strcmp(arguments[1], modes[i].name) == 0)
			mode = &modes[i];
	if (!mode)
		return 2;
	watched_open(arguments[2]);
	run();
	watched_result();
	return 0;
}
