/*
 * What the parts of kill_captures share: processes as /proc shows them, targets, and the judge, who
 * says after each kill of a capturer what became of the target.
 */
#ifndef TESTS_STRESS_STRESS_H
#define TESTS_STRESS_STRESS_H

#include "tests/targets/watched.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum { STRESS_THREADS = 64, STRESS_WORDS = 8, STRESS_PATH = 512 };

/* Of /proc/ID/status; state is 0 if there is no such thread. */
struct stress_status {
	char state;
	pid_t parent, tracer;
	uint64_t blocked;
};

struct stress_thread {
	pid_t id;
	uint64_t blocked; /* when nobody had touched it */
	bool is_back;     /* it has blocked the same since it was touched */
};

struct stress_target {
	const char *name;
	char *command[STRESS_WORDS + 2]; /* its words, then the path of the record */
	char record_path[STRESS_PATH], said_path[STRESS_PATH];
	bool slow_forks;
	unsigned megabytes; /* of memory that it has besides */
	struct watched *record;
	pid_t process;   /* 0: does not run */
	int exit_status; /* as waitpid() has it, once it has ended */
	struct stress_thread threads[STRESS_THREADS];
	size_t thread_count;
	unsigned zombies; /* that it had when it was judged last */
	int fork_events;  /* its userfaultfd, as a descriptor of ours; or -1 */
};

/* One line of the result. */
struct stress_row {
	unsigned kills, in_pause; /* kills, and those while the target was traced */
	unsigned killed, torn, interrupted, mask, stack, stuck, copies, zombies;
	unsigned unreaped, output, refused;
};

/* Where captures go, and the capturer: build/heapgraph. */
struct stress_setting {
	const char *capturer, *folder;
	unsigned patience_ms; /* for what comes by itself */
	char core_path[STRESS_PATH], said_path[STRESS_PATH];
};

extern struct stress_setting stress_setting;

/* process.c */

struct stress_status stress_read_status(pid_t process, pid_t thread);

/* Calls back for each thread. */
void stress_each_thread(pid_t process, void (*each)(pid_t thread, void *data), void *data);

/*
 * Copies of a target: its children, and those of ours that run the same program (copies of a target
 * that has ended become ours).  Ends the live ones if told to.
 */
struct stress_copies {
	unsigned live, zombies;
	unsigned capturers; /* children of ours that are no copies, but capturers */
};
struct stress_copies stress_find_copies(pid_t target, bool end_them);

/* Waits for whoever became a child of ours; the target and the capturer are left alone. */
void stress_reap_strangers(pid_t target, pid_t capturer);

uint64_t stress_microseconds(void);
void stress_nap(unsigned microseconds);

/* Ends the program with a message. */
_Noreturn void stress_fail(const char *what, const char *why);

/* target.c */

/* Starts it anew and waits until all of its threads work. */
void stress_start(struct stress_target *target);
bool stress_is_traced(const struct stress_target *target);
bool stress_has_ended(struct stress_target *target);
void stress_kill(struct stress_target *target);

/* Tells it to end; false if what it says, or its exit status, is not as it should be. */
bool stress_finish(struct stress_target *target);

/* Lets forks of a target with slow forks be as fast as others from now on. */
void stress_release_forks(struct stress_target *target);

/* capturer.c */

pid_t stress_capture_begin(const struct stress_target *target);

/*
 * Waits for it, with the target's forks released; how it ended is in *status.  False, and it is
 * killed, when it does not end.
 */
bool stress_capture_end(struct stress_target *target, pid_t capturer, int *status);

bool stress_capture_has_ended(pid_t capturer);

/* Says on standard error how it ended, and the first line that it wrote. */
void stress_say_how_it_ended(const struct stress_target *target, const char *kind, int status);
/* The same of one that should have ended otherwise. */
void stress_refuse(
	const struct stress_target *target, const char *kind, int status, struct stress_row *row);
void stress_remove_captures(void);

/* judge.c */

/*
 * Waits until all is as it should be, and counts in the row what is not after a while.  A target
 * that has suffered is replaced by a new one.  False if it suffered.
 */
bool stress_judge(struct stress_target *target, struct stress_row *row);

/* The end of a row: a capture that nobody disturbs, and the end of the target. */
void stress_conclude(struct stress_target *target, struct stress_row *row);

/* slow.c */

enum stress_slow_kind {
	STRESS_SLOW_ALONE,
	STRESS_SLOW_KILLED,
	STRESS_SLOW_INTERRUPTED,
	STRESS_SLOW_FROZEN_KILLED,
	STRESS_SLOW_FROZEN_RESUMED,
	STRESS_SLOW_KINDS
};

const char *stress_slow_name(enum stress_slow_kind kind);

/* A capture whose fork takes so long. */
void stress_slow(struct stress_target *target, enum stress_slow_kind kind, unsigned seconds,
	struct stress_row *row);

/* load.c */

enum stress_load_kind { STRESS_LOAD_ALONE, STRESS_LOAD_KILLED, STRESS_LOAD_KINDS };

const char *stress_load_name(enum stress_load_kind kind);

/* A capture of a target that gets next to no time for so long. */
void stress_load(struct stress_target *target, enum stress_load_kind kind, unsigned seconds,
	struct stress_row *row);

#endif
