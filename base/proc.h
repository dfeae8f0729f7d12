/*
 * Other processes: files of /proc about them and their threads (proc(5)), and their memory; the one
 * reader of both.  The writer of cores (snapshot/capture/core_writer_maps.c, core_file.c) has its
 * own, because it has to do without the rest.
 */
#ifndef BASE_PROC_H
#define BASE_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define BASE_PROC_UNKNOWN UINT64_MAX

enum { BASE_PROC_PATH = 96 };

/*
 * /proc/PROCESS/NAME; /proc/PROCESS/task/THREAD/NAME if 'thread' is not 0; /proc/NAME if 'process'
 * is 0.
 */
void base_proc_path(char path[BASE_PROC_PATH], pid_t process, pid_t thread, const char *name);

/* Opens the file of that path.  NULL with errno; the caller closes it. */
FILE *base_proc_open(pid_t process, pid_t thread, const char *name);

/* The decimal number in the line "KEY: NUMBER ..." of such a file; or BASE_PROC_UNKNOWN. */
uint64_t base_proc_number(pid_t process, pid_t thread, const char *name, const char *key);

/* Copies memory of a process (process_vm_readv(2)), up to what is absent; how many bytes. */
size_t base_proc_read_memory(pid_t process, uint64_t address, void *buffer, size_t size);

/* Fields of stat, in its order. */
struct base_proc_stat {
	char state; /* 'R', 'S', 'T', 'Z', ... */
	pid_t parent;
	uint64_t threads;     /* of the process; more than 1 for a zombie whose others go on */
	uint64_t start_time;  /* ticks since the machine began */
	uint64_t start_stack; /* address in the first thread's stack; 0 if that is not for us */
	uint64_t exit_signal; /* that its parent gets when it ends */
	uint64_t exit_code;   /* of a zombie, as wait() tells it; 0 if that is not for us */
};

/* False, with errno, when there is no such process or thread, or it cannot be looked at. */
bool base_proc_read_stat(pid_t process, pid_t thread, struct base_proc_stat *out);

/* A mapping, as a line of maps tells it. */
struct base_proc_map {
	uint64_t start, end;
	char permissions[5]; /* "r-xp" */
	char name[4096];     /* "" none */
};

/* The next line of an open file maps; false at the end. */
bool base_proc_next_map(FILE *maps, struct base_proc_map *out);

/*
 * Whether a process or thread is not there, or only waits for its parent to hear that it ended; not
 * for want of memory or descriptors.
 */
bool base_proc_has_ended(pid_t process, pid_t thread);

#endif
