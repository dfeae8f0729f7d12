/* Forks that take long: the event of a userfaultfd is not read before. */
#include "tests/stress/stress.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

enum { SECOND_US = 1000000, NAP_US = 2000 };

struct deed {
	unsigned at; /* seconds after the fork began */
	int signal;
};

/* What is done to the capturer meanwhile. */
static const struct slow_kind {
	const char *name;
	struct deed deeds[2];
} kinds[STRESS_SLOW_KINDS] = {
	[STRESS_SLOW_ALONE] = {"slow", {{0, 0}}},
	[STRESS_SLOW_KILLED] = {"slow+KILL", {{2, SIGKILL}}},
	[STRESS_SLOW_INTERRUPTED] = {"slow+INT", {{2, SIGINT}}},
	[STRESS_SLOW_FROZEN_KILLED] = {"slow+STOP+KILL", {{1, SIGSTOP}, {8, SIGKILL}}},
	[STRESS_SLOW_FROZEN_RESUMED] = {"slow+STOP+CONT", {{1, SIGSTOP}, {16, SIGCONT}}},
};

const char *stress_slow_name(enum stress_slow_kind kind)
{
	return kinds[kind].name;
}

/* Until the fork waits for its event; false if the capturer ends without one. */
static bool wait_for_fork(struct stress_target *target, pid_t capturer)
{
	struct pollfd event = {.fd = target->fork_events, .events = POLLIN};
	for (;;) {
		if (poll(&event, 1, NAP_US / 1000) == 1)
			return true;
		if (stress_capture_has_ended(capturer))
			return false;
	}
}

void stress_slow(struct stress_target *target, enum stress_slow_kind kind, unsigned seconds,
	struct stress_row *row)
{
	const struct slow_kind *slow = &kinds[kind];
	int status = 0;
	pid_t capturer = stress_capture_begin(target);
	bool forks = wait_for_fork(target, capturer);
	uint64_t start = stress_microseconds();
	for (unsigned second = 0; forks && second < seconds; second++) {
		for (size_t i = 0; i < 2; i++)
			if (slow->deeds[i].signal && slow->deeds[i].at == second)
				kill(capturer, slow->deeds[i].signal);
		while (stress_microseconds() < start + (second + 1) * (uint64_t)SECOND_US)
			stress_nap(NAP_US);
	}
	stress_release_forks(target);
	row->kills++;
	row->in_pause += forks;
	/* One that hangs has not kept its promise to give up. */
	if (!stress_capture_end(target, capturer, &status))
		row->refused++;
	stress_say_how_it_ended(target, slow->name, status);
	stress_remove_captures();
	stress_judge(target, row);
}
