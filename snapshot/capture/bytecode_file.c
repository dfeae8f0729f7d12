/* Looks for the file that ocamlrun was given. */
#include "snapshot/capture/bytecode_file.h"

#include "snapshot/bytecode/program.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_SECTIONS = 64, TAIL_BYTES = 16 + 8 * MOST_SECTIONS, MOST_WORDS = 16 };

/* Examined by its name before it is opened: to open a device may do something. */
static bool open_bytecode(struct snap_bytecode_file *file, const char *name)
{
	uint8_t tail[TAIL_BYTES];
	struct stat about;
	uint64_t start;
	if (stat(name, &about) != 0 || !S_ISREG(about.st_mode))
		return false;
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return false;
	if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode)) {
		const uint64_t size = (uint64_t)about.st_size;
		const size_t wanted = size < sizeof(tail) ? (size_t)size : sizeof(tail);
		ssize_t got = pread(fd, tail, wanted, (off_t)(size - wanted));
		if (got == (ssize_t)wanted && snap_bytecode_start(tail, wanted, size, &start)) {
			file->fd = fd;
			file->start = start;
			file->size = size - start;
			return true;
		}
	}
	close(fd);
	return false;
}

/* A word of the command line: a path in the root or the folder of the process. */
static bool open_word(struct snap_bytecode_file *file, pid_t process, const char *word)
{
	char name[PATH_MAX + 64];
	if (word[0] == '\0' || word[0] == '-')
		return false;
	int length = snprintf(name, sizeof(name), "/proc/%d/%s/%s", (int)process,
		word[0] == '/' ? "root" : "cwd", word);
	if (length < 0 || (size_t)length >= sizeof(name) || !open_bytecode(file, name))
		return false;
	snprintf(file->path, sizeof(file->path), "%s", word);
	return true;
}

static size_t read_command_line(pid_t process, char *line, size_t size)
{
	char name[64];
	snprintf(name, sizeof(name), "/proc/%d/cmdline", (int)process);
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, line, size - 1);
	if (fd >= 0)
		close(fd);
	line[got < 0 ? 0 : got] = '\0';
	return got < 0 ? 0 : (size_t)got;
}

void snap_bytecode_file_open(struct snap_bytecode_file *file, pid_t process)
{
	char name[64], line[4 * PATH_MAX];
	*file = (struct snap_bytecode_file){.fd = -1};
	snprintf(name, sizeof(name), "/proc/%d/exe", (int)process);
	if (open_bytecode(file, name)) {
		ssize_t length = readlink(name, file->path, sizeof(file->path) - 1);
		file->path[length < 0 ? 0 : length] = '\0';
		return;
	}
	size_t end = read_command_line(process, line, sizeof(line)), at = 0;
	for (unsigned i = 0; i < MOST_WORDS && at < end; i++) {
		if (open_word(file, process, line + at))
			return;
		at += strlen(line + at) + 1;
	}
}

void snap_bytecode_file_close(struct snap_bytecode_file *file)
{
	if (file->size)
		close(file->fd);
	*file = (struct snap_bytecode_file){.fd = -1};
}
