/* Files of output: written aside, and given their name when they are whole. */
#include "base/output.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum hg_status cannot_write(
	const struct base_output *output, int number, struct hg_error *error)
{
	/* Of an earlier failure of the stream the reason is forgotten. */
	base_fail(error, HG_ERROR_OUTPUT, HG_NO_OFFSET, "cannot be written%s%s", number ? ": " : "",
		number ? strerror(number) : "");
	base_error_file(error, output->path);
	return HG_ERROR_OUTPUT;
}

/* The temporary name, before mkostemp() or its like have filled it in. */
static void name_temporary(struct base_output *output)
{
	size_t length = strlen(output->path);
	memcpy(output->temporary, output->path, length);
	memcpy(output->temporary + length, ".XXXXXX", sizeof(".XXXXXX"));
}

/* A file without a name can be given one only through /proc. */
static int open_unnamed(const char *path)
{
	char folder[PATH_MAX];
	if (access("/proc/self/fd", F_OK) != 0)
		return -1;
	base_file_folder(path, folder, sizeof(folder));
	return open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
}

static int open_named(struct base_output *output)
{
	name_temporary(output);
	int fd = mkostemp(output->temporary, O_CLOEXEC);
	if (fd < 0)
		output->temporary[0] = '\0';
	return fd;
}

enum hg_status base_output_open(
	struct base_output *output, const char *path, struct hg_error *error)
{
	*output = (struct base_output){0};
	size_t size = strlen(path) + sizeof(".XXXXXX");
	output->path = strdup(path);
	output->temporary = calloc(1, size);
	if (!output->path || !output->temporary) {
		base_output_abandon(output);
		return base_no_memory(error, size);
	}
	int fd = open_unnamed(path);
	if (fd < 0)
		fd = open_named(output);
	if (fd < 0) {
		enum hg_status status = cannot_write(output, errno, error);
		base_output_abandon(output);
		return status;
	}
	output->stream = fdopen(fd, "w");
	if (!output->stream) {
		close(fd);
		base_output_abandon(output);
		return base_no_memory(error, BUFSIZ);
	}
	return HG_OK;
}

/* The mode of the file that is replaced; who may read one of somebody else is not for him to say.
 */
static mode_t mode_of(const struct base_output *output, int fd)
{
	struct stat old;
	mode_t mask = umask(0);
	umask(mask);
	if (stat(output->path, &old) != 0 || old.st_uid != geteuid())
		return output->is_private ? 0600 : 0666 & ~mask;
	mode_t mode = old.st_mode & 0777;
	/* What its group may do, another one may not. */
	if (fchown(fd, (uid_t)-1, old.st_gid) != 0)
		mode &= ~(mode_t)070 | (mode & 07) << 3;
	return mode;
}

/* What cannot sync (EINVAL) keeps nothing beyond a crash anyway. */
static bool finish_file(struct base_output *output)
{
	int fd = fileno(output->stream);
	if (fflush(output->stream) != 0 || ferror(output->stream))
		return false;
	return (fsync(fd) == 0 || errno == EINVAL) && fchmod(fd, mode_of(output, fd)) == 0;
}

/* Nothing can be linked over a file that is there: that takes a name in between. */
static bool link_unnamed(struct base_output *output)
{
	enum { MOST_ATTEMPTS = 100 };
	char own[64];
	snprintf(own, sizeof(own), "/proc/self/fd/%d", fileno(output->stream));
	if (linkat(AT_FDCWD, own, AT_FDCWD, output->path, AT_SYMLINK_FOLLOW) == 0)
		return true;
	for (int i = 0; i < MOST_ATTEMPTS && errno == EEXIST; i++) {
		/* A name that is free: the file that proves it is not kept. */
		int fd = open_named(output);
		if (fd < 0)
			return false;
		close(fd);
		unlink(output->temporary);
		if (linkat(AT_FDCWD, own, AT_FDCWD, output->temporary, AT_SYMLINK_FOLLOW) == 0)
			return true;
	}
	output->temporary[0] = '\0';
	return false;
}

enum hg_status base_output_commit(struct base_output *output, struct hg_error *error)
{
	enum hg_status status = HG_OK;
	errno = 0;
	bool written = finish_file(output);
	if (written && !output->temporary[0])
		written = link_unnamed(output);
	if (written && output->temporary[0])
		written = rename(output->temporary, output->path) == 0;
	int number = errno;
	if (written)
		output->temporary[0] = '\0';
	/* Some network file systems tell only now that the disk is full. */
	bool closed = fclose(output->stream) == 0;
	output->stream = NULL;
	if (!written || !closed)
		status = cannot_write(output, written ? errno : number, error);
	base_output_abandon(output);
	return status;
}

void base_output_abandon(struct base_output *output)
{
	if (output->stream)
		fclose(output->stream);
	if (output->temporary && output->temporary[0])
		unlink(output->temporary);
	free(output->temporary);
	free(output->path);
	*output = (struct base_output){0};
}
