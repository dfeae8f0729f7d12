/*
 * A process that sees to it that no program stands still because we were stopped (SIGSTOP) while we
 * had it stopped: then we are continued until the program has been let go, and stopped again.  It
 * ends when we do.
 */
#ifndef SNAPSHOT_LIVE_WATCH_H
#define SNAPSHOT_LIVE_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

struct snap_watch {
	pid_t process; /* 0: there is none */
	int pipe;
	atomic_bool *stands; /* shared with it; NULL */
};

/* Goes without when the system gives no process. */
void snap_watch_open(struct snap_watch *watch);
void snap_watch_close(struct snap_watch *watch);

/* Whether there is a program that stands still. */
void snap_watch_stands(struct snap_watch *watch, bool stands);

#endif
