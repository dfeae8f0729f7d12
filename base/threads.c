/* Slices of a pass over the heap, one thread each; a thread that there is not is done without. */
#include "base/threads.h"

#include "base/assert.h"

#include <pthread.h>
#include <stdbool.h>

struct slice {
	base_slice_fn *run;
	void *context;
	unsigned number, slices;
	pthread_t thread;
	bool started;
};

static void *run_slice(void *argument)
{
	struct slice *slice = argument;
	slice->run(slice->context, slice->number, slice->slices);
	return NULL;
}

void base_run_slices(unsigned slices, base_slice_fn *run, void *context)
{
	struct slice all[BASE_MOST_SLICES];
	base_assert(slices <= BASE_MOST_SLICES);
	for (unsigned i = 0; i < slices; i++)
		all[i] = (struct slice){run, context, i, slices, 0, false};
	for (unsigned i = 1; i < slices; i++)
		all[i].started = pthread_create(&all[i].thread, NULL, run_slice, &all[i]) == 0;
	for (unsigned i = 0; i < slices; i++)
		if (!all[i].started)
			run_slice(&all[i]);
	for (unsigned i = 1; i < slices; i++)
		if (all[i].started)
			pthread_join(all[i].thread, NULL);
}
