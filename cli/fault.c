/* The handler of SIGBUS: says which file could not be read, and ends the program. */
#include "cli/fault.h"

#include "cli/progress.h"
#include "cli/run.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * All of this runs in a handler of signals, in the one thread that comes first: system calls, and
 * of libc only what is safe there (signal-safety(7)).
 */

/* A line of /proc/self/maps: numbers, then a path whose bytes may be escaped fourfold. */
static char line[4 * PATH_MAX + 256];

struct mapping {
	uint64_t start, end, offset;
	char *path; /* in 'line' */
};

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads a number and steps over the character after it. */
static const char *read_hex(const char *at, uint64_t *number)
{
	for (*number = 0; hex_digit(*at) >= 0; at++)
		*number = *number << 4 | (uint64_t)hex_digit(*at);
	return *at ? at + 1 : at;
}

/* "START-END FLAGS OFFSET DEVICE INODE   PATH" (proc_pid_maps(5)) */
static void read_mapping(struct mapping *mapping)
{
	const char *at = read_hex(read_hex(line, &mapping->start), &mapping->end);
	while (*at && *at != ' ')
		at++;
	read_hex(*at ? at + 1 : at, &mapping->offset);
	/* Nothing before the path has a slash. */
	mapping->path = strchr(line, '/');
}

/* The next line, without its end; false after the last. */
static bool next_line(int fd)
{
	static char buffer[4096];
	static ssize_t used, held;
	size_t length = 0;
	for (;;) {
		if (used == held) {
			held = read(fd, buffer, sizeof(buffer));
			used = 0;
			if (held <= 0)
				return false;
		}
		char c = buffer[used++];
		if (c == '\n')
			break;
		if (length + 1 < sizeof(line))
			line[length++] = c;
	}
	line[length] = '\0';
	return true;
}

/* The mapping of a file that holds an address; false if it is no file's. */
static bool find_mapping(uint64_t address, struct mapping *mapping)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	bool found = false;
	while (fd >= 0 && !found && next_line(fd)) {
		read_mapping(mapping);
		found = mapping->start <= address && address < mapping->end;
	}
	if (fd >= 0)
		close(fd);
	return found && mapping->path;
}

/* Whether the path is that of a file without a name, as decompressed input is in. */
static bool is_aside(const char *path)
{
	static const char mark[] = " (deleted)";
	size_t length = strlen(path), marked = sizeof(mark) - 1;
	const char *name = strrchr(path, '/') + 1;
	return length > marked && strcmp(path + length - marked, mark) == 0 &&
	       (*name == '#' || strncmp(name, "heapgraph.", 10) == 0);
}

static void say_now(const char *text)
{
	ssize_t unused = write(STDERR_FILENO, text, strlen(text));
	(void)unused;
}

/* What a terminal would act on is not shown. */
static void say_path_now(char *path)
{
	for (unsigned char *at = (unsigned char *)path; *at; at++)
		if (*at < ' ' || *at == 0x7f || (*at == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0))
			*at = '?';
	say_now(path);
}

static int explain_fault(const struct mapping *mapping, uint64_t address)
{
	struct stat about;
	uint64_t offset = mapping->offset + (address - mapping->start);
	bool has_bytes = stat(mapping->path, &about) == 0 && (uint64_t)about.st_size > offset;
	bool aside = is_aside(mapping->path);
	say_now("heapgraph: ");
	say_path_now(mapping->path);
	say_now(aside       ? ": no room for what is decompressed (TMPDIR names another folder)\n"
		: has_bytes ? ": cannot be read: the disk or file system failed\n"
			    : ": was cut short while it was read\n");
	return aside ? CLI_EXIT_RESOURCE : CLI_EXIT_INPUT;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	static volatile sig_atomic_t entered;
	struct mapping mapping;
	uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
	(void)context;
	/* One thread speaks for all; it ends the others. */
	while (__atomic_exchange_n(&entered, 1, __ATOMIC_SEQ_CST))
		pause();
	cli_sink_remove_now();
	cli_progress_erase_now();
	if (info->si_code > 0 && find_mapping(address, &mapping))
		_exit(explain_fault(&mapping, address));
	/* A fault of our own, or a signal that somebody sent. */
	signal(number, SIG_DFL);
	raise(number);
}

void cli_fault_init(void)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, NULL);
}
