/*
 * The verb capture: one snapshot of a process, or one after the other for as long as it runs, also
 * of a program that it starts.
 */
#include "cli/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { POLL_MS = 20 };

/* Whether this verb has started the process, and how that is. */
enum child { CHILD_OF_OTHERS, CHILD_RUNS, CHILD_ENDED };

/* A process that is followed until there are enough snapshots of it, or it ends. */
struct follow {
	struct cli_run *run;
	const char *output; /* of -o, or NULL */
	struct hg_process *process;
	int pid;
	enum child child;
	int status; /* how a child of ours ended */
	uint64_t captures;
	uint64_t due;        /* ms; of the next one by the clock */
	uint64_t major_seen; /* collections at the last look */
	uint64_t heap_seen;  /* bytes of the heap at the last capture */
};

static uint64_t milliseconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* One capture, and what it was like */

static void say_capture(const struct hg_capture *capture)
{
	struct rep_text line = {0};
	rep_text_printf(&line, "pause %llu.%02llu ms, ",
		(unsigned long long)(capture->pause_ns / 1000000),
		(unsigned long long)(capture->pause_ns / 10000 % 100));
	rep_text_size(&line, capture->written_bytes);
	rep_text_printf(&line, " written, consistency %s, method %s",
		hg_moment_name(capture->moment), hg_capture_method_name(capture->method));
	if (capture->stops > 1)
		rep_text_printf(&line,
			", after %llu other stops of %llu.%02llu ms in all, at bad moments",
			(unsigned long long)capture->stops - 1,
			(unsigned long long)(capture->earlier_pause_ns / 1000000),
			(unsigned long long)(capture->earlier_pause_ns / 10000 % 100));
	if (capture->missing_bytes) {
		rep_text_put(&line, "; ");
		rep_text_size(&line, capture->missing_bytes);
		rep_text_put(&line, " of memory could not be read");
	}
	if (*capture->instead)
		rep_text_printf(&line, "; %s", capture->instead);
	if (capture->left_zombie)
		rep_text_put(&line, "; the process did not stop again to wait for its copy");
	cli_print_note(capture->path, rep_text_string(&line));
	rep_text_release(&line);
}

static enum hg_status capture_once(struct follow *follow, const char *trigger)
{
	const struct hg_capture *result;
	struct cli_run *run = follow->run;
	struct hg_capture_options options = {.size = sizeof(options),
		.path = follow->output,
		.method =
			run->values.method == CLI_UNSET
				? HG_CAPTURE_ANY
				: (enum hg_capture_method)(HG_CAPTURE_ANY + 1 + run->values.method),
		.trigger = trigger};
	enum hg_status status = hg_capture_process(follow->process, &options, &result);
	cli_progress_end(&run->progress);
	if (status != HG_OK)
		return cli_library_failed(run, status);
	follow->captures++;
	say_capture(result);
	return HG_OK;
}

/* Before it is captured all the same: the file keeps what another heapgraph may read. */
static void say_unreadable(const struct follow *follow)
{
	const char *why = hg_process_unreadable(follow->process);
	struct rep_text line = {0};
	if (!*why)
		return;
	rep_text_printf(
		&line, "what is captured of process %d cannot be read: %s", follow->pid, why);
	cli_print_note("", rep_text_string(&line));
	rep_text_release(&line);
}

/* When to capture */

/* The trigger that has come about, or NULL. */
static const char *triggered(struct follow *follow, const struct hg_counters *counters)
{
	const struct cli_values *values = &follow->run->values;
	const char *trigger = NULL;
	uint64_t now = milliseconds(), major = counters->major_collections;
	if (values->on_major_gc && major != HG_UNKNOWN) {
		if (follow->major_seen != HG_UNKNOWN && major > follow->major_seen)
			trigger = "major-gc";
		follow->major_seen = major;
	}
	if (values->when_grown != CLI_UNSET && counters->heap_bytes != HG_UNKNOWN &&
		(follow->heap_seen == HG_UNKNOWN ||
			(double)counters->heap_bytes >=
				(double)follow->heap_seen *
					(1 + (double)values->when_grown / 1e6))) {
		trigger = "growth";
		follow->heap_seen = counters->heap_bytes;
	}
	if (values->every != CLI_UNSET && now >= follow->due) {
		trigger = "timer";
		follow->due = now + values->every;
	}
	return trigger;
}

/* Whether the child of ours has ended. */
static bool child_has_ended(struct follow *follow)
{
	if (follow->child == CHILD_RUNS &&
		waitpid(follow->pid, &follow->status, WNOHANG) == follow->pid)
		follow->child = CHILD_ENDED;
	return follow->child == CHILD_ENDED;
}

static void wait_a_little(void)
{
	nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000L}, NULL);
}

/* Until there are enough, or the process ends, which is no failure once there is one. */
static enum hg_status follow_process(struct follow *follow)
{
	const struct hg_counters *counters;
	uint64_t most = cli_number(follow->run->values.count, UINT64_MAX);
	follow->due = milliseconds();
	follow->major_seen = follow->heap_seen = HG_UNKNOWN;
	while (follow->captures < most) {
		if (child_has_ended(follow) || !(counters = hg_process_counters(follow->process)))
			break;
		const char *trigger = triggered(follow, counters);
		enum hg_status status = trigger ? capture_once(follow, trigger) : HG_OK;
		if (status != HG_OK &&
			(child_has_ended(follow) || !hg_process_counters(follow->process)))
			break;
		if (status != HG_OK)
			return status;
		if (follow->captures < most)
			wait_a_little();
	}
	if (follow->captures == 0)
		return base_fail(&follow->run->error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"process %d ended before there was a reason to capture it", follow->pid);
	base_error_clear(&follow->run->error);
	return HG_OK;
}

/* A program that is started */

/* In the child; tells the parent by the pipe why the program does not run. */
static void execute(const char *const *arguments, int pipe)
{
	execvp(arguments[0], (char *const *)(uintptr_t)arguments);
	int number = errno;
	if (write(pipe, &number, sizeof(number)) < 0)
		_exit(126);
	_exit(127);
}

static enum hg_status start_program(struct follow *follow)
{
	struct cli_run *run = follow->run;
	int ends[2], number;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return base_fail(
			&run->error, HG_ERROR_LIMIT, HG_NO_OFFSET, "no pipe: %s", strerror(errno));
	/* Operands end with NULL, as they were allocated. */
	pid_t pid = fork();
	if (pid == 0)
		execute(run->operands, ends[1]);
	close(ends[1]);
	ssize_t got = pid < 0 ? -1 : read(ends[0], &number, sizeof(number));
	close(ends[0]);
	if (got == 0) {
		follow->pid = (int)pid;
		follow->child = CHILD_RUNS;
		return HG_OK;
	}
	if (pid < 0)
		return base_fail(&run->error, HG_ERROR_LIMIT, HG_NO_OFFSET, "cannot fork: %s",
			strerror(errno));
	waitpid(pid, &follow->status, 0);
	base_fail(&run->error, HG_ERROR_INPUT, HG_NO_OFFSET, "cannot be run: %s", strerror(number));
	base_error_file(&run->error, run->operands[0]);
	return HG_ERROR_INPUT;
}

/* It may be a script at first, that becomes an OCaml program. */
static enum hg_status open_child(struct follow *follow)
{
	while (!child_has_ended(follow)) {
		if (hg_process_open(follow->run->session, follow->pid, &follow->process) == HG_OK) {
			say_unreadable(follow);
			return HG_OK;
		}
		wait_a_little();
	}
	return cli_library_failed(follow->run, HG_ERROR_INPUT);
}

/* A key that ends the program is for the program. */
static void ignore_keys(void)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
}

static void pass_on_status(struct follow *follow)
{
	struct cli_run *run = follow->run;
	while (follow->child == CHILD_RUNS && waitpid(follow->pid, &follow->status, 0) < 0 &&
		errno == EINTR)
		continue;
	run->has_exit = true;
	run->exit = WIFSIGNALED(follow->status) ? 128 + WTERMSIG(follow->status)
						: WEXITSTATUS(follow->status);
}

static enum hg_status run_program(struct follow *follow)
{
	BASE_TRY(start_program(follow));
	ignore_keys();
	enum hg_status status = open_child(follow);
	if (status == HG_OK)
		status = follow_process(follow);
	hg_process_close(follow->process);
	pass_on_status(follow);
	return status;
}

static enum hg_status run_on_process(struct follow *follow, bool repeated)
{
	struct cli_run *run = follow->run;
	follow->pid = run->values.pid <= INT_MAX ? (int)run->values.pid : INT_MAX;
	enum hg_status status = hg_process_open(run->session, follow->pid, &follow->process);
	if (status != HG_OK)
		return cli_library_failed(run, status);
	say_unreadable(follow);
	status = repeated ? follow_process(follow) : capture_once(follow, "request");
	hg_process_close(follow->process);
	return status;
}

static bool is_folder(const char *path)
{
	struct stat about;
	return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static enum hg_status run_capture_verb(struct cli_run *run)
{
	const struct cli_values *values = &run->values;
	struct follow follow = {.run = run, .output = values->output};
	bool has_pid = values->pid != CLI_UNSET;
	bool repeated = values->every != CLI_UNSET || values->when_grown != CLI_UNSET ||
			values->on_major_gc;
	if (has_pid == (run->operand_count > 0))
		return cli_usage_error(run, "capture needs either -p PID or -- PROGRAM");
	if (!has_pid && !repeated)
		return cli_usage_error(run, "capture of a program that it starts needs --every, "
					    "--on-major-gc or --when-grown");
	if (values->count != CLI_UNSET && (!repeated || values->count == 0))
		return cli_usage_error(run, "--count: a number from 1 on, with --every, "
					    "--on-major-gc or --when-grown");
	if (repeated && values->count != 1 && values->output && !is_folder(values->output))
		return cli_usage_error(run, "-o: several captures need a folder");
	run->values.output = NULL; /* not for a report */
	BASE_TRY(cli_begin(run));
	return has_pid ? run_on_process(&follow, repeated) : run_program(&follow);
}

static const char *method_name(unsigned index)
{
	return hg_capture_method_name((enum hg_capture_method)(HG_CAPTURE_ANY + 1 + index));
}

static const struct cli_option own[] = {
	{"pid", 'p', CLI_NUMBER, offsetof(struct cli_values, pid), "PID", NULL,
		"the process to capture"},
	{"output", 'o', CLI_FILE, offsetof(struct cli_values, output), "FILE", NULL,
		"the snapshot, which replaces a file of that name, or a folder for "
		"heap.dump.PID.N; the current folder if not given"},
	{"method", 0, CLI_CHOICE, offsetof(struct cli_values, method), "METHOD", method_name,
		"fork: stop the process for as long as a fork takes, and read the copy while it "
		"runs; vmread: stop it while its memory is copied to memory; fork if possible if "
		"not given"},
	{"every", 0, CLI_TIME, offsetof(struct cli_values, every), "TIME", NULL,
		"capture again and again with so much time between, like 30s, 500ms, 5m or 1h"},
	{"on-major-gc", 0, CLI_FLAG, offsetof(struct cli_values, on_major_gc), NULL, NULL,
		"capture whenever a major collection has ended"},
	{"when-grown", 0, CLI_PERCENT, offsetof(struct cli_values, when_grown), "PERCENT", NULL,
		"capture at once, and whenever the heap has grown by so much since: of OCaml 4 the "
		"major heap, of OCaml 5 all private memory"},
	{"count", 0, CLI_NUMBER, offsetof(struct cli_values, count), "N", NULL,
		"so many captures; if not given, until the process ends"},
	{0},
};

static const struct cli_option *const tables[] = {own, cli_help_options, NULL};

const struct cli_verb cli_verb_capture = {
	.name = "capture",
	.operands = "-p PID | -- PROGRAM [ARGUMENT]...",
	.max_operands = INT_MAX,
	.summary = "a snapshot of a running program",
	.description =
		"Writes a core file of an OCaml program that runs, without changing it: all "
		"threads are stopped, the process is forked, and they go on; the copy is then read "
		"and removed.  Standard error says of each snapshot how long the program stood "
		"still, what was written, and whether it was stopped amid a minor collection, a "
		"compaction or the filling of an array (consistency), which is avoided by trying "
		"again.  Nothing is written to standard output.\n\n"
		"The file holds registers, the pages that the program wrote to, and what is needed "
		"of its executable and libraries, so that it can be read on another machine; gdb "
		"reads it too.  It appears whole or not at all.\n\n"
		"With a program as operand, the program is started and followed until it ends, and "
		"the exit status is its own: 128 and the signal if that ended it.",
	.tables = tables,
	.run = run_capture_verb,
};
