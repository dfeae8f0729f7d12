/* Files of input: mapped, decompressed aside when they are compressed, and read where they lie. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *kind_name(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return NULL;
	case S_IFDIR:
		return "directory";
	case S_IFIFO:
		return "FIFO";
	case S_IFSOCK:
		return "socket";
	case S_IFCHR:
		return "character device";
	case S_IFBLK:
		return "block device";
	default:
		return "special file";
	}
}

enum hg_status base_file_kind(const char *path, const char **kind, struct hg_error *error)
{
	struct stat about;
	if (stat(path, &about))
		return base_system_failure(error, HG_ERROR_INPUT, path, "cannot be read");
	*kind = kind_name(about.st_mode);
	return HG_OK;
}

static enum hg_status map(
	struct base_file *file, int fd, size_t size, const char *path, struct hg_error *error)
{
	void *bytes = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
	if (bytes == MAP_FAILED)
		return base_system_failure(error, HG_ERROR_INPUT, path, "cannot be mapped");
	/* Until here it stays what it was, compressed, and is closed as that. */
	file->bytes = size ? bytes : (const uint8_t *)"";
	file->size = size;
	return HG_OK;
}

/*
 * Devices may act when they are opened, and FIFOs wait: what a path leads to is looked at without
 * opening it, and that very file is opened then.
 */
static int open_examined(int examined, const char *path)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	char own[64];
	snprintf(own, sizeof(own), "/proc/self/fd/%d", examined);
	/* Without /proc the path may lead elsewhere by now. */
	return open(access(own, F_OK) == 0 ? own : path, flags);
}

enum hg_status base_file_descriptor(
	const char *path, int *fd, struct stat *about, struct hg_error *error)
{
	int examined = open(path, O_PATH | O_CLOEXEC);
	*fd = -1;
	if (examined < 0)
		return base_system_failure(error, HG_ERROR_INPUT, path, "cannot be opened");
	enum hg_status status = HG_OK;
	if (fstat(examined, about))
		status = base_system_failure(error, HG_ERROR_INPUT, path, "cannot be examined");
	else if (kind_name(about->st_mode))
		status = base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"is a %s, not a regular file", kind_name(about->st_mode));
	else if ((*fd = open_examined(examined, path)) < 0)
		status = base_system_failure(error, HG_ERROR_INPUT, path, "cannot be opened");
	close(examined);
	if (status != HG_OK)
		base_error_file(error, path);
	return status;
}

/* Whether the bytes are those that they were when the file was opened. */
static enum hg_status check_same(
	const struct base_file *file, const struct stat *now, struct hg_error *error)
{
	if (now->st_dev != file->device || now->st_ino != file->inode)
		return HG_OK;
	if ((uint64_t)now->st_size < file->stored_size)
		return base_fail(
			error, HG_ERROR_INPUT, HG_NO_OFFSET, "was cut short while it was read");
	if ((uint64_t)now->st_size > file->stored_size ||
		now->st_mtim.tv_sec != file->changed.tv_sec ||
		now->st_mtim.tv_nsec != file->changed.tv_nsec)
		return base_fail(
			error, HG_ERROR_INPUT, HG_NO_OFFSET, "was written to while it was read");
	return HG_OK;
}

enum hg_status base_file_check(
	const struct base_file *file, const char *path, struct hg_error *error)
{
	struct stat now;
	/* Without a name, or with another file of that name, it is as it was. */
	if (stat(path, &now))
		return HG_OK;
	enum hg_status status = check_same(file, &now, error);
	if (status != HG_OK)
		base_error_file(error, path);
	return status;
}

static enum hg_status unpack(struct base_file *file, const char *path,
	const struct base_unpack_limits *limits, base_judge_fn *judge, void *judge_data,
	struct hg_error *error)
{
	struct base_file packed = *file;
	int fd;
	uint64_t size;
	BASE_TRY(base_unpack(
		packed.bytes, packed.size, limits, judge, judge_data, &fd, &size, error));
	enum hg_status status = base_file_check(&packed, path, error);
	if (status == HG_OK)
		status = map(file, fd, (size_t)size, path, error);
	close(fd);
	if (status == HG_OK) {
		file->compressed = true;
		base_file_close(&packed);
	}
	return status;
}

enum hg_status base_file_open_judged(struct base_file *file, const char *path,
	const struct base_unpack_limits *limits, base_judge_fn *judge, void *judge_data,
	struct hg_error *error)
{
	int fd;
	struct stat about;
	*file = (struct base_file){0};
	BASE_TRY(base_file_descriptor(path, &fd, &about, error));
	file->device = about.st_dev;
	file->inode = about.st_ino;
	file->stored_size = (uint64_t)about.st_size;
	file->changed = about.st_mtim;
	enum hg_status status = map(file, fd, (size_t)about.st_size, path, error);
	close(fd);
	if (status == HG_OK && base_is_packed(file->bytes, file->size))
		status = unpack(file, path, limits, judge, judge_data, error);
	else if (status == HG_OK && judge)
		status = judge(judge_data, file->bytes, file->size, error);
	if (status != HG_OK) {
		base_file_close(file);
		base_error_file(error, path);
	}
	return status;
}

enum hg_status base_file_open(struct base_file *file, const char *path,
	const struct base_unpack_limits *limits, struct hg_error *error)
{
	return base_file_open_judged(file, path, limits, NULL, NULL, error);
}

int base_file_reopen(const struct base_file *file, const char *path)
{
	int fd;
	struct stat about;
	if (file->compressed || base_file_descriptor(path, &fd, &about, NULL) != HG_OK)
		return -1;
	if (about.st_dev == file->device && about.st_ino == file->inode)
		return fd;
	close(fd);
	return -1;
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

void base_file_forget(const struct base_file *file, uint64_t end)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	/* What was decompressed is nowhere else. */
	if (!file->compressed && end <= file->size)
		madvise((void *)(uintptr_t)file->bytes, end / page * page, MADV_DONTNEED);
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
