/* The process that watches over us. */
#include "snapshot/capture/watch.h"

#include "base/proc.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 50, FIRST_FILE = 3 };

struct snap_watch_shared {
	atomic_bool stands;
	atomic_bool owes_stop; /* that we were continued from */
};

/* 'T' for a process that was stopped; system calls only, for it runs in a copy of any program. */
static char state_of(int stat)
{
	char line[512];
	ssize_t got = pread(stat, line, sizeof(line), 0);
	for (ssize_t i = got - 3; i > 0; i--)
		if (line[i] == ')')
			return line[i + 2];
	return 0;
}

/* Until the other end of the pipe is closed. */
static void watch_over(pid_t watched, int stat, int pipe, struct snap_watch_shared *shared)
{
	struct pollfd end = {.fd = pipe};
	while (poll(&end, 1, LOOK_MS) == 0) {
		if (!atomic_load(&shared->stands)) {
			if (atomic_exchange(&shared->owes_stop, false))
				kill(watched, SIGSTOP);
		} else if (state_of(stat) == 'T') {
			atomic_store(&shared->owes_stop, true);
			kill(watched, SIGCONT);
		}
	}
}

/* In a session of its own: keys of a terminal stop groups of processes. */
static void be_watch(pid_t watched, const char *path, int pipe, struct snap_watch_shared *shared)
{
	dup2(pipe, FIRST_FILE);
	close_range(FIRST_FILE + 1, ~0U, 0);
	setsid();
	int stat = open(path, O_RDONLY | O_CLOEXEC);
	watch_over(watched, stat, FIRST_FILE, shared);
	_exit(0);
}

/* Without a signal to us when it ends: whoever uses the library may wait for processes of his. */
void snap_watch_open(struct snap_watch *watch)
{
	int ends[2];
	pid_t self = getpid();
	char path[BASE_PROC_PATH];
	base_proc_path(path, self, 0, "stat");
	*watch = (struct snap_watch){.pipe = -1};
	void *page = mmap(NULL, sizeof(*watch->shared), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return;
	watch->shared = page; /* all of it 0 */
	if (pipe2(ends, O_CLOEXEC) != 0)
		return;
	watch->process = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, 0);
	if (watch->process == 0) {
		close(ends[1]);
		be_watch(self, path, ends[0], watch->shared);
	}
	close(ends[0]);
	watch->pipe = ends[1];
}

void snap_watch_stands(struct snap_watch *watch, bool stands)
{
	if (watch->shared)
		atomic_store(&watch->shared->stands, stands);
}

/* That of the watching process itself waits for us, too: of two that wait only the first is kept.
 */
void snap_watch_heed(struct snap_watch *watch)
{
	siginfo_t about;
	sigset_t only;
	sigemptyset(&only);
	sigaddset(&only, SIGCONT);
	while (watch->shared && atomic_load(&watch->shared->owes_stop) &&
		sigtimedwait(&only, &about, &(struct timespec){0}) == SIGCONT)
		if (about.si_pid != watch->process)
			atomic_store(&watch->shared->owes_stop, false);
}

void snap_watch_close(struct snap_watch *watch)
{
	if (watch->pipe >= 0)
		close(watch->pipe);
	if (watch->process > 0)
		waitpid(watch->process, NULL, __WALL);
	if (watch->shared)
		munmap(watch->shared, sizeof(*watch->shared));
	*watch = (struct snap_watch){.pipe = -1};
}
