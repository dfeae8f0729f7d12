/*
 * kill_captures - kills heapgraph while it captures, at all moments, and says what becomes of the
 * programs that are captured.
 *
 *     kill_captures CAPTURER FOLDER 'NAME=PROGRAM ARGUMENT...'...
 *
 * CAPTURER is build/heapgraph; FOLDER is for files; the programs are those of
 * tests/targets/watched*, which are given the path of a file as last argument.  From the
 * environment:
 *
 *     CAPTURES=3         of each program that nobody disturbs
 *     KILLS_RANDOM=1000  kills at random moments of the capturer's life, over all programs
 *     KILLS_PAUSE=500    kills that hit while the program is traced
 *     SLOW_SECONDS=20    of a fork that is slow; 0: none are
 *     SLOW_TARGETS='...' names of the programs whose forks are slow; unset: all
 *     SLOW_KINDS='...'   done meanwhile: slow, slow+ with KILL, INT, STOP+KILL, STOP+CONT
 *     LOAD_SECONDS=25    during which a program gets next to no time; 0: all have theirs
 *     LOAD_MEGABYTES=1000  of memory of such a program
 *     LOAD_TARGETS='...' names of the programs to which that happens; unset: all
 *     PATIENCE=10        seconds until what should come by itself is said to be missing
 *     SEED=1             of the random moments
 *
 * A line for each program and kind of kill; the last line is 'N passed, N failed', counted in
 * lines.
 */
#include "tests/stress/stress.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_TARGETS = 32, TRIES_FOR_A_HIT = 40, NAP_US = 200 };

struct stress_setting stress_setting;

static unsigned passed, failed;

static unsigned number_of(const char *name, unsigned otherwise)
{
	const char *text = getenv(name);
	return text && *text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static unsigned random_below(unsigned limit)
{
	return limit ? (unsigned)random() % limit : 0;
}

/* More than a nap, and exactly. */
static void spin(unsigned microseconds)
{
	uint64_t until = stress_microseconds() + microseconds;
	while (stress_microseconds() < until)
		continue;
}

/* The kill itself; what the capturer ends with by itself must be success. */
static void kill_now(struct stress_target *target, pid_t capturer, struct stress_row *row)
{
	int status;
	bool traced = stress_is_traced(target);
	if (stress_capture_has_ended(capturer)) {
		waitpid(capturer, &status, 0);
		if (status != 0)
			stress_refuse(target, "not killed", status, row);
	} else {
		kill(capturer, SIGKILL);
		waitpid(capturer, &status, 0);
		row->kills++;
		row->in_pause += traced;
	}
	stress_reap_strangers(target->process, 0);
	stress_remove_captures();
}

/* A capture that nobody disturbs, in microseconds. */
struct course {
	unsigned life, pause; /* all of it; and how long the target is traced */
};

static struct course observe(struct stress_target *target, struct stress_row *row)
{
	int status;
	uint64_t start = stress_microseconds(), first = 0, last = 0;
	pid_t capturer = stress_capture_begin(target);
	while (!stress_capture_has_ended(capturer) &&
		stress_microseconds() < start + UINT64_C(1000) * stress_setting.patience_ms) {
		if (!stress_is_traced(target))
			continue;
		last = stress_microseconds();
		first = first ? first : last;
	}
	if (!stress_capture_end(target, capturer, &status) || status != 0)
		stress_refuse(target, "not disturbed", status, row);
	unsigned life = (unsigned)(stress_microseconds() - start);
	stress_remove_captures();
	stress_judge(target, row);
	return (struct course){.life = life, .pause = (unsigned)(last - first)};
}

/* The longest of some; the pause ends with the last moment in which the target is traced. */
static struct course measure(struct stress_target *target, struct stress_row *row)
{
	struct course longest = {0};
	for (int i = 0; i < 3; i++) {
		struct course one = observe(target, row);
		if (one.life > longest.life)
			longest.life = one.life;
		if (one.pause > longest.pause)
			longest.pause = one.pause;
	}
	return longest;
}

static void kill_none(struct stress_target *target, unsigned wanted, struct stress_row *row)
{
	for (unsigned i = 0; i < wanted; i++)
		observe(target, row);
}

static void kill_at_random(struct stress_target *target, unsigned wanted, struct stress_row *row)
{
	struct course course = measure(target, row);
	for (unsigned i = 0; row->kills < wanted && i < wanted * TRIES_FOR_A_HIT; i++) {
		unsigned moment = random_below(course.life);
		pid_t capturer = stress_capture_begin(target);
		stress_nap(moment);
		kill_now(target, capturer, row);
		stress_judge(target, row);
	}
}

/*
 * Half of the moments are anywhere in the pause, and half of them within the first 3 ms of it, the
 * earlier the more of them: there the registers are changed.
 */
static void kill_in_pause(struct stress_target *target, unsigned wanted, struct stress_row *row)
{
	struct course course = measure(target, row);
	const unsigned ranges_us[] = {100, 500, 3000, course.pause, course.pause, course.pause};
	for (unsigned i = 0; row->in_pause < wanted && i < wanted * TRIES_FOR_A_HIT; i++) {
		unsigned moment = random_below(ranges_us[random_below(6)]);
		pid_t capturer = stress_capture_begin(target);
		while (!stress_is_traced(target) && !stress_capture_has_ended(capturer))
			continue;
		spin(moment);
		kill_now(target, capturer, row);
		stress_judge(target, row);
	}
}

static void print_head(void)
{
	printf("%-28s %-15s %5s %5s %6s %4s %5s %5s %5s %5s %6s %7s %8s %6s %7s result\n", "target",
		"kind", "kills", "pause", "killed", "torn", "EINTR", "mask", "stack", "stuck",
		"copies", "zombies", "unreaped", "output", "refused");
}

static void print_row(
	const char *name, const char *kind, const struct stress_row *row, unsigned missing)
{
	unsigned faults = row->killed + row->torn + row->interrupted + row->mask + row->stack +
			  row->stuck + row->copies + row->unreaped + row->output + row->refused;
	printf("%-28s %-15s %5u %5u %6u %4u %5u %5u %5u %5u %6u %7u %8u %6u %7u %s\n", name, kind,
		row->kills, row->in_pause, row->killed, row->torn, row->interrupted, row->mask,
		row->stack, row->stuck, row->copies, row->zombies, row->unreaped, row->output,
		row->refused,
		missing  ? "too-few-kills"
		: faults ? "FAILED"
			 : "fine");
	fflush(stdout);
	if (faults || missing)
		failed++;
	else
		passed++;
}

/* What is done to captures, and which number in a row says how often it was. */
struct kind {
	const char *name;
	void (*run)(struct stress_target *target, unsigned wanted, struct stress_row *row);
	unsigned (*done)(const struct stress_row *row);
};

static unsigned kills_of(const struct stress_row *row)
{
	return row->kills;
}

static unsigned hits_of(const struct stress_row *row)
{
	return row->in_pause;
}

static const struct kind alone = {"alone", kill_none, NULL};
static const struct kind at_random = {"random", kill_at_random, kills_of};
static const struct kind in_pause = {"in-pause", kill_in_pause, hits_of};

static void run_kills(struct stress_target *target, const struct kind *kind, unsigned wanted)
{
	struct stress_row row = {0};
	if (wanted == 0)
		return;
	target->slow_forks = false;
	stress_start(target);
	kind->run(target, wanted, &row);
	unsigned missing = kind->done ? wanted - kind->done(&row) : 0;
	stress_conclude(target, &row);
	print_row(target->name, kind->name, &row, missing);
}

/* Is the name in the list of the variable?  All are when it is not set. */
static bool is_listed(const char *variable, const char *name)
{
	const char *wanted = getenv(variable);
	size_t length = strlen(name);
	for (const char *at = wanted; at && (at = strstr(at, name)); at += length)
		if ((at == wanted || at[-1] == ' ') && (at[length] == '\0' || at[length] == ' '))
			return true;
	return !wanted;
}

static void run_slow(struct stress_target *target, unsigned seconds)
{
	for (int kind = 0; kind < STRESS_SLOW_KINDS; kind++) {
		struct stress_row row = {0};
		if (!is_listed("SLOW_KINDS", stress_slow_name((enum stress_slow_kind)kind)))
			continue;
		target->slow_forks = true;
		stress_start(target);
		stress_slow(target, (enum stress_slow_kind)kind, seconds, &row);
		stress_conclude(target, &row);
		print_row(target->name, stress_slow_name((enum stress_slow_kind)kind), &row, 0);
	}
}

static void run_load(struct stress_target *target, unsigned seconds, unsigned megabytes)
{
	for (int kind = 0; kind < STRESS_LOAD_KINDS; kind++) {
		struct stress_row row = {0};
		target->slow_forks = false;
		target->megabytes = megabytes;
		stress_start(target);
		stress_load(target, (enum stress_load_kind)kind, seconds, &row);
		stress_conclude(target, &row);
		print_row(target->name, stress_load_name((enum stress_load_kind)kind), &row, 0);
		target->megabytes = 0;
	}
}

/* NAME=PROGRAM ARGUMENT... */
static void parse_target(struct stress_target *target, char *text)
{
	char *rest = strchr(text, '=');
	size_t count = 0;
	if (!rest)
		stress_fail(text, "NAME=PROGRAM is wanted");
	*rest++ = '\0';
	*target = (struct stress_target){.name = text, .fork_events = -1};
	snprintf(target->record_path, sizeof(target->record_path), "%s/record",
		stress_setting.folder);
	snprintf(target->said_path, sizeof(target->said_path), "%s/target.said",
		stress_setting.folder);
	for (char *word = strtok(rest, " "); word; word = strtok(NULL, " ")) {
		if (count == STRESS_WORDS)
			stress_fail(text, "has too many arguments");
		target->command[count++] = word;
	}
	target->command[count] = target->record_path;
}

/* Each program has its share of kills. */
static unsigned share(unsigned all, unsigned of, unsigned i)
{
	return all * (i + 1) / of - all * i / of;
}

int main(int count, char **arguments)
{
	struct stress_target target;
	if (count < 4) {
		fputs("usage: kill_captures CAPTURER FOLDER NAME=PROGRAM...\n", stderr);
		return 2;
	}
	stress_setting.capturer = arguments[1];
	stress_setting.folder = arguments[2];
	stress_setting.patience_ms = 1000 * number_of("PATIENCE", 10);
	snprintf(stress_setting.core_path, STRESS_PATH, "%s/core", arguments[2]);
	snprintf(stress_setting.said_path, STRESS_PATH, "%s/capturer.said", arguments[2]);
	unsigned captures = number_of("CAPTURES", 3);
	unsigned random_kills = number_of("KILLS_RANDOM", 1000);
	unsigned pause_kills = number_of("KILLS_PAUSE", 500);
	unsigned slow_seconds = number_of("SLOW_SECONDS", 20);
	unsigned load_seconds = number_of("LOAD_SECONDS", 25);
	unsigned targets = (unsigned)count - 3;
	srandom(number_of("SEED", 1));
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	print_head();
	for (unsigned i = 0; i < targets; i++) {
		parse_target(&target, arguments[3 + i]);
		run_kills(&target, &alone, captures);
		run_kills(&target, &at_random, share(random_kills, targets, i));
		run_kills(&target, &in_pause, share(pause_kills, targets, i));
		if (slow_seconds && is_listed("SLOW_TARGETS", target.name))
			run_slow(&target, slow_seconds);
		if (load_seconds && is_listed("LOAD_TARGETS", target.name))
			run_load(&target, load_seconds, number_of("LOAD_MEGABYTES", 1000));
	}
	printf("%u passed, %u failed\n", passed, failed);
	return failed ? 1 : 0;
}
