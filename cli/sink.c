/* Where a report goes, and what a signal removes of it. */
#include "cli/sink.h"

#include "base/file.h"
#include "cli/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a signal handler has to remove; copies, as the originals are freed under way. */
enum { MOST_UNFINISHED = 2 };
static char unfinished[MOST_UNFINISHED][PATH_MAX];
static volatile sig_atomic_t has_unfinished[MOST_UNFINISHED];
static volatile sig_atomic_t reader_gone;

void cli_sink_remove_now(void)
{
	for (int i = 0; i < MOST_UNFINISHED; i++)
		if (has_unfinished[i])
			unlink(unfinished[i]);
}

void cli_standard_files_init(void)
{
	int fd;
	/* A place that is neither read nor written to, not even when it is opened by /dev/stdout.
	 */
	do {
		fd = open("/", O_PATH | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

static void on_end(int number)
{
	cli_sink_remove_now();
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
static enum hg_status open_sink_device(
	struct cli_sink *sink, const char *path, struct hg_error *error)
{
	sink->stream = fopen(path, "w");
	if (!sink->stream)
		return output_error(error, path, "cannot be written", errno);
	sink->kind = CLI_SINK_DEVICE;
	return HG_OK;
}

/* Below /dev and /proc are names of what is open already. */
static bool is_open_already(const char *path)
{
	return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
}

/* The path that a link leads to, in its place; false at the end of the links. */
static bool follow_link(char *path)
{
	char target[PATH_MAX], folder[PATH_MAX], next[PATH_MAX];
	ssize_t length = readlink(path, target, sizeof(target) - 1);
	if (length < 0)
		return false;
	target[length] = '\0';
	base_file_folder(path, folder, sizeof(folder));
	int size = target[0] == '/' || !strchr(path, '/')
			   ? snprintf(next, sizeof(next), "%s", target)
			   : snprintf(next, sizeof(next), "%s/%s", folder, target);
	if (size < 0 || (size_t)size >= sizeof(next))
		return false;
	memcpy(path, next, (size_t)size + 1);
	return true;
}

/*
 * A file behind a link is replaced or made where it is, and the link stays.  'real' has room for
 * PATH_MAX bytes; *is_open says that it is what the shell opened, under the name of a device.
 */
static enum hg_status follow_sink_links(
	const char *path, char *real, bool *is_open, struct hg_error *error)
{
	enum { MOST_LINKS = 40 };
	size_t length = strlen(path);
	if (length >= PATH_MAX)
		return output_error(error, path, "cannot be written", ENAMETOOLONG);
	memcpy(real, path, length + 1);
	for (int i = 0; i < MOST_LINKS; i++) {
		struct stat about;
		bool is_link = lstat(real, &about) == 0 && S_ISLNK(about.st_mode);
		*is_open = is_link && is_open_already(real);
		if (*is_open || !is_link || !follow_link(real))
			return HG_OK;
	}
	return output_error(error, path, "cannot be written", ELOOP);
}

/* To be called while signals are blocked. */
static void remember_unfinished(const char *path)
{
	size_t length = strlen(path);
	for (int i = 0; i < MOST_UNFINISHED && length && length < PATH_MAX; i++) {
		if (has_unfinished[i])
			continue;
		memcpy(unfinished[i], path, length + 1);
		has_unfinished[i] = 1;
		return;
	}
}

static void forget_unfinished(const char *path)
{
	for (int i = 0; i < MOST_UNFINISHED && path; i++)
		if (has_unfinished[i] && strcmp(unfinished[i], path) == 0)
			has_unfinished[i] = 0;
}

static enum hg_status open_sink_file(
	struct cli_sink *sink, const char *path, struct hg_error *error)
{
	sigset_t before;
	block_signals(&before);
	enum hg_status status = base_output_open(&sink->file, path, error);
	if (status == HG_OK) {
		sink->kind = CLI_SINK_FILE;
		sink->stream = sink->file.stream;
		remember_unfinished(sink->file.temporary);
	}
	unblock_signals(&before);
	return status;
}

enum hg_status cli_sink_open(struct cli_sink *sink, const char *path, struct hg_error *error)
{
	static char buffer[1 << 16];
	struct stat about;
	*sink = (struct cli_sink){.stream = stdout, .name = "standard output"};
	if (!path || strcmp(path, "-") == 0) {
		/* Folded stacks may be some hundred megabytes. */
		if (!isatty(STDOUT_FILENO))
			setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
		return HG_OK;
	}
	sink->stream = NULL;
	sink->name = path;
	if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
		return output_error(error, path, "cannot be written: is a directory", 0);
	if (stat(path, &about) == 0 && !S_ISREG(about.st_mode))
		return open_sink_device(sink, path, error);
	char real[PATH_MAX];
	bool is_open = false;
	BASE_TRY(follow_sink_links(path, real, &is_open, error));
	return is_open ? open_sink_device(sink, path, error) : open_sink_file(sink, real, error);
}

/* Where a file is, or would be made; false if there is no such folder. */
static bool find_place(const char *path, char place[PATH_MAX])
{
	char folder[PATH_MAX], real[PATH_MAX];
	base_file_folder(path, folder, sizeof(folder));
	if (!realpath(folder, real))
		return false;
	int length = snprintf(place, PATH_MAX, "%s/%s", real, base_file_name(path));
	return length > 0 && length < PATH_MAX;
}

bool cli_same_file(const char *one, const char *other)
{
	char place[PATH_MAX], second[PATH_MAX];
	struct stat a, b;
	bool is_there = stat(one, &a) == 0;
	if (is_there != (stat(other, &b) == 0))
		return false;
	if (is_there)
		return S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
	return find_place(one, place) && find_place(other, second) && strcmp(place, second) == 0;
}

static enum hg_status commit_stream(struct cli_sink *sink, struct hg_error *error)
{
	errno = 0;
	bool written = fflush(sink->stream) == 0 && !ferror(sink->stream);
	int number = errno;
	if (sink->kind == CLI_SINK_DEVICE && fclose(sink->stream) && written) {
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
	if (sink->kind != CLI_SINK_FILE)
		return commit_stream(sink, error);
	sigset_t before;
	block_signals(&before);
	char *temporary = sink->file.temporary ? strdup(sink->file.temporary) : NULL;
	enum hg_status status = base_output_commit(&sink->file, error);
	forget_unfinished(temporary);
	free(temporary);
	unblock_signals(&before);
	*sink = (struct cli_sink){.name = sink->name};
	return status;
}

void cli_sink_abandon(struct cli_sink *sink)
{
	sigset_t before;
	block_signals(&before);
	forget_unfinished(sink->file.temporary);
	if (sink->kind == CLI_SINK_FILE)
		base_output_abandon(&sink->file);
	else if (sink->kind == CLI_SINK_DEVICE)
		fclose(sink->stream);
	unblock_signals(&before);
	*sink = (struct cli_sink){0};
}
