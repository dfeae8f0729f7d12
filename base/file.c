#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define ZSTD_MAGIC_BYTES "\x28\xb5\x2f\xfd"

static enum hg_status system_error(
	struct hg_error *error, enum hg_status status, const char *path, const char *what)
{
	base_fail(error, status, HG_NO_OFFSET, "%s: %s", what, strerror(errno));
	base_error_file(error, path);
	return status;
}

static const char *kind_name(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return NULL;
	case S_IFDIR:
		return "a directory";
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	case S_IFCHR:
		return "a character device";
	case S_IFBLK:
		return "a block device";
	default:
		return "a special file";
	}
}

enum hg_status base_file_kind(const char *path, const char **kind, struct hg_error *error)
{
	struct stat about;
	if (stat(path, &about))
		return system_error(error, HG_ERROR_INPUT, path, "cannot be read");
	*kind = kind_name(about.st_mode);
	return HG_OK;
}

static enum hg_status map(
	struct base_file *file, int fd, size_t size, const char *path, struct hg_error *error)
{
	file->size = size;
	if (size == 0) {
		file->bytes = (const uint8_t *)"";
		return HG_OK;
	}
	void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return system_error(error, HG_ERROR_INPUT, path, "cannot be mapped");
	file->bytes = bytes;
	return HG_OK;
}

/* An unlinked file in the folder for temporary files. */
static int temporary_file(void)
{
	const char *folder = getenv("TMPDIR");
	char path[PATH_MAX];
	int length = snprintf(
		path, sizeof(path), "%s/heapgraph.XXXXXX", folder && *folder ? folder : "/tmp");
	if (length < 0 || (size_t)length >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	int fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static bool all_zero(const char *bytes, size_t size)
{
	return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

/* Writes, leaving holes for blocks of zeros, which dumps of sparse images are full of. */
static bool write_sparse(int fd, const char *bytes, size_t size)
{
	enum { HOLE = 4096 };
	while (size) {
		size_t part = size < HOLE ? size : HOLE;
		if (all_zero(bytes, part)) {
			if (lseek(fd, (off_t)part, SEEK_CUR) < 0)
				return false;
		} else {
			ssize_t written = write(fd, bytes, part);
			if (written < 0 && errno == EINTR)
				continue;
			if (written <= 0)
				return false;
			part = (size_t)written;
		}
		bytes += part;
		size -= part;
	}
	return true;
}

struct decompression {
	ZSTD_DStream *stream;
	char *buffer;
	size_t buffer_size;
	uint64_t max_size;
	uint64_t size;
	int fd;
};

static enum hg_status decompress_all(struct decompression *d, const struct base_file *packed,
	const char *path, struct hg_error *error)
{
	ZSTD_inBuffer in = {packed->bytes, packed->size, 0};
	size_t hint = 1;
	while (in.pos < in.size) {
		ZSTD_outBuffer out = {d->buffer, d->buffer_size, 0};
		hint = ZSTD_decompressStream(d->stream, &out, &in);
		if (ZSTD_isError(hint))
			return base_corrupt(error, in.pos, "zstd data does not decompress: %s",
				ZSTD_getErrorName(hint));
		d->size += out.pos;
		if (d->max_size && d->size > d->max_size)
			return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
				"decompresses to more than the %llu bytes that fit the limit",
				(unsigned long long)d->max_size);
		if (!write_sparse(d->fd, d->buffer, out.pos))
			return system_error(
				error, HG_ERROR_LIMIT, path, "cannot be decompressed aside");
	}
	if (hint != 0)
		return base_corrupt(error, packed->size, "zstd data is cut short");
	if (ftruncate(d->fd, (off_t)d->size))
		return system_error(error, HG_ERROR_LIMIT, path, "cannot be decompressed aside");
	return HG_OK;
}

static enum hg_status decompress(
	struct base_file *file, const char *path, uint64_t max_size, struct hg_error *error)
{
	struct base_file packed = *file;
	struct decompression d = {.max_size = max_size, .buffer_size = ZSTD_DStreamOutSize()};
	d.fd = temporary_file();
	if (d.fd < 0)
		return system_error(error, HG_ERROR_LIMIT, path, "no temporary file");
	d.stream = ZSTD_createDStream();
	d.buffer = malloc(d.buffer_size);
	enum hg_status status = d.stream && d.buffer ? decompress_all(&d, &packed, path, error)
						     : base_no_memory(error, d.buffer_size);
	if (status == HG_OK)
		status = map(file, d.fd, (size_t)d.size, path, error);
	if (status == HG_OK) {
		file->compressed = true;
		base_file_close(&packed);
	}
	ZSTD_freeDStream(d.stream);
	free(d.buffer);
	close(d.fd);
	return status;
}

enum hg_status base_file_open(
	struct base_file *file, const char *path, uint64_t max_size, struct hg_error *error)
{
	*file = (struct base_file){0};
	/* Non-blocking, so that a FIFO nobody writes to does not hang us. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return system_error(error, HG_ERROR_INPUT, path, "cannot be opened");
	struct stat about;
	enum hg_status status = HG_OK;
	if (fstat(fd, &about))
		status = system_error(error, HG_ERROR_INPUT, path, "cannot be examined");
	else if (kind_name(about.st_mode))
		status = base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET, "is %s, not a regular file",
			kind_name(about.st_mode));
	else
		status = map(file, fd, (size_t)about.st_size, path, error);
	close(fd);
	if (status == HG_OK && file->size >= 4 && memcmp(file->bytes, ZSTD_MAGIC_BYTES, 4) == 0) {
		status = decompress(file, path, max_size, error);
		if (status != HG_OK)
			base_file_close(file);
	}
	if (status != HG_OK)
		base_error_file(error, path);
	return status;
}

void base_file_close(struct base_file *file)
{
	if (file->size)
		munmap((void *)(uintptr_t)file->bytes, file->size);
	*file = (struct base_file){0};
}

void base_file_sequential(const struct base_file *file)
{
	if (file->size)
		madvise((void *)(uintptr_t)file->bytes, file->size, MADV_SEQUENTIAL);
}

const char *base_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

void base_file_folder(const char *path, char *folder, size_t size)
{
	const char *slash = strrchr(path, '/');
	if (!slash)
		snprintf(folder, size, ".");
	else
		snprintf(folder, size, "%.*s", slash == path ? 1 : (int)(slash - path), path);
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
	snprintf(output->temporary, size, "%s.XXXXXX", path);
	int fd = mkostemp(output->temporary, O_CLOEXEC);
	if (fd < 0) {
		enum hg_status status =
			system_error(error, HG_ERROR_OUTPUT, path, "cannot be written");
		output->temporary[0] = '\0';
		base_output_abandon(output);
		return status;
	}
	/* mkostemp() gives 0600; a report has the mode that the user's umask gives. */
	mode_t mask = umask(0);
	umask(mask);
	fchmod(fd, 0666 & ~mask);
	output->stream = fdopen(fd, "w");
	if (!output->stream) {
		close(fd);
		base_output_abandon(output);
		return base_no_memory(error, BUFSIZ);
	}
	return HG_OK;
}

enum hg_status base_output_commit(struct base_output *output, struct hg_error *error)
{
	enum hg_status status = HG_OK;
	bool written = fflush(output->stream) == 0 && !ferror(output->stream) &&
		       fsync(fileno(output->stream)) == 0;
	if (fclose(output->stream) || !written)
		status = system_error(error, HG_ERROR_OUTPUT, output->path, "cannot be written");
	output->stream = NULL;
	if (status == HG_OK && rename(output->temporary, output->path))
		status = system_error(error, HG_ERROR_OUTPUT, output->path, "cannot be written");
	if (status == HG_OK)
		output->temporary[0] = '\0';
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
