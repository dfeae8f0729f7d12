#include "cli/sink.h"

#include "cli/progress.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a signal handler has to remove; a copy, as the original is freed under way. */
static char unfinished[PATH_MAX];
static volatile sig_atomic_t has_unfinished;
static volatile sig_atomic_t reader_gone;

static void on_end(int number)
{
	if (has_unfinished)
		unlink(unfinished);
	cli_progress_erase_now();
	signal(number, SIG_DFL);
	raise(number);
}

/* Writing then fails with EPIPE, which stops the report. */
static void on_broken_pipe(int number)
{
	(void)number;
	reader_gone = 1;
}

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { ENDING_SIGNALS = sizeof(ending_signals) / sizeof(ending_signals[0]) };

void cli_signals_init(void)
{
	struct sigaction action = {.sa_handler = on_end};
	sigemptyset(&action.sa_mask);
	for (int i = 0; i < ENDING_SIGNALS; i++) {
		struct sigaction before;
		/* A background job of a shell without job control ignores SIGINT: leave it so. */
		if (sigaction(ending_signals[i], NULL, &before) == 0 &&
			before.sa_handler != SIG_IGN)
			sigaction(ending_signals[i], &action, NULL);
	}
	action.sa_handler = on_broken_pipe;
	sigaction(SIGPIPE, &action, NULL);
}

bool cli_reader_gone(void)
{
	return reader_gone;
}

static void block_signals(sigset_t *before)
{
	sigset_t blocked;
	sigemptyset(&blocked);
	for (int i = 0; i < ENDING_SIGNALS; i++)
		sigaddset(&blocked, ending_signals[i]);
	pthread_sigmask(SIG_BLOCK, &blocked, before);
}

static void unblock_signals(const sigset_t *before)
{
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

static enum hg_status output_error(
	struct hg_error *error, const char *name, const char *what, int number)
{
	base_fail(error, HG_ERROR_OUTPUT, HG_NO_OFFSET, "%s%s%s", what, number ? ": " : "",
		number ? strerror(number) : "");
	base_error_file(error, name);
	return HG_ERROR_OUTPUT;
}

/* A device or pipe is written to; renaming a new file over it would destroy it. */
static enum hg_status open_device(struct cli_sink *sink, const char *path, struct hg_error *error)
{
	sink->stream = fopen(path, "w");
	if (!sink->stream)
		return output_error(error, path, "cannot be written", errno);
	sink->is_device = true;
	return HG_OK;
}

/*
 * A file behind a link is replaced where it is, and the link stays.  Links below /dev and /proc
 * lead to what is open already.  'real' has room for PATH_MAX bytes.
 */
static bool follow_link(const char *path, char *real, bool *is_open)
{
	struct stat about;
	*is_open = strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
	return lstat(path, &about) == 0 && S_ISLNK(about.st_mode) && realpath(path, real);
}

enum hg_status cli_sink_open(struct cli_sink *sink, const char *path, struct hg_error *error)
{
	struct stat about;
	*sink = (struct cli_sink){.stream = stdout, .name = "standard output"};
	if (!path || strcmp(path, "-") == 0)
		return HG_OK;
	sink->stream = NULL;
	sink->name = path;
	if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
		return output_error(error, path, "cannot be written: is a directory", 0);
	if (stat(path, &about) == 0 && !S_ISREG(about.st_mode))
		return open_device(sink, path, error);
	char real[PATH_MAX];
	bool is_open;
	bool is_link = follow_link(path, real, &is_open);
	if (is_link && is_open)
		return open_device(sink, path, error);
	sigset_t before;
	block_signals(&before);
	enum hg_status status = base_output_open(&sink->file, is_link ? real : path, error);
	if (status == HG_OK) {
		sink->is_file = true;
		sink->stream = sink->file.stream;
		size_t length = strlen(sink->file.temporary);
		if (length < sizeof(unfinished)) {
			memcpy(unfinished, sink->file.temporary, length + 1);
			has_unfinished = 1;
		}
	}
	unblock_signals(&before);
	return status;
}

static enum hg_status commit_stream(struct cli_sink *sink, struct hg_error *error)
{
	errno = 0;
	bool written = fflush(sink->stream) == 0 && !ferror(sink->stream);
	int number = errno;
	if (sink->is_device && fclose(sink->stream) && written) {
		written = false;
		number = errno;
	}
	*sink = (struct cli_sink){.name = sink->name};
	return written ? HG_OK : output_error(error, sink->name, "cannot be written", number);
}

enum hg_status cli_sink_commit(struct cli_sink *sink, struct hg_error *error)
{
	if (!sink->stream)
		return HG_OK;
	if (!sink->is_file)
		return commit_stream(sink, error);
	sigset_t before;
	block_signals(&before);
	enum hg_status status = base_output_commit(&sink->file, error);
	has_unfinished = 0;
	unblock_signals(&before);
	*sink = (struct cli_sink){.name = sink->name};
	return status;
}

void cli_sink_abandon(struct cli_sink *sink)
{
	sigset_t before;
	block_signals(&before);
	if (sink->is_file)
		base_output_abandon(&sink->file);
	else if (sink->is_device)
		fclose(sink->stream);
	has_unfinished = 0;
	unblock_signals(&before);
	*sink = (struct cli_sink){0};
}
