/*
 * The passes over the heap run in slices, one thread each.
 */
#ifndef BASE_THREADS_H
#define BASE_THREADS_H

enum { BASE_MOST_SLICES = 64 };

typedef void base_slice_fn(void *context, unsigned slice, unsigned slices);

/*
 * Calls run(context, i, slices) for every slice, at the same time when the system gives the
 * threads, and returns when all are done.  The first slice runs in the calling thread.
 */
void base_run_slices(unsigned slices, base_slice_fn *run, void *context);

#endif
