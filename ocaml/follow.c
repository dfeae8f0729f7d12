/* Waiting for dumps in a thread of its own, and the clock: all under one lock. */
#include "ocaml/follow.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { THREAD_STACK = 256 << 10 };

static struct {
	pthread_mutex_t mutex;
	struct follow_latest latest;
	bool claimed;
	bool closed;
	bool has_thread; /* one to join */
	bool failed;     /* the last one: another failure is not told again */
	pthread_t thread;
} state = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void lock(void)
{
	pthread_mutex_lock(&state.mutex);
}

static void unlock(void)
{
	pthread_mutex_unlock(&state.mutex);
}

/* A child forked by the program has no thread of ours and no dumps yet. */
static void start_again(void)
{
	state.claimed = state.has_thread = state.failed = false;
	state.latest.is_there = false;
	unlock();
	dump_restart_numbers();
}

void follow_init(void)
{
	pthread_atfork(lock, unlock, start_again);
}

bool follow_claim(void)
{
	lock();
	bool free_place = !state.claimed && !state.closed;
	bool join = free_place && state.has_thread;
	pthread_t thread = state.thread;
	if (free_place) {
		state.claimed = true;
		state.has_thread = false;
	}
	unlock();
	if (join)
		pthread_join(thread, NULL);
	return free_place;
}

/* Under the lock. */
static void set_latest(const struct dump *dump)
{
	state.latest.is_there = true;
	state.latest.dump = *dump;
	state.latest.dump.report = NULL;
	state.latest.dump.threads = NULL;
}

void follow_note(const struct dump *dump)
{
	lock();
	set_latest(dump);
	unlock();
}

struct follow_latest follow_get_latest(void)
{
	lock();
	struct follow_latest latest = state.latest;
	unlock();
	return latest;
}

static void tell(const struct dump *dump)
{
	char line[sizeof(dump->message) + 32];
	int length = snprintf(line, sizeof(line), "heapgraph: %s\n", dump->message);
	ssize_t written = write(STDERR_FILENO, line, (size_t)length);
	(void)written; /* there is no other place to say so */
}

static void *wait_and_free(void *data)
{
	struct dump *dump = data;
	bool fine = dump_wait(dump);
	lock();
	bool first = !fine && !state.failed;
	state.failed = !fine;
	unlock();
	if (first)
		tell(dump);
	/* At once: who sees this dump may ask for the next one. */
	lock();
	if (fine)
		set_latest(dump);
	state.claimed = false;
	unlock();
	dump_release(dump);
	free(dump);
	return NULL;
}

static int start_thread(pthread_t *thread, void *(*run)(void *), void *data)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int status = pthread_attr_init(&attributes);
	if (status != 0)
		return status;
	pthread_attr_setstacksize(&attributes, THREAD_STACK);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	status = pthread_create(thread, &attributes, run, data);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return status;
}

void follow(struct dump *dump)
{
	lock();
	state.has_thread = start_thread(&state.thread, wait_and_free, dump) == 0;
	bool waits = !state.has_thread;
	unlock();
	if (waits)
		wait_and_free(dump);
}

void follow_close(void)
{
	lock();
	state.closed = true;
	bool join = state.has_thread;
	pthread_t thread = state.thread;
	state.has_thread = false;
	unlock();
	if (join)
		pthread_join(thread, NULL);
}

/* The clock */

struct clock {
	struct timespec next;
	uint64_t period; /* ns */
	void (*tick)(void);
};

static void *run_clock(void *data)
{
	struct clock *clock = data;
	for (;;) {
		uint64_t nanoseconds = (uint64_t)clock->next.tv_nsec + clock->period;
		clock->next.tv_sec += (time_t)(nanoseconds / 1000000000u);
		clock->next.tv_nsec = (long)(nanoseconds % 1000000000u);
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &clock->next, NULL) != 0)
			continue;
		clock->tick();
	}
	return NULL;
}

int follow_clock(double seconds, void (*tick)(void))
{
	static struct clock clock;
	pthread_t thread;
	clock = (struct clock){.period = (uint64_t)(seconds * 1e9), .tick = tick};
	clock_gettime(CLOCK_MONOTONIC, &clock.next);
	int status = start_thread(&thread, run_clock, &clock);
	if (status == 0)
		pthread_detach(thread);
	return status;
}
