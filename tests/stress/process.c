/* Processes, as /proc shows them. */
#include "tests/stress/stress.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

_Noreturn void stress_fail(const char *what, const char *why)
{
	fprintf(stderr, "kill_captures: %s: %s\n", what, why);
	exit(2);
}

uint64_t stress_microseconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

void stress_nap(unsigned microseconds)
{
	struct timespec time = {microseconds / 1000000, (long)(microseconds % 1000000) * 1000};
	nanosleep(&time, NULL);
}

struct stress_status stress_read_status(pid_t process, pid_t thread)
{
	struct stress_status status = {0};
	char path[96], line[256];
	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)process, (int)thread);
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		const char *value = strchr(line, ':');
		if (!value)
			continue;
		value += 1 + strspn(value + 1, " \t");
		if (strncmp(line, "State:", 6) == 0)
			status.state = *value;
		else if (strncmp(line, "PPid:", 5) == 0)
			status.parent = (pid_t)strtol(value, NULL, 10);
		else if (strncmp(line, "TracerPid:", 10) == 0)
			status.tracer = (pid_t)strtol(value, NULL, 10);
		else if (strncmp(line, "SigBlk:", 7) == 0)
			status.blocked = strtoull(value, NULL, 16);
	}
	if (file)
		fclose(file);
	return status;
}

/* Calls back for the numbers among the names in a folder. */
static void each_number(const char *path, void (*each)(pid_t id, void *data), void *data)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	while (folder && (entry = readdir(folder)))
		if (isdigit((unsigned char)*entry->d_name))
			each((pid_t)strtol(entry->d_name, NULL, 10), data);
	if (folder)
		closedir(folder);
}

void stress_each_thread(pid_t process, void (*each)(pid_t thread, void *data), void *data)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/task", (int)process);
	each_number(path, each, data);
}

struct search {
	pid_t target;
	bool end_them;
	struct stress_copies found;
};

/* The capturer, and what it leaves behind, run another program. */
static bool runs_capturer(pid_t process)
{
	char path[64];
	struct stat its, capturer;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)process);
	return stat(path, &its) == 0 && stat(stress_setting.capturer, &capturer) == 0 &&
	       its.st_dev == capturer.st_dev && its.st_ino == capturer.st_ino;
}

static void look_at(pid_t process, void *data)
{
	struct search *search = data;
	if (process == search->target)
		return;
	struct stress_status status = stress_read_status(process, process);
	bool is_zombie = status.state == 'Z' || status.state == 'X';
	bool is_child = status.parent == search->target;
	bool is_ours = status.parent == getpid() && !is_zombie && runs_capturer(process);
	search->found.capturers += is_ours;
	bool is_orphan = !is_ours && status.parent == getpid() && !is_zombie;
	if (status.state == 0 || (!is_child && !is_orphan))
		return;
	if (is_zombie) {
		search->found.zombies++;
	} else {
		search->found.live++;
		if (search->end_them)
			kill(process, SIGKILL);
	}
}

struct stress_copies stress_find_copies(pid_t target, bool end_them)
{
	struct search search = {.target = target, .end_them = end_them};
	each_number("/proc", look_at, &search);
	return search.found;
}

void stress_reap_strangers(pid_t target, pid_t capturer)
{
	for (;;) {
		siginfo_t about = {0};
		if (waitid(P_ALL, 0, &about, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0 ||
			about.si_pid == 0 || about.si_pid == target || about.si_pid == capturer)
			return;
		waitpid(about.si_pid, NULL, __WALL);
	}
}
