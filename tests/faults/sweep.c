/*
 * sweep [-f FIRST] [-e EVERY] [-c EVERY] [-o FILE] SHIM COMMAND ARGUMENT... - runs a command once
 * undisturbed, and then again and again with one call failing: the first, the second and so on of
 * each kind, once, and from then on.  -e tries only the first few (-f, otherwise 6) and then every
 * so many-th call, -c of the command's child processes (otherwise as of the command itself); -o
 * names what the command writes, in the current folder.
 *
 * Right is: the same output and exit status as undisturbed, or exit status 5 (3 if it is reading
 * that failed) with one line that says why and without the file.  Wrong is everything else: another
 * answer, a signal (SIGALRM means that it hung), a file left over.  The current folder is where the
 * command runs and keeps its temporary files, and has to be empty.
 *
 * Prints a line for each kind of call and one for each of the first runs that went wrong; exit
 * status 1 if any did.
 */
#include "tests/faults/calls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HANGS_AFTER_SECONDS = 120, BUSY_SECONDS = 1, MOST_SHOWN = 12, KINDS = 2 * FAULT_CALLS };

static const char *const names[] = {FAULT_CALL_NAMES};

struct bytes {
	char *data;
	size_t size;
};

/* What a run left behind. */
struct outcome {
	int status; /* as of wait() */
	struct bytes out, err, file;
	bool has_file, has_more_files;
};

struct sweep {
	const char *shim, *file;
	char **command;
	uint64_t first, every, child_every;
	int out, err, count_file;
	const uint64_t *counts;
	struct outcome wanted;
	unsigned shown;
	uint64_t tried[KINDS], same[KINDS], other_picture[KINDS], resource[KINDS], input[KINDS],
		wrong[KINDS];
};

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static void release(struct outcome *outcome)
{
	free(outcome->out.data);
	free(outcome->err.data);
	free(outcome->file.data);
}

static struct bytes contents(int fd)
{
	struct stat about;
	if (fstat(fd, &about))
		die("fstat");
	struct bytes bytes = {.size = (size_t)about.st_size};
	bytes.data = calloc(1, bytes.size + 1);
	if (!bytes.data || pread(fd, bytes.data, bytes.size, 0) != about.st_size)
		die("reading what the command wrote");
	return bytes;
}

static bool equal(struct bytes a, struct bytes b)
{
	return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

/* Whether a picture is whole: "</svg>" and a line feed. */
static bool same_end(struct bytes a, struct bytes b)
{
	enum { END = 7 };
	return a.size >= END && b.size >= END &&
	       memcmp(a.data + a.size - END, b.data + b.size - END, END) == 0;
}

/* Reads and removes what lies in the current folder. */
static void take_files(const struct sweep *sweep, struct outcome *outcome)
{
	DIR *folder = opendir(".");
	if (!folder)
		die("opendir");
	for (struct dirent *entry; (entry = readdir(folder));) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (sweep->file && strcmp(entry->d_name, sweep->file) == 0) {
			int fd = open(sweep->file, O_RDONLY);
			if (fd < 0)
				die(sweep->file);
			outcome->file = contents(fd);
			outcome->has_file = true;
			close(fd);
		} else {
			outcome->has_more_files = true;
		}
		unlink(entry->d_name);
	}
	closedir(folder);
}

static void become_command(const struct sweep *sweep, const char *fault)
{
	char counts[32];
	int nothing = open("/dev/null", O_RDONLY);
	snprintf(counts, sizeof(counts), "/proc/self/fd/%d", sweep->count_file);
	if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(sweep->out, 1) < 0 ||
		dup2(sweep->err, 2) < 0)
		_exit(126);
	setenv("LD_PRELOAD", sweep->shim, 1);
	setenv("FAULT_COUNTS", counts, 1);
	if (fault)
		setenv("FAULT", fault, 1);
	setenv("TMPDIR", ".", 1);
	/* A library that reads in circles is ended by the limit that such a process has. */
	struct rlimit busy = {BUSY_SECONDS, RLIM_INFINITY};
	setrlimit(RLIMIT_CPU, &busy);
	alarm(HANGS_AFTER_SECONDS);
	execv(sweep->command[0], sweep->command);
	_exit(127);
}

static void run(const struct sweep *sweep, const char *fault, struct outcome *outcome)
{
	*outcome = (struct outcome){0};
	int fds[] = {sweep->out, sweep->err, sweep->count_file};
	for (int i = 0; i < 3; i++)
		if (ftruncate(fds[i], 0) || lseek(fds[i], 0, SEEK_SET))
			die("ftruncate");
	if (ftruncate(sweep->count_file, KINDS * sizeof(uint64_t)))
		die("ftruncate");
	pid_t child = fork();
	if (child < 0)
		die("fork");
	if (child == 0)
		become_command(sweep, fault);
	if (waitpid(child, &outcome->status, 0) != child)
		die("waitpid");
	outcome->out = contents(sweep->out);
	outcome->err = contents(sweep->err);
	take_files(sweep, outcome);
}

/* Whether it ended like the undisturbed run, and wrote the same. */
static bool is_same(const struct sweep *sweep, const struct outcome *outcome)
{
	const struct outcome *wanted = &sweep->wanted;
	return outcome->status == wanted->status && equal(outcome->out, wanted->out) &&
	       outcome->has_file == wanted->has_file && equal(outcome->file, wanted->file);
}

/* What was said beyond the notes of the undisturbed run is one line. */
static bool says_one_line(const struct sweep *sweep, const struct outcome *outcome)
{
	const char *text = outcome->err.data;
	static const char start[] = "heapgraph: ";
	size_t lines = 0, notes = 0;
	for (size_t i = 0; i < outcome->err.size; i++)
		lines += text[i] == '\n';
	for (size_t i = 0; i < sweep->wanted.err.size; i++)
		notes += sweep->wanted.err.data[i] == '\n';
	return lines >= 1 && lines <= notes + 1 && strncmp(text, start, sizeof(start) - 1) == 0;
}

/* All others are wants of the machine, and no fault of a file. */
static bool is_of_input(unsigned kind)
{
	unsigned call = kind % FAULT_CALLS;
	return call == FAULT_READ || call == FAULT_READDIR;
}

/* NULL if it is right. */
static const char *judge(struct sweep *sweep, const struct outcome *outcome, unsigned kind)
{
	if (WIFSIGNALED(outcome->status))
		return strsignal(WTERMSIG(outcome->status));
	int status = WEXITSTATUS(outcome->status);
	if (outcome->has_more_files)
		return "a file is left over";
	if (is_same(sweep, outcome)) {
		sweep->same[kind]++;
		return NULL;
	}
	/* Graphviz draws with other fonts when it cannot read those it wants. */
	if (kind >= FAULT_CALLS && outcome->status == sweep->wanted.status &&
		same_end(outcome->file, sweep->wanted.file)) {
		sweep->other_picture[kind]++;
		return NULL;
	}
	if (outcome->status == sweep->wanted.status)
		return "another answer";
	if (status != 5 && status != 3)
		return "exit status";
	if (status == 3 && !is_of_input(kind))
		return "exit status 3";
	if (outcome->has_file)
		return "a failure, and yet an output file";
	if (!says_one_line(sweep, outcome))
		return "not one line that says why";
	sweep->resource[kind] += status == 5;
	sweep->input[kind] += status == 3;
	return NULL;
}

static void show(
	struct sweep *sweep, const char *fault, const char *why, const struct outcome *outcome)
{
	if (sweep->shown++ >= MOST_SHOWN)
		return;
	printf("  FAULT=%s", fault);
	for (char **argument = sweep->command; *argument; argument++)
		printf(" %s", *argument);
	printf(": %s (status %d): %.*s\n", why, WEXITSTATUS(outcome->status),
		(int)strcspn(outcome->err.data, "\n"), outcome->err.data);
}

static void try_call(struct sweep *sweep, unsigned kind, uint64_t number, const char *mode)
{
	struct outcome outcome;
	char fault[64];
	snprintf(fault, sizeof(fault), "%s%s:%llu%s", kind >= FAULT_CALLS ? "child-" : "",
		names[kind % FAULT_CALLS], (unsigned long long)number, mode);
	run(sweep, fault, &outcome);
	sweep->tried[kind]++;
	const char *why = judge(sweep, &outcome, kind);
	if (why) {
		sweep->wrong[kind]++;
		show(sweep, fault, why, &outcome);
	}
	release(&outcome);
}

static void try_kind(struct sweep *sweep, unsigned kind, uint64_t count)
{
	uint64_t every = kind >= FAULT_CALLS ? sweep->child_every : sweep->every;
	for (uint64_t number = 1; number <= count; number += number < sweep->first ? 1 : every) {
		try_call(sweep, kind, number, "");
		try_call(sweep, kind, number, ":on");
	}
	char title[32];
	snprintf(title, sizeof(title), "%s%s", kind >= FAULT_CALLS ? "child-" : "",
		names[kind % FAULT_CALLS]);
	if (count)
		printf("  %-14s %7llu calls, %6llu runs: %llu as undisturbed, %llu other picture, "
		       "%llu exit 5, %llu exit 3, %llu wrong\n",
			title, (unsigned long long)count, (unsigned long long)sweep->tried[kind],
			(unsigned long long)sweep->same[kind],
			(unsigned long long)sweep->other_picture[kind],
			(unsigned long long)sweep->resource[kind],
			(unsigned long long)sweep->input[kind],
			(unsigned long long)sweep->wrong[kind]);
	fflush(stdout);
}

static int unnamed_file(void)
{
	int fd = memfd_create("sweep", 0);
	if (fd < 0)
		die("memfd_create");
	return fd;
}

static void read_options(struct sweep *sweep, int count, char **arguments)
{
	int option;
	while ((option = getopt(count, arguments, "+f:e:c:o:")) != -1)
		switch (option) {
		case 'f':
			sweep->first = strtoull(optarg, NULL, 10);
			break;
		case 'e':
			sweep->every = strtoull(optarg, NULL, 10);
			break;
		case 'c':
			sweep->child_every = strtoull(optarg, NULL, 10);
			break;
		case 'o':
			sweep->file = optarg;
			break;
		default:
			exit(2);
		}
	sweep->every = sweep->every ? sweep->every : 1;
	sweep->child_every = sweep->child_every ? sweep->child_every : sweep->every;
	if (optind + 2 > count) {
		fputs("usage: sweep [-f FIRST] [-e EVERY] [-c EVERY] [-o FILE] SHIM COMMAND...\n",
			stderr);
		exit(2);
	}
	sweep->shim = arguments[optind];
	sweep->command = arguments + optind + 1;
}

int main(int count, char **arguments)
{
	/* The first ones open files and take what the rest then has. */
	struct sweep sweep = {.first = 6};
	uint64_t counts[KINDS];
	read_options(&sweep, count, arguments);
	sweep.out = unnamed_file();
	sweep.err = unnamed_file();
	sweep.count_file = unnamed_file();
	run(&sweep, NULL, &sweep.wanted);
	if (!WIFEXITED(sweep.wanted.status) || WEXITSTATUS(sweep.wanted.status) != 0 ||
		pread(sweep.count_file, counts, sizeof(counts), 0) != sizeof(counts)) {
		printf("  undisturbed, it ends with %d: %s\n", WEXITSTATUS(sweep.wanted.status),
			sweep.wanted.err.data);
		return 2;
	}
	uint64_t wrong = 0;
	for (unsigned kind = 0; kind < KINDS; kind++) {
		try_kind(&sweep, kind, counts[kind]);
		wrong += sweep.wrong[kind];
	}
	return wrong != 0;
}
