/*
 * Preloaded into heapgraph by tests: what happens to its calls, by environment variables.
 *
 *     CALLS_LOG=FILE        fsync, linkat and rename add their names to FILE; open, what it opens
 *     CALLS_NO_TMPFILE=1    no file system has files without a name
 *     CALLS_KILL=NAME       the process is killed in its first call of NAME
 *     CALLS_CUT=FILE        FILE is cut to CALLS_SIZE bytes as soon as it is mapped, or, with
 *     CALLS_CUT_AT=thread   when the first thread is started
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void note(const char *name, const char *what)
{
	const char *log = getenv("CALLS_LOG"), *kill = getenv("CALLS_KILL");
	int (*real)(const char *, int, ...) =
		(int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
	if (log) {
		int fd = real(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
		dprintf(fd, "%s %s\n", name, what);
		close(fd);
	}
	if (kill && strcmp(kill, name) == 0)
		raise(SIGKILL);
}

static void cut(const char *path)
{
	const char *size = getenv("CALLS_SIZE");
	if (truncate(path, size ? atol(size) : 0) != 0)
		perror(path);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	void *(*real)(void *, size_t, int, int, int, off_t) =
		(void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
	const char *wanted = getenv("CALLS_CUT");
	void *memory = real(address, size, protection, flags, fd, offset);
	char own[64], path[4096];
	if (fd < 0 || !wanted || getenv("CALLS_CUT_AT"))
		return memory;
	snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
	ssize_t length = readlink(own, path, sizeof(path) - 1);
	if (length > 0 && strlen(wanted) == (size_t)length &&
		memcmp(path, wanted, (size_t)length) == 0)
		cut(wanted);
	return memory;
}

int pthread_create(
	pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
		(int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(
			RTLD_NEXT, "pthread_create");
	if (getenv("CALLS_CUT") && getenv("CALLS_CUT_AT"))
		cut(getenv("CALLS_CUT"));
	return real(thread, attributes, run, argument);
}

int open(const char *path, int flags, ...)
{
	int (*real)(const char *, int, ...) =
		(int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
	int mode = 0;
	if (flags & (O_CREAT | O_TMPFILE)) {
		va_list arguments;
		va_start(arguments, flags);
		mode = va_arg(arguments, int);
		va_end(arguments);
	}
	if ((flags & O_TMPFILE) == O_TMPFILE && getenv("CALLS_NO_TMPFILE")) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (!(flags & O_PATH))
		note("open", path);
	return real(path, flags, mode);
}

int fsync(int fd)
{
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
	note("fsync", "");
	return real(fd);
}

int linkat(int from, const char *old, int to, const char *new, int flags)
{
	int (*real)(int, const char *, int, const char *, int) =
		(int (*)(int, const char *, int, const char *, int))dlsym(RTLD_NEXT, "linkat");
	note("linkat", new);
	return real(from, old, to, new, flags);
}

int rename(const char *old, const char *new)
{
	int (*real)(const char *, const char *) =
		(int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
	note("rename", new);
	return real(old, new);
}
