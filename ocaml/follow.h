/*
 * Dumps that nobody waits for, and the clock that asks for them.  At most one is on its way: what
 * is asked for meanwhile is skipped.  A thread without any signal waits for the child, so that no
 * zombie stays, and tells on stderr what went wrong.
 */
#ifndef HEAPGRAPH_FOLLOW_H
#define HEAPGRAPH_FOLLOW_H

#include "ocaml/dump.h"

/* The last dump that became a complete file; its report and threads are released. */
struct follow_latest {
	bool is_there;
	struct dump dump;
};

/* Once, before all others. */
void follow_init(void);

/* Claims the place of the dump that nobody waits for; false if there is one on its way. */
bool follow_claim(void);

/* Waits for this dump in the background, or at once if there is no thread for it, and frees it. */
void follow(struct dump *dump);

/* At the end of the program: waits until none is on its way, and lets none start. */
void follow_close(void);

/* Notes a dump that is complete. */
void follow_note(const struct dump *dump);

struct follow_latest follow_get_latest(void);

/* Calls 'tick' every so often from a thread of its own; an errno. */
int follow_clock(double seconds, void (*tick)(void));

#endif
