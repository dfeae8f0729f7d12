/* The thread that traces: asked and answered by semaphores. */
#include "snapshot/capture/tracer.h"

#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static void *serve_tasks(void *data)
{
	struct snap_tracer *tracer = data;
	bool stays = true;
	tracer->id = gettid();
	/* Sleeps of microseconds are to be that short. */
	prctl(PR_SET_TIMERSLACK, 1000UL);
	while (stays) {
		sem_post(&tracer->answered);
		while (sem_wait(&tracer->asked) != 0)
			continue;
		stays = tracer->task && tracer->task(tracer->data);
	}
	tracer->runs = false;
	sem_post(&tracer->answered);
	return NULL;
}

static void wait_for_answer(struct snap_tracer *tracer)
{
	enum { BETWEEN_NS = 20000000, SECOND_NS = 1000000000 };
	for (;;) {
		struct timespec until;
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += BETWEEN_NS;
		until.tv_sec += until.tv_nsec / SECOND_NS;
		until.tv_nsec %= SECOND_NS;
		if (sem_clockwait(&tracer->answered, CLOCK_MONOTONIC, &until) == 0)
			return;
		if (tracer->meanwhile)
			tracer->meanwhile(tracer->data);
	}
}

enum hg_status snap_tracer_open(struct snap_tracer *tracer, struct hg_error *error)
{
	*tracer = (struct snap_tracer){.runs = true};
	sem_init(&tracer->asked, 0, 0);
	sem_init(&tracer->answered, 0, 0);
	int number = pthread_create(&tracer->thread, NULL, serve_tasks, tracer);
	if (number != 0) {
		*tracer = (struct snap_tracer){0};
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET, "cannot begin a thread: %s",
			strerror(number));
	}
	wait_for_answer(tracer);
	return HG_OK;
}

bool snap_tracer_run(struct snap_tracer *tracer, snap_tracer_task *task, void *data)
{
	if (!tracer->runs)
		return false;
	tracer->task = task;
	tracer->data = data;
	sem_post(&tracer->asked);
	wait_for_answer(tracer);
	return tracer->runs;
}

void snap_tracer_close(struct snap_tracer *tracer)
{
	if (!tracer->id)
		return;
	tracer->meanwhile = NULL;
	snap_tracer_run(tracer, NULL, NULL);
	pthread_join(tracer->thread, NULL);
	sem_destroy(&tracer->asked);
	sem_destroy(&tracer->answered);
	*tracer = (struct snap_tracer){0};
}

void snap_tracer_hurry(void)
{
	struct sched_param first = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};
	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first) != 0)
		setpriority(PRIO_PROCESS, (id_t)gettid(), -20);
}

void snap_tracer_unhurry(void)
{
	struct sched_param none = {0};
	sched_setscheduler(0, SCHED_OTHER, &none);
	setpriority(PRIO_PROCESS, (id_t)gettid(), getpriority(PRIO_PROCESS, (id_t)getpid()));
}
