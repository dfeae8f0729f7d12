/* The capturer: a process of its own, which is to be killed. */
#include "tests/stress/stress.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A capture takes as long as its disk, so that one hangs only after many times the patience. */
enum { NAP_US = 500, CAPTURE_PATIENCE = 12 };

pid_t stress_capture_begin(const struct stress_target *target)
{
	char id[16];
	snprintf(id, sizeof(id), "%d", (int)target->process);
	pid_t capturer = fork();
	if (capturer < 0)
		stress_fail("fork", strerror(errno));
	if (capturer > 0)
		return capturer;
	int said = open(stress_setting.said_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (said < 0 || dup2(said, 1) < 0 || dup2(said, 2) < 0)
		_exit(126);
	/* For tests/stress/saboteur.c, which stands in for it. */
	setenv("WATCHED_RECORD", target->record_path, 1);
	execl(stress_setting.capturer, stress_setting.capturer, "capture", "-p", id, "-o",
		stress_setting.core_path, (char *)NULL);
	_exit(127);
}

bool stress_capture_end(struct stress_target *target, pid_t capturer, int *status)
{
	uint64_t until = stress_microseconds() +
			 UINT64_C(1000) * CAPTURE_PATIENCE * stress_setting.patience_ms;
	while (waitpid(capturer, status, WNOHANG) == 0) {
		if (stress_microseconds() > until) {
			kill(capturer, SIGKILL);
			waitpid(capturer, status, 0);
			return false;
		}
		stress_release_forks(target);
		stress_nap(NAP_US);
	}
	return true;
}

bool stress_capture_has_ended(pid_t capturer)
{
	siginfo_t about = {0};
	return waitid(P_PID, (id_t)capturer, &about, WEXITED | WNOHANG | WNOWAIT) != 0 ||
	       about.si_pid == capturer;
}

void stress_say_how_it_ended(const struct stress_target *target, const char *kind, int status)
{
	char text[256] = "";
	FILE *file = fopen(stress_setting.said_path, "re");
	if (file && !fgets(text, sizeof(text), file))
		text[0] = '\0';
	if (file)
		fclose(file);
	text[strcspn(text, "\n")] = '\0';
	fprintf(stderr, "    %s, %s: capturer ended by %s %d: %s\n", target->name, kind,
		WIFSIGNALED(status) ? "signal" : "exit status",
		WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), text);
}

void stress_refuse(
	const struct stress_target *target, const char *kind, int status, struct stress_row *row)
{
	row->refused++;
	stress_say_how_it_ended(target, kind, status);
}

/* What was captured, and what killed captures have left. */
void stress_remove_captures(void)
{
	DIR *folder = opendir(stress_setting.folder);
	struct dirent *entry;
	while (folder && (entry = readdir(folder)))
		if (strncmp(entry->d_name, "core", 4) == 0)
			unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
}
