/*
 * A thread of our own for tracing: what it traces is let go by the kernel when it ends, and it can
 * be given a priority that the program has not.
 */
#ifndef SNAPSHOT_CAPTURE_TRACER_H
#define SNAPSHOT_CAPTURE_TRACER_H

#include "base/error.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <sys/types.h>

/* Does something in that thread; false when the thread must end then, to let go. */
typedef bool snap_tracer_task(void *data);

struct snap_tracer {
	pthread_t thread;
	sem_t asked, answered;
	snap_tracer_task *task; /* NULL: to end */
	void *data;
	/* By the caller, now and then while it waits for the end of a task, with its data; or NULL.
	 */
	void (*meanwhile)(void *data);
	pid_t id; /* of the thread */
	bool runs;
};

/* With the mask of signals of the caller.  HG_ERROR_LIMIT when there can be no thread. */
enum hg_status snap_tracer_open(struct snap_tracer *tracer, struct hg_error *error);
/* Ends the thread, if it has not ended. */
void snap_tracer_close(struct snap_tracer *tracer);

/* Has the thread do something and waits for it; false when the thread has ended, before or after.
 */
bool snap_tracer_run(struct snap_tracer *tracer, snap_tracer_task *task, void *data);

/*
 * From within a task: before others, as far as the system allows it (the real-time class, else the
 * least nice), or as it was.
 */
void snap_tracer_hurry(void);
void snap_tracer_unhurry(void);

#endif
