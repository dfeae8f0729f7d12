/* Runs a function in a forked process, and copies its result when it ended well. */
#include "report/outputs/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* What parent and child share: unnamed files in memory, for the result and for a failure. */
struct shared {
	int result, failure;
};

static enum hg_status no_process(struct hg_error *error, const char *what)
{
	return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET, "%s gets no process: %s", what,
		strerror(errno));
}

/* Graphviz reads a file that it cannot read again and again; no picture is worth an hour. */
static void limit_time(void)
{
	enum { MOST_SECONDS = 3600 };
	struct rlimit limit;
	if (getrlimit(RLIMIT_CPU, &limit) != 0 || limit.rlim_cur <= MOST_SECONDS)
		return;
	limit.rlim_cur = MOST_SECONDS;
	setrlimit(RLIMIT_CPU, &limit);
}

/* The parent's signal handlers remove its files; its buffers must not be written twice. */
static void leave_parent_alone(FILE *stream, pid_t parent)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGBUS, SIGSEGV};
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (nowhere < 0 || dup2(nowhere, STDIN_FILENO) < 0 || dup2(nowhere, STDOUT_FILENO) < 0 ||
		dup2(nowhere, STDERR_FILENO) < 0 || dup2(nowhere, fileno(stream)) < 0)
		_exit(EXIT_FAILURE);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* An abort() for want of memory is no reason for a core of all that was read. */
	prctl(PR_SET_DUMPABLE, 0);
	limit_time();
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
}

_Noreturn static void be_child(const struct shared *shared, rep_apart_fn *run, void *data)
{
	struct hg_error error;
	base_error_clear(&error);
	FILE *out = fdopen(shared->result, "w");
	enum hg_status status = out ? run(data, out, &error) : base_no_memory(&error, BUFSIZ);
	if (status == HG_OK && (fflush(out) || ferror(out)))
		status = base_fail(&error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"the picture finds no room: %s", strerror(errno));
	if (status == HG_OK)
		_exit(EXIT_SUCCESS);
	error.status = status;
	if (write(shared->failure, &error, sizeof(error)) != sizeof(error))
		_exit(EXIT_FAILURE);
	_exit(EXIT_FAILURE);
}

static enum hg_status copy_result(int result, FILE *stream, struct hg_error *error)
{
	char buffer[16384];
	off_t at = 0;
	for (;;) {
		ssize_t part = pread(result, buffer, sizeof(buffer), at);
		if (part < 0 && errno == EINTR)
			continue;
		if (part < 0)
			return base_fail(error, HG_ERROR_OUTPUT, HG_NO_OFFSET,
				"the picture is lost: %s", strerror(errno));
		if (part == 0)
			return HG_OK;
		/* The one who opened the stream finds its errors. */
		fwrite(buffer, 1, (size_t)part, stream);
		at += part;
	}
}

/* What the child said, or how it ended if it could not say anything. */
static enum hg_status failure(int said, int ended, const char *what, struct hg_error *error)
{
	struct hg_error theirs;
	if (WIFEXITED(ended) && pread(said, &theirs, sizeof(theirs), 0) == sizeof(theirs)) {
		*error = theirs;
		return theirs.status;
	}
	if (WIFSIGNALED(ended))
		return base_fail(error, HG_ERROR_OUTPUT, HG_NO_OFFSET,
			"%s was ended by signal %d (%s); a file of another name gets DOT text",
			what, WTERMSIG(ended), strsignal(WTERMSIG(ended)));
	return base_fail(error, HG_ERROR_OUTPUT, HG_NO_OFFSET, "%s gave up with exit status %d",
		what, WEXITSTATUS(ended));
}

static enum hg_status run_child(const struct shared *shared, rep_apart_fn *run, void *data,
	const char *what, FILE *stream, struct hg_error *error)
{
	sigset_t ending, before;
	int ended;
	pid_t parent = getpid();
	/* A signal must find either the parent's handlers in the parent or none in the child. */
	sigemptyset(&ending);
	sigaddset(&ending, SIGHUP);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &ending, &before);
	pid_t child = fork();
	if (child == 0) {
		leave_parent_alone(stream, parent);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		be_child(shared, run, data);
	}
	int number = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = number;
	if (child < 0)
		return no_process(error, what);
	while (waitpid(child, &ended, 0) < 0)
		if (errno != EINTR)
			return no_process(error, what);
	if (ended != 0)
		return failure(shared->failure, ended, what, error);
	return copy_result(shared->result, stream, error);
}

enum hg_status rep_apart(
	rep_apart_fn *run, void *data, const char *what, FILE *stream, struct hg_error *error)
{
	struct shared shared = {.result = memfd_create("heapgraph-picture", MFD_CLOEXEC),
		.failure = memfd_create("heapgraph-failure", MFD_CLOEXEC)};
	enum hg_status status = shared.result < 0 || shared.failure < 0
					? no_process(error, what)
					: run_child(&shared, run, data, what, stream, error);
	if (shared.result >= 0)
		close(shared.result);
	if (shared.failure >= 0)
		close(shared.failure);
	return status;
}
