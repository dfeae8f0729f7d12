/* Decompression of .zst files into memory that holds no zeros, within bounds. */
#include "base/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#define ZSTD_MAGIC_BYTES "\x28\xb5\x2f\xfd"

#define UNASKED_RATIO ((uint64_t)1000)
#define UNASKED_BYTES ((uint64_t)256 << 20)
#define UNASKED_BYTES_WITH_ZEROS ((uint64_t)16 << 30)

enum { PAGE = 4096 };

struct unpacking {
	ZSTD_DStream *stream;
	ZSTD_inBuffer in;
	size_t hint; /* of zstd: 0 at the end of a frame */
	char *buffer;
	size_t buffer_size, filled;

	uint64_t most, most_asked, most_written; /* bytes: useful, allowed, allowed without zeros */
	bool is_asked;
	uint64_t room; /* in the folder */
	uint64_t size, written;
	const char *folder;
	int fd;
};

bool base_zstd_lacks_memory(size_t result)
{
	return ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation;
}

bool base_is_packed(const uint8_t *bytes, size_t size)
{
	return size >= 4 && memcmp(bytes, ZSTD_MAGIC_BYTES, 4) == 0;
}

/* The file */

static enum hg_status no_file(const struct unpacking *u, const char *what, struct hg_error *error)
{
	return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET, "%s in %.200s: %s", what, u->folder,
		strerror(errno));
}

static int named_file(const char *folder)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s/heapgraph.XXXXXX", folder);
	if (length < 0 || (size_t)length >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	int fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static enum hg_status open_file(struct unpacking *u, struct hg_error *error)
{
	struct statvfs about;
	const char *folder = getenv("TMPDIR");
	u->folder = folder && *folder ? folder : "/tmp";
	u->fd = open(u->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (u->fd < 0)
		u->fd = named_file(u->folder);
	if (u->fd < 0)
		return no_file(u, "no temporary file", error);
	/* Some file systems do not tell. */
	u->room = UINT64_MAX;
	if (fstatvfs(u->fd, &about) == 0 && about.f_blocks)
		u->room = (uint64_t)about.f_bavail * about.f_frsize / 10 * 9;
	return HG_OK;
}

static bool all_zero(const char *bytes, size_t size)
{
	return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

static bool write_at(int fd, const char *bytes, size_t size, uint64_t offset)
{
	while (size) {
		ssize_t part = pwrite(fd, bytes, size, (off_t)offset);
		if (part < 0 && errno == EINTR)
			continue;
		if (part <= 0)
			return false;
		bytes += part;
		offset += (uint64_t)part;
		size -= (size_t)part;
	}
	return true;
}

/* Writes what is in the buffer but its pages of zeros, of which dumps of sparse images are full. */
static bool write_buffer(struct unpacking *u)
{
	for (size_t at = 0, end; at < u->filled; at = end) {
		size_t part = u->filled - at < PAGE ? u->filled - at : PAGE;
		end = at + part;
		if (all_zero(u->buffer + at, part))
			continue;
		while (end < u->filled) {
			part = u->filled - end < PAGE ? u->filled - end : PAGE;
			if (all_zero(u->buffer + end, part))
				break;
			end += part;
		}
		if (!write_at(u->fd, u->buffer + at, end - at, u->size + at))
			return false;
		u->written += end - at;
	}
	u->size += u->filled;
	return true;
}

/* Limits */

static uint64_t unasked(uint64_t packed_size, uint64_t least)
{
	uint64_t bytes = packed_size * UNASKED_RATIO;
	return bytes > least ? bytes : least;
}

static void set_limits(struct unpacking *u, const struct base_unpack_limits *limits)
{
	u->is_asked = limits && limits->asked;
	u->most = limits && limits->most ? limits->most : UINT64_MAX;
	u->most_asked = u->is_asked ? limits->asked : unasked(u->in.size, UNASKED_BYTES_WITH_ZEROS);
	u->most_written = u->is_asked ? UINT64_MAX : unasked(u->in.size, UNASKED_BYTES);
}

static enum hg_status refuse(const struct unpacking *u, uint64_t size, struct hg_error *error)
{
	if (size > u->most)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"decompresses to more than the %llu bytes that fit the limit",
			(unsigned long long)u->most);
	if (size > u->most_asked && u->is_asked)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"decompresses to more than the %llu bytes of --max-decompressed",
			(unsigned long long)u->most_asked);
	return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
		"%zu compressed bytes decompress to more than %llu%s; if it is to be trusted, "
		"allow more with --max-decompressed SIZE",
		u->in.size,
		(unsigned long long)(size > u->most_asked ? u->most_asked : u->most_written),
		size > u->most_asked ? "" : " that are not zero");
}

static enum hg_status check_limits(const struct unpacking *u, struct hg_error *error)
{
	if (u->size > u->most || u->size > u->most_asked || u->written > u->most_written)
		return refuse(u, u->size, error);
	if (u->written > u->room)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"does not fit when decompressed into %.200s, which has room for %llu bytes "
			"(TMPDIR names another folder)",
			u->folder, (unsigned long long)u->room);
	return HG_OK;
}

/* What the header of the first frame says, where it does, saves decompressing in vain. */
static enum hg_status check_announced(const struct unpacking *u, struct hg_error *error)
{
	unsigned long long size = ZSTD_getFrameContentSize(u->in.src, u->in.size);
	if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR ||
		(size <= u->most && size <= u->most_asked))
		return HG_OK;
	return refuse(u, size, error);
}

/* Decompression */

/* Until the buffer is full, or the input ends. */
static enum hg_status fill_buffer(struct unpacking *u, struct hg_error *error)
{
	ZSTD_outBuffer out = {u->buffer, u->buffer_size, 0};
	size_t before;
	u->filled = 0;
	/* Asked for more at its end, zstd would wait for another frame. */
	if (u->in.pos == u->in.size && u->hint == 0)
		return HG_OK;
	do {
		before = out.pos;
		u->hint = ZSTD_decompressStream(u->stream, &out, &u->in);
		if (base_zstd_lacks_memory(u->hint))
			return base_no_memory(error, ZSTD_DStreamOutSize());
		if (ZSTD_isError(u->hint))
			return base_corrupt(error, u->in.pos, "zstd data does not decompress: %s",
				ZSTD_getErrorName(u->hint));
	} while (out.pos < out.size && (u->in.pos < u->in.size || (u->hint && out.pos > before)));
	u->filled = out.pos;
	return HG_OK;
}

static enum hg_status unpack_all(
	struct unpacking *u, base_judge_fn *judge, void *judge_data, struct hg_error *error)
{
	BASE_TRY(fill_buffer(u, error));
	if (u->filled == 0 && u->hint != 0)
		return base_corrupt(error, u->in.size, "zstd data is cut short");
	if (judge)
		BASE_TRY(judge(judge_data, (const uint8_t *)u->buffer, u->filled, error));
	BASE_TRY(check_announced(u, error));
	BASE_TRY(open_file(u, error));
	while (u->filled) {
		if (!write_buffer(u))
			return no_file(u, "cannot be decompressed", error);
		BASE_TRY(check_limits(u, error));
		BASE_TRY(fill_buffer(u, error));
	}
	if (u->hint != 0)
		return base_corrupt(error, u->in.size, "zstd data is cut short");
	if (ftruncate(u->fd, (off_t)u->size))
		return no_file(u, "cannot be decompressed", error);
	return HG_OK;
}

enum hg_status base_unpack(const uint8_t *packed, size_t packed_size,
	const struct base_unpack_limits *limits, base_judge_fn *judge, void *judge_data, int *fd,
	uint64_t *size, struct hg_error *error)
{
	struct unpacking u = {.in = {packed, packed_size, 0},
		.hint = 1,
		.fd = -1,
		.buffer_size = ZSTD_DStreamOutSize()};
	set_limits(&u, limits);
	u.stream = ZSTD_createDStream();
	u.buffer = malloc(u.buffer_size);
	enum hg_status status = u.stream && u.buffer ? unpack_all(&u, judge, judge_data, error)
						     : base_no_memory(error, u.buffer_size);
	ZSTD_freeDStream(u.stream);
	free(u.buffer);
	if (status != HG_OK && u.fd >= 0)
		close(u.fd);
	*fd = status == HG_OK ? u.fd : -1;
	*size = u.size;
	return status;
}
