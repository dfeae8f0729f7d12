/*
 * A watched target's side of watched.h.  A thread calls watched_thread() once and watched_round()
 * again and again; the main thread calls watched_open() before, and watched_result() in the end.
 */
#ifndef TESTS_TARGETS_WATCHED_SELF_H
#define TESTS_TARGETS_WATCHED_SELF_H

#include "tests/targets/watched.h"

#include <stdbool.h>

extern struct watched *watched;

/*
 * Maps the file, and blocks a signal for this thread and those that it makes.  With
 * WATCHED_MEGABYTES=N in the environment, forks have that much more memory to copy; with
 * WATCHED_FORKS=slow they last until their event is read from the userfaultfd in the record.  Ends
 * the process if it cannot.
 */
void watched_open(const char *path);

/* What must stay as it is now: signal mask and alternate stack of the calling thread. */
void watched_thread(void);

/* A round of the work of a slot is done; compares with what watched_thread() saw. */
void watched_round(unsigned slot);

bool watched_ending(void);

/* Prints the line that the watcher expects. */
void watched_result(void);

#endif
