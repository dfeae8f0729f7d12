/*
 * The calls that can be made to fail, for the preloaded library and for what runs programs with it.
 */
#ifndef TESTS_FAULTS_CALLS_H
#define TESTS_FAULTS_CALLS_H

enum fault_call {
	FAULT_MALLOC, /* also aligned */
	FAULT_CALLOC,
	FAULT_REALLOC,
	FAULT_ARENA, /* mallocx() of jemalloc */
	FAULT_MMAP,
	FAULT_OPEN,
	FAULT_READ,
	FAULT_READDIR,
	FAULT_STAT,
	FAULT_WRITE,
	FAULT_FSYNC,
	FAULT_TRUNCATE,
	FAULT_RENAME, /* also link */
	FAULT_THREAD,
	FAULT_FORK,
	FAULT_CALLS
};

#define FAULT_CALL_NAMES                                                                           \
	"malloc", "calloc", "realloc", "arena", "mmap", "open", "read", "readdir", "stat",         \
		"write", "fsync", "truncate", "rename", "thread", "fork"

/* What the system says when each of them fails for a reason that is nobody's mistake. */
#define FAULT_CALL_ERRORS                                                                          \
	ENOMEM, ENOMEM, ENOMEM, ENOMEM, ENOMEM, EMFILE, EIO, EIO, ENOMEM, ENOSPC, EIO, ENOSPC,     \
		EIO, EAGAIN, EAGAIN

/* Exit status when the kernel gives no filter. */
enum { FAULT_UNWATCHED = 99 };

#endif
