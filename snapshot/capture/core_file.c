/*
 * The file of a core under way, and what all parts of its writer need: working memory, text without
 * stdio, /proc without malloc.  Nothing here is more than system calls and what libc has for signal
 * handlers.
 */
#include "snapshot/capture/core_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h> /* rename() */
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

int snap_core_failed(struct snap_core *core, const char *what, int number)
{
	core->failed = what;
	return number ? number : EIO;
}

/* Text */

void snap_core_add_text(struct snap_core_text *text, const char *string)
{
	for (; *string; string++) {
		if (text->used + 1 >= text->size) {
			text->cut = true;
			break;
		}
		text->start[text->used++] = *string;
	}
	if (text->size)
		text->start[text->used] = '\0';
}

void snap_core_add_number(struct snap_core_text *text, uint64_t number, unsigned base)
{
	char digits[24];
	size_t at = sizeof(digits) - 1;
	digits[at] = '\0';
	do {
		digits[--at] = "0123456789abcdef"[number % base];
		number /= base;
	} while (number);
	snap_core_add_text(text, digits + at);
}

/* Memory */

/* As much as the mappings of any process need; pages that are not used cost nothing. */
static int map_arena(struct snap_core *core)
{
	for (size_t size = (size_t)256 << 20; size >= (size_t)16 << 20; size /= 4) {
		void *arena = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (arena == MAP_FAILED)
			continue;
		core->arena = arena;
		core->arena_size = size;
		core->buffer = snap_core_alloc(core, SNAP_CORE_BUFFER);
		core->page_entries = snap_core_alloc(core, SNAP_CORE_ENTRIES * sizeof(uint64_t));
		return 0;
	}
	return snap_core_failed(core, "no memory for writing", ENOMEM);
}

size_t snap_core_arena_left(const struct snap_core *core)
{
	return core->arena_size - core->arena_used;
}

void *snap_core_alloc(struct snap_core *core, uint64_t size)
{
	/* What is left is a multiple of 16, too. */
	if (size > snap_core_arena_left(core))
		return NULL;
	void *memory = core->arena + core->arena_used;
	core->arena_used += (size + 15) & ~(uint64_t)15;
	return memory;
}

/* The file */

/* What a link leads to is replaced, and the link stays. */
static int resolve_links(struct snap_core *core)
{
	enum { MOST_LINKS = 40 };
	char target[PATH_MAX];
	for (unsigned i = 0; i < MOST_LINKS; i++) {
		ssize_t length = readlink(core->path, target, sizeof(target));
		if (length < 0)
			return 0;
		const char *slash = strrchr(core->path, '/');
		size_t folder = slash && target[0] != '/' ? (size_t)(slash - core->path) + 1 : 0;
		if (folder + (size_t)length > sizeof(core->path) - 3)
			return snap_core_failed(core, "cannot be written", ENAMETOOLONG);
		memcpy(core->path + folder, target, (size_t)length);
		core->path[folder + (size_t)length] = '\0';
	}
	return snap_core_failed(core, "cannot be written", ELOOP);
}

static int check_target(struct snap_core *core)
{
	struct stat about;
	if (stat(core->path, &about) != 0)
		return 0;
	if (S_ISDIR(about.st_mode))
		return snap_core_failed(core, "cannot be written", EISDIR);
	if (!S_ISREG(about.st_mode))
		return snap_core_failed(core, "cannot be written: not a regular file", EINVAL);
	if (!core->replace)
		return snap_core_failed(core, "is there already", EEXIST);
	/* Who may read a file of somebody else is not for him to say. */
	if (about.st_uid == geteuid() && about.st_gid == getegid())
		core->mode = about.st_mode & 0777;
	return 0;
}

/* The name the file has on its way, if it needs one; false when all have been tried. */
static bool name_part(struct snap_core *core, unsigned attempt)
{
	enum { MOST_ATTEMPTS = 1000 };
	struct snap_core_text text = {.start = core->temporary, .size = sizeof(core->temporary)};
	snap_core_add_text(&text, core->path);
	snap_core_add_text(&text, ".part-");
	snap_core_add_number(&text, (uint64_t)getpid(), 10);
	if (attempt) {
		snap_core_add_text(&text, "-");
		snap_core_add_number(&text, attempt, 10);
	}
	return attempt < MOST_ATTEMPTS;
}

/*
 * A file that is there already is one that a process left which was killed and had our number, or,
 * in a folder that several machines share, of one that has it now: leave it and take another name.
 */
static int open_named_part(struct snap_core *core)
{
	for (unsigned attempt = 0; name_part(core, attempt); attempt++) {
		core->fd = open(core->temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
		if (core->fd >= 0 || errno != EEXIST)
			break;
	}
	return core->fd < 0 ? errno : 0;
}

static int open_beside(struct snap_core *core)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(core->path, '/');
	size_t length = slash ? (size_t)(slash - core->path) + 1 : 0;
	memcpy(folder, core->path, length);
	memcpy(folder + length, ".", sizeof("."));
	core->fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	core->unnamed = core->fd >= 0;
	int status = core->unnamed ? 0 : open_named_part(core);
	return status ? snap_core_failed(core, "cannot be written", status) : 0;
}

int snap_core_open(struct snap_core *core, const char *path, bool replace)
{
	size_t length = strlen(path);
	*core = SNAP_CORE_NONE;
	core->replace = replace;
	if (length == 0 || length > sizeof(core->path) - 3)
		return snap_core_failed(core, "cannot be written", ENAMETOOLONG);
	memcpy(core->path, path, length + 1);
	SNAP_CORE_TRY(resolve_links(core));
	SNAP_CORE_TRY(check_target(core));
	SNAP_CORE_TRY(map_arena(core));
	return open_beside(core);
}

int snap_core_open_fd(struct snap_core *core, int fd)
{
	*core = SNAP_CORE_NONE;
	SNAP_CORE_TRY(map_arena(core));
	core->fd = dup(fd);
	return core->fd < 0 ? snap_core_failed(core, "no file descriptor", errno) : 0;
}

void snap_core_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Frees all but the file. */
static void release_core(struct snap_core *core)
{
	snap_core_close(&core->page_map);
	snap_core_close(&core->origin_page_map);
	if (core->arena)
		munmap(core->arena, core->arena_size);
	core->arena = NULL;
}

void snap_core_abandon(struct snap_core *core)
{
	bool named = core->fd >= 0 && !core->unnamed && core->temporary[0];
	snap_core_close(&core->fd);
	if (named)
		unlink(core->temporary);
	release_core(core);
}

static int link_descriptor(const struct snap_core *core, const char *name)
{
	char own[64];
	struct snap_core_text text = {.start = own, .size = sizeof(own)};
	snap_core_add_text(&text, "/proc/self/fd/");
	snap_core_add_number(&text, (uint64_t)core->fd, 10);
	return linkat(AT_FDCWD, own, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

/* A name on its way for what has none: nothing can be linked over a file that is there. */
static int link_temporary(struct snap_core *core)
{
	int status = EEXIST;
	for (unsigned attempt = 0; status == EEXIST && name_part(core, attempt); attempt++)
		status = link_descriptor(core, core->temporary);
	core->unnamed = status != 0;
	return status;
}

static int give_name(struct snap_core *core)
{
	int status = 0;
	if (core->unnamed) {
		status = link_descriptor(core, core->path);
		if (status != EEXIST || !core->replace)
			return status;
		SNAP_CORE_TRY(link_temporary(core));
	}
	if (core->replace)
		return rename(core->temporary, core->path) == 0 ? 0 : errno;
	status = link(core->temporary, core->path) == 0 ? 0 : errno;
	if (status == 0)
		unlink(core->temporary);
	return status;
}

/* What cannot sync keeps nothing beyond a crash anyway. */
static int sync_file(const struct snap_core *core)
{
	while (fsync(core->fd) != 0) {
		if (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP)
			return 0;
		if (errno != EINTR)
			return errno;
	}
	return 0;
}

int snap_core_commit(struct snap_core *core)
{
	int status = sync_file(core);
	if (status == 0 && core->mode && fchmod(core->fd, core->mode) != 0)
		status = errno;
	/* After a crash of the machine a file of that name is whole, or the one before. */
	if (status == 0)
		status = give_name(core);
	if (status)
		return snap_core_failed(
			core, status == EEXIST ? "is there already" : "cannot be written", status);
	/* Some network file systems tell only now that the disk is full. */
	int fd = core->fd;
	core->fd = -1;
	release_core(core);
	if (close(fd) == 0)
		return 0;
	status = errno;
	unlink(core->path);
	return snap_core_failed(core, "cannot be written", status);
}

int snap_core_put(struct snap_core *core, const void *bytes, size_t size, uint64_t offset)
{
	const uint8_t *from = bytes;
	while (size) {
		ssize_t written = pwrite(core->fd, from, size, (off_t)offset);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return snap_core_failed(core, "cannot be written", errno);
		core->written_bytes += (uint64_t)written;
		from += written;
		offset += (uint64_t)written;
		size -= (size_t)written;
	}
	return 0;
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
	return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

int snap_core_put_pages(struct snap_core *core, const void *bytes, size_t size, uint64_t offset)
{
	const uint8_t *from = bytes;
	size_t at = 0;
	while (at < size) {
		size_t end = at;
		while (end < size) {
			size_t part = size - end < SNAP_CORE_PAGE ? size - end : SNAP_CORE_PAGE;
			if (is_zero(from + end, part))
				break;
			end += part;
		}
		SNAP_CORE_TRY(snap_core_put(core, from + at, end - at, offset + at));
		at = end + SNAP_CORE_PAGE;
	}
	return 0;
}

int snap_core_open_proc(pid_t id, const char *name)
{
	char path[128];
	struct snap_core_text text = {.start = path, .size = sizeof(path)};
	snap_core_add_text(&text, "/proc/");
	snap_core_add_number(&text, (uint64_t)id, 10);
	snap_core_add_text(&text, "/");
	snap_core_add_text(&text, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

size_t snap_core_pread(int fd, void *buffer, size_t size, uint64_t offset)
{
	size_t got = 0;
	while (got < size) {
		ssize_t part =
			pread(fd, (uint8_t *)buffer + got, size - got, (off_t)(offset + got));
		if (part < 0 && errno == EINTR)
			continue;
		if (part <= 0)
			break;
		got += (size_t)part;
	}
	return got;
}

/* Memory of the process */

static size_t read_process(pid_t process, uint64_t address, void *buffer, size_t size)
{
	size_t got = 0;
	while (got < size) {
		struct iovec to = {(uint8_t *)buffer + got, size - got};
		struct iovec from = {(void *)(uintptr_t)(address + got), size - got};
		ssize_t part = process_vm_readv(process, &to, 1, &from, 1, 0);
		if (part <= 0)
			break;
		got += (size_t)part;
	}
	return got;
}

size_t snap_core_get(const struct snap_core *core, uint64_t address, void *buffer, size_t size)
{
	const struct snap_core_process *process = core->process;
	return process->read ? process->read(process->read_data, address, buffer, size)
			     : read_process(process->id, address, buffer, size);
}
