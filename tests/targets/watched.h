/*
 * What a target of the stress tests says of itself while it runs, in a file that it and whoever
 * watches it have mapped.  The target includes watched_self.h as well.
 */
#ifndef TESTS_TARGETS_WATCHED_H
#define TESTS_TARGETS_WATCHED_H

#include <stdatomic.h>
#include <stdint.h>

enum { WATCHED_SLOTS = 16 };

/* All zero in the beginning. */
struct watched {
	atomic_ulong ending; /* set by the watcher: end, and say what there is to say */
	atomic_ulong ready;  /* set by the target when all of its threads work */
	atomic_ulong slots;  /* that are in use */
	atomic_ulong
		rounds[WATCHED_SLOTS]; /* of work, in each thread or handler: they must go on */
	atomic_ulong torn;          /* registers, flags, red zone or sums not as they should be */
	atomic_ulong interrupted;   /* system calls that failed, or came back early */
	atomic_ulong mask_changed;  /* signal masks, as each thread sees its own */
	atomic_ulong stack_changed; /* alternate signal stacks, likewise */
	atomic_ulong fork_events;   /* the descriptor of its userfaultfd, and 1; 0: none */
	atomic_ulong planted;       /* enum watched_fault: what the target is to do to itself */
};

/* Faults that a target plants in itself, so that it can be seen that they are noticed. */
enum watched_fault {
	WATCHED_FAULT_NONE,
	WATCHED_FAULT_COPY,
	WATCHED_FAULT_ZOMBIE,
	WATCHED_FAULT_STACK,
	WATCHED_FAULT_STUCK,
	WATCHED_FAULT_SUM
};

#endif
