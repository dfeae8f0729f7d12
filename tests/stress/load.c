/*
 * Forks that take long because the program is large and gets next to no time: the idle class on a
 * processor that others keep busy.  Not only the fork is slow then, but all that the program does.
 */
#include "tests/stress/stress.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HOGS = 3, SECOND_US = 1000000, NAP_US = 20000 };

static const struct load_kind {
	const char *name;
	unsigned kill_at; /* seconds after the target was stopped; 0: never */
} kinds[STRESS_LOAD_KINDS] = {
	[STRESS_LOAD_ALONE] = {"load", 0},
	[STRESS_LOAD_KILLED] = {"load+KILL", 4},
};

const char *stress_load_name(enum stress_load_kind kind)
{
	return kinds[kind].name;
}

struct load {
	pid_t hogs[HOGS];
	cpu_set_t all, one; /* processors: before, and the busy one */
};

static void set_thread(pid_t thread, void *data)
{
	const struct load *load = data;
	struct sched_param none = {0};
	bool is_begin = load->hogs[0] != 0;
	if (sched_setaffinity(thread, sizeof(load->one), is_begin ? &load->one : &load->all) != 0 ||
		sched_setscheduler(thread, is_begin ? SCHED_IDLE : SCHED_OTHER, &none) != 0)
		stress_fail("scheduling of the target", strerror(errno));
}

static void begin_load(const struct stress_target *target, struct load *load)
{
	size_t last = CPU_SETSIZE - 1;
	sched_getaffinity(0, sizeof(load->all), &load->all);
	while (last > 0 && !CPU_ISSET(last, &load->all))
		last--;
	CPU_ZERO(&load->one);
	CPU_SET(last, &load->one);
	for (int i = 0; i < HOGS; i++) {
		load->hogs[i] = fork();
		if (load->hogs[i] != 0)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sched_setaffinity(0, sizeof(load->one), &load->one);
		for (;;)
			continue;
	}
	stress_each_thread(target->process, set_thread, load);
}

/* A copy has inherited it all, and needs time even to be killed. */
static void end_load_of_copies(pid_t process, const struct load *load)
{
	char path[64];
	int copy;
	struct sched_param none = {0};
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)process, (int)process);
	FILE *file = fopen(path, "re");
	while (file && fscanf(file, "%d", &copy) == 1) {
		sched_setaffinity(copy, sizeof(load->all), &load->all);
		sched_setscheduler(copy, SCHED_OTHER, &none);
	}
	if (file)
		fclose(file);
}

static void end_load(const struct stress_target *target, struct load *load)
{
	for (int i = 0; i < HOGS; i++) {
		kill(load->hogs[i], SIGKILL);
		waitpid(load->hogs[i], NULL, 0);
		load->hogs[i] = 0;
	}
	stress_each_thread(target->process, set_thread, load);
	end_load_of_copies(target->process, load);
}

void stress_load(struct stress_target *target, enum stress_load_kind kind, unsigned seconds,
	struct stress_row *row)
{
	struct load load = {0};
	uint64_t stopped = 0, kill_at = kinds[kind].kill_at * (uint64_t)SECOND_US;
	int status = 0;
	begin_load(target, &load);
	uint64_t start = stress_microseconds();
	pid_t capturer = stress_capture_begin(target);
	while (!stress_capture_has_ended(capturer) &&
		stress_microseconds() < start + seconds * (uint64_t)SECOND_US) {
		if (!stopped && stress_is_traced(target))
			stopped = stress_microseconds();
		if (kill_at && stopped && stress_microseconds() > stopped + kill_at) {
			row->in_pause += stress_is_traced(target);
			kill(capturer, SIGKILL);
			kill_at = 0;
		}
		stress_nap(NAP_US);
	}
	/* The rest of the time without the capturer, which may have ended. */
	while (stress_microseconds() < start + seconds * (uint64_t)SECOND_US &&
		!stress_has_ended(target))
		stress_nap(NAP_US);
	end_load(target, &load);
	row->kills++;
	if (!stress_capture_end(target, capturer, &status))
		row->refused++;
	stress_say_how_it_ended(target, kinds[kind].name, status);
	stress_remove_captures();
	stress_judge(target, row);
}
