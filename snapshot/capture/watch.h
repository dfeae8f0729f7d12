/*
 * A process that sees to it that no program stands still because we were stopped (SIGSTOP) while we
 * had it stopped: then we are continued until the program has been let go, and stopped again.  It
 * ends when we do.
 */
#ifndef SNAPSHOT_CAPTURE_WATCH_H
#define SNAPSHOT_CAPTURE_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

struct snap_watch {
	pid_t process; /* 0: there is none */
	int pipe;
	struct snap_watch_shared *shared; /* with it; NULL */
};

/* Goes without when the system gives no process. */
void snap_watch_open(struct snap_watch *watch);
void snap_watch_close(struct snap_watch *watch);

/* Whether there is a program that stands still. */
void snap_watch_stands(struct snap_watch *watch, bool stands);

/*
 * To be called now and then while one does, by a thread that blocks all signals: somebody who
 * continues us (SIGCONT) takes his stop back.
 */
void snap_watch_heed(struct snap_watch *watch);

#endif
