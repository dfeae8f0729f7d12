/*
 * What /proc tells of the process: mappings, auxiliary vector, names.  A reader of its own beside
 * base/proc.c, for it runs in a copy of any program, where nobody may call malloc.
 */
#include "snapshot/capture/core_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* /proc */

/* Reads a file of /proc to its end into the working memory, with a NUL after it. */
static uint8_t *read_proc_file(struct snap_core *core, pid_t id, const char *name, size_t *size)
{
	int fd = snap_core_open_proc(id, name);
	if (fd < 0)
		return NULL;
	/* How much there is shows only when it is read. */
	size_t room = snap_core_arena_left(core) / 4;
	uint8_t *bytes = core->arena + core->arena_used;
	ssize_t part = 0;
	*size = 0;
	while (*size < room && (part = read(fd, bytes + *size, room - *size)) != 0) {
		if (part < 0 && errno == EINTR)
			continue;
		if (part < 0)
			break;
		*size += (size_t)part;
	}
	int number = errno;
	close(fd);
	errno = *size == room ? ENOMEM : number;
	return *size < room && part == 0 ? snap_core_alloc(core, *size + 1) : NULL;
}

/* Fields of a line of maps */

static uint64_t scan_number(const char **at, unsigned base)
{
	uint64_t number = 0;
	for (;; (*at)++) {
		char c = **at;
		unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
				 : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
							: 16;
		if (digit >= base)
			return number;
		number = number * base + digit;
	}
}

static bool skip_char(const char **at, char wanted)
{
	if (**at != wanted)
		return false;
	(*at)++;
	return true;
}

/* The kernel writes a line feed within a path as \012 (seq_file_path()). */
static void unescape(char *path)
{
	char *to = path;
	for (const char *from = path; *from; to++) {
		bool escaped = strncmp(from, "\\012", 4) == 0;
		*to = escaped ? '\n' : *from;
		from += escaped ? 4 : 1;
	}
	*to = '\0';
}

/* "START-END rwxp OFFSET MAJOR:MINOR INODE      PATH" (proc(5)) */
static bool scan_maps_line(char *line, struct snap_core_map *map)
{
	const char *at = line;
	*map = (struct snap_core_map){0};
	map->start = scan_number(&at, 16);
	if (!skip_char(&at, '-'))
		return false;
	map->end = scan_number(&at, 16);
	if (!skip_char(&at, ' ') || strnlen(at, 4) < 4)
		return false;
	map->flags = (at[0] == 'r' ? (uint32_t)PF_R : 0) | (at[1] == 'w' ? (uint32_t)PF_W : 0) |
		     (at[2] == 'x' ? (uint32_t)PF_X : 0);
	map->shared = at[3] == 's';
	at += 4;
	if (!skip_char(&at, ' '))
		return false;
	map->offset = scan_number(&at, 16);
	if (!skip_char(&at, ' '))
		return false;
	map->device = scan_number(&at, 16) << 32;
	if (!skip_char(&at, ':'))
		return false;
	map->device |= scan_number(&at, 16);
	if (!skip_char(&at, ' '))
		return false;
	map->inode = scan_number(&at, 10);
	while (skip_char(&at, ' '))
		continue;
	char *path = line + (at - line);
	unescape(path);
	map->path = path;
	return map->start < map->end;
}

size_t snap_core_path_length(const struct snap_core_map *map)
{
	static const char mark[] = " (deleted)";
	size_t length = strlen(map->path), marked = sizeof(mark) - 1;
	bool deleted = length > marked && memcmp(map->path + length - marked, mark, marked) == 0;
	return deleted ? length - marked : length;
}

static bool begins_with(const char *string, const char *with)
{
	return strncmp(string, with, strlen(with)) == 0;
}

static enum snap_core_kind kind_of_map(const struct snap_core_map *map)
{
	if (begins_with(map->path, "[vvar") || begins_with(map->path, "[vsyscall"))
		return SNAP_CORE_LEFT_OUT;
	if (begins_with(map->path, "[vdso"))
		return SNAP_CORE_WHOLE;
	bool deleted = snap_core_path_length(map) != strlen(map->path);
	bool device =
		begins_with(map->path, "/dev/") && !begins_with(map->path, "/dev/shm/") && !deleted;
	if (!(map->flags & PF_R) || device)
		return SNAP_CORE_NO_BYTES;
	/* As the kernel tells shared memory from files: by whether it has a name. */
	if (map->shared)
		return map->inode == 0 || deleted || begins_with(map->path, "/memfd:")
			       ? SNAP_CORE_SHARED
			       : SNAP_CORE_NO_BYTES;
	return map->inode ? SNAP_CORE_FILE : SNAP_CORE_ANONYMOUS;
}

static void add_map(struct snap_core *core, struct snap_core_map map)
{
	map.kind = kind_of_map(&map);
	if (map.start < map.end)
		core->maps[core->map_count++] = map;
}

/*
 * Without the writer's own memory when a process writes itself; the kernel may have joined it with
 * a neighbour.
 */
static void add_map_without_own(struct snap_core *core, struct snap_core_map map)
{
	uint64_t own = (uintptr_t)core->arena, own_end = own + core->arena_size;
	bool overlaps = map.start < own_end && own < map.end;
	if (core->process->id != getpid() || !overlaps) {
		add_map(core, map);
		return;
	}
	struct snap_core_map part = map;
	part.end = own;
	add_map(core, part);
	map.start = own_end;
	add_map(core, map);
}

static int read_all_maps(struct snap_core *core)
{
	size_t size, lines = 0;
	char *text = (char *)read_proc_file(core, core->process->id, "maps", &size);
	if (!text)
		return snap_core_failed(core, "its mappings cannot be read", errno);
	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	core->maps = snap_core_alloc(core, (lines + 2) * sizeof(*core->maps));
	if (!core->maps)
		return snap_core_failed(core, "too many mappings", ENOMEM);
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		struct snap_core_map map;
		*end = '\0';
		if (!scan_maps_line(line, &map))
			return snap_core_failed(core, "its mappings cannot be read", EINVAL);
		add_map_without_own(core, map);
	}
	/* Of a process that is ending. */
	return core->map_count ? 0 : snap_core_failed(core, "the process is gone", ESRCH);
}

/* The first part of a small file of /proc, of the process or of the one it was forked from. */
static size_t read_proc_start(
	const struct snap_core *core, const char *name, void *buffer, size_t size)
{
	const pid_t ids[] = {core->process->origin, core->process->id};
	size_t got = 0;
	for (int i = 0; i < 2 && got == 0; i++) {
		int fd = snap_core_open_proc(ids[i], name);
		if (fd < 0)
			continue;
		got = snap_core_pread(fd, buffer, size, 0);
		close(fd);
	}
	return got;
}

static void read_process_names(struct snap_core *core)
{
	size_t got = read_proc_start(core, "comm", core->name, sizeof(core->name) - 1);
	if (got && core->name[got - 1] == '\n')
		core->name[got - 1] = '\0';
	got = read_proc_start(core, "cmdline", core->arguments, sizeof(core->arguments) - 1);
	while (got && core->arguments[got - 1] == '\0')
		got--;
	for (size_t i = 0; i < got; i++)
		if (core->arguments[i] == '\0')
			core->arguments[i] = ' ';
}

/* The number of kilobytes in a line "KEY:   NUMBER kB", in bytes; 0 if there is no such line. */
static uint64_t status_bytes(const char *text, const char *key)
{
	const char *line = strstr(text, key);
	if (!line)
		return 0;
	line += strlen(key);
	while (*line == ' ' || *line == '\t')
		line++;
	return scan_number(&line, 10) << 10;
}

void snap_core_read_memory(pid_t id, struct snap_core_memory *out)
{
	char text[4096];
	*out = (struct snap_core_memory){0};
	int fd = snap_core_open_proc(id, "status");
	if (fd < 0)
		return;
	text[snap_core_pread(fd, text, sizeof(text) - 1, 0)] = '\0';
	close(fd);
	*out = (struct snap_core_memory){.resident = status_bytes(text, "\nVmRSS:"),
		.peak = status_bytes(text, "\nVmHWM:"),
		.anonymous = status_bytes(text, "\nRssAnon:"),
		.file = status_bytes(text, "\nRssFile:"),
		.shared = status_bytes(text, "\nRssShmem:"),
		.swapped = status_bytes(text, "\nVmSwap:")};
}

int snap_core_read_proc(struct snap_core *core)
{
	SNAP_CORE_TRY(read_all_maps(core));
	core->auxv = read_proc_file(core, core->process->id, "auxv", &core->auxv_size);
	if (!core->auxv)
		core->auxv_size = 0;
	read_process_names(core);
	return 0;
}
