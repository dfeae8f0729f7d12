/* Targets: programs that say in a file that is mapped here, too, how they are (watched.h). */
#include "tests/stress/stress.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NAP_US = 1000, MASK_LOOKS = 20 };

static void map_record(struct stress_target *target)
{
	int file = open(target->record_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (file < 0 || ftruncate(file, sizeof(*target->record)) != 0)
		stress_fail(target->record_path, strerror(errno));
	if (target->record)
		munmap(target->record, sizeof(*target->record));
	target->record =
		mmap(NULL, sizeof(*target->record), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (target->record == MAP_FAILED)
		stress_fail(target->record_path, strerror(errno));
	close(file);
}

static _Noreturn void run_command(struct stress_target *target)
{
	int said = open(target->said_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	int nothing = open("/dev/null", O_RDONLY);
	if (said < 0 || nothing < 0 || dup2(nothing, 0) < 0 || dup2(said, 1) < 0 ||
		dup2(said, 2) < 0)
		_exit(126);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	char megabytes[16];
	snprintf(megabytes, sizeof(megabytes), "%u", target->megabytes);
	setenv("WATCHED_MEGABYTES", megabytes, 1);
	if (target->slow_forks)
		setenv("WATCHED_FORKS", "slow", 1);
	execv(target->command[0], target->command);
	_exit(127);
}

static bool all_work(const struct stress_target *target)
{
	for (size_t i = 0; i < target->record->slots; i++)
		if (target->record->rounds[i] == 0)
			return false;
	return target->record->ready != 0;
}

static void add_thread(pid_t id, void *data)
{
	struct stress_target *target = data;
	if (target->thread_count == STRESS_THREADS)
		stress_fail(target->name, "has too many threads");
	target->threads[target->thread_count++] =
		(struct stress_thread){.id = id, .blocked = UINT64_MAX};
}

/* The C library blocks these two itself while a thread is made, and programs cannot. */
static bool is_being_made(pid_t process, pid_t thread)
{
	return (stress_read_status(process, thread).blocked & UINT64_C(3) << 31) != 0;
}

/* What is blocked now and then only, as by a handler that runs, does not count. */
static void note_threads(struct stress_target *target)
{
	target->thread_count = 0;
	stress_each_thread(target->process, add_thread, target);
	for (size_t i = 0; i < target->thread_count; i++)
		while (is_being_made(target->process, target->threads[i].id))
			stress_nap(NAP_US);
	for (int look = 0; look < MASK_LOOKS; look++) {
		for (size_t i = 0; i < target->thread_count; i++) {
			struct stress_thread *thread = &target->threads[i];
			thread->blocked &= stress_read_status(target->process, thread->id).blocked;
		}
		stress_nap(NAP_US);
	}
}

static void take_fork_events(struct stress_target *target)
{
	int process = (int)syscall(SYS_pidfd_open, target->process, 0);
	target->fork_events =
		(int)syscall(SYS_pidfd_getfd, process, (int)target->record->fork_events - 1, 0);
	if (process < 0 || target->fork_events < 0)
		stress_fail("pidfd_getfd", strerror(errno));
	close(process);
}

void stress_start(struct stress_target *target)
{
	map_record(target);
	target->zombies = 0;
	target->fork_events = -1;
	target->process = fork();
	if (target->process < 0)
		stress_fail("fork", strerror(errno));
	if (target->process == 0)
		run_command(target);
	uint64_t until = stress_microseconds() + UINT64_C(1000) * stress_setting.patience_ms;
	while (!all_work(target)) {
		if (stress_microseconds() > until || stress_has_ended(target))
			stress_fail(target->name, "does not get ready");
		stress_nap(NAP_US);
	}
	note_threads(target);
	if (target->slow_forks)
		take_fork_events(target);
}

bool stress_is_traced(const struct stress_target *target)
{
	return stress_read_status(target->process, target->process).tracer > 0;
}

bool stress_has_ended(struct stress_target *target)
{
	if (target->process == 0)
		return true;
	if (waitpid(target->process, &target->exit_status, WNOHANG) != target->process)
		return false;
	target->process = 0;
	return true;
}

void stress_release_forks(struct stress_target *target)
{
	struct uffd_msg event;
	struct pollfd pending = {.fd = target->fork_events, .events = POLLIN};
	if (target->fork_events < 0)
		return;
	while (poll(&pending, 1, 0) == 1 &&
		read(target->fork_events, &event, sizeof(event)) == sizeof(event))
		if (event.event == UFFD_EVENT_FORK)
			close((int)event.arg.fork.ufd);
}

void stress_kill(struct stress_target *target)
{
	pid_t process = target->process;
	if (process != 0) {
		stress_find_copies(process, true);
		kill(process, SIGKILL);
		while (!stress_has_ended(target)) {
			stress_release_forks(target);
			stress_nap(NAP_US);
		}
		stress_find_copies(process, true);
	}
	if (target->fork_events >= 0)
		close(target->fork_events);
	target->fork_events = -1;
	stress_reap_strangers(0, 0);
}

static bool says_right(const struct stress_target *target)
{
	char text[256];
	FILE *file = fopen(target->said_path, "re");
	size_t length = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	text[length] = '\0';
	if (file)
		fclose(file);
	return strcmp(text, "RESULT right\n") == 0;
}

bool stress_finish(struct stress_target *target)
{
	uint64_t until = stress_microseconds() + UINT64_C(1000) * stress_setting.patience_ms;
	target->record->ending = 1;
	while (!stress_has_ended(target)) {
		if (stress_microseconds() > until) {
			stress_kill(target);
			return false;
		}
		stress_release_forks(target);
		stress_nap(NAP_US);
	}
	stress_kill(target);
	return WIFEXITED(target->exit_status) && WEXITSTATUS(target->exit_status) == 0 &&
	       says_right(target);
}
