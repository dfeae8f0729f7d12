/*
 * A dump of the running process: a forked child writes the core file and ends; the process itself
 * stands still for the fork only.  Knows nothing of OCaml; heapgraph_stubs.c does.
 *
 * The order of calls:
 *
 *     dump_prepare() -> dump_fork() -> dump_wait() -> dump_release()
 *
 * A function that fails leaves a message, and only dump_release() is left to call.
 *
 * The child has no exit signal and is waited for by its number, so that neither SIGCHLD nor the
 * program's own wait(-1) ever see it.
 */
#ifndef HEAPGRAPH_DUMP_H
#define HEAPGRAPH_DUMP_H

#include "snapshot/capture/core_writer.h"

#include <ucontext.h>

/* What the child says, in memory shared with it. */
struct dump_report {
	int error; /* errno; 0: the file is complete; -1: the child has not come to an end */
	char failed[96];
	uint64_t bytes;
};

struct dump {
	char path[PATH_MAX];
	char trigger[80];
	char ocaml_version[32];
	uint64_t index;    /* number of the dump */
	unsigned domains;  /* that stood still, the calling one among them */
	uint64_t time;     /* of the fork, ns since 1970 */
	uint64_t stop_ns;  /* until the other domains stood still */
	uint64_t fork_ns;  /* for which nothing of the program ran */
	uint64_t forked;   /* when, as dump_nanoseconds() */
	uint64_t write_ns; /* from the fork to the end of the child */
	uint64_t bytes;    /* written to the file, without holes */
	pid_t child;
	struct snap_core_memory memory;   /* what the kernel counted just before the fork */
	struct snap_core_thread *threads; /* the calling one first; the others without registers */
	size_t thread_count;
	struct dump_report *report;
	bool of_system; /* the message is one of the system: a folder, the disk, memory */
	char message[PATH_MAX + 256];
};

/* Chooses number and name of the file and lists the threads. */
bool dump_prepare(struct dump *dump, const char *folder, const char *trigger);

/* Where the calling thread is, by getcontext() in a function that lives on until after the fork. */
void dump_set_registers(struct dump *dump, const ucontext_t *context);

/* Forks; dump_wait() tells whether it could. */
void dump_fork(struct dump *dump);

/* Waits until the file is complete. */
bool dump_wait(struct dump *dump);

void dump_release(struct dump *dump);

/* After a fork of the program: the child counts its dumps anew. */
void dump_restart_numbers(void);

uint64_t dump_nanoseconds(void); /* monotonic */

#endif
