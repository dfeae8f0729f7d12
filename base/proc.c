/* What is read out of /proc, by stdio, and memory. */
#include "base/proc.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

void base_proc_path(char path[BASE_PROC_PATH], pid_t process, pid_t thread, const char *name)
{
	if (process == 0)
		snprintf(path, BASE_PROC_PATH, "/proc/%s", name);
	else if (thread == 0)
		snprintf(path, BASE_PROC_PATH, "/proc/%d/%s", (int)process, name);
	else
		snprintf(path, BASE_PROC_PATH, "/proc/%d/task/%d/%s", (int)process, (int)thread,
			name);
}

FILE *base_proc_open(pid_t process, pid_t thread, const char *name)
{
	char path[BASE_PROC_PATH];
	base_proc_path(path, process, thread, name);
	return fopen(path, "re");
}

uint64_t base_proc_number(pid_t process, pid_t thread, const char *name, const char *key)
{
	char line[256];
	uint64_t number = BASE_PROC_UNKNOWN;
	size_t length = strlen(key);
	FILE *file = base_proc_open(process, thread, name);
	while (file && number == BASE_PROC_UNKNOWN && fgets(line, sizeof(line), file))
		if (strncmp(line, key, length) == 0 && line[length] == ':')
			number = strtoull(line + length + 1, NULL, 10);
	if (file)
		fclose(file);
	return number;
}

bool base_proc_read_stat(pid_t process, pid_t thread, struct base_proc_stat *out)
{
	enum {
		FIRST = 3,
		PARENT = 4,
		THREADS = 20,
		START = 22,
		STACK = 28,
		SIGNAL = 38,
		CODE = 52,
		FIELDS = 53
	};
	char line[1024];
	uint64_t fields[FIELDS] = {0};
	FILE *file = base_proc_open(process, thread, "stat");
	size_t got = file ? fread(line, 1, sizeof(line) - 1, file) : 0;
	if (file)
		fclose(file);
	line[got] = '\0';
	/* The name, field 2, may hold anything. */
	char *at = strrchr(line, ')');
	if (!at || strlen(at) < 4) {
		errno = file ? ESRCH : errno;
		return false;
	}
	char state = at[2];
	at += 3;
	for (unsigned i = FIRST + 1; i < FIELDS && *at; i++)
		fields[i] = strtoull(at, &at, 10);
	*out = (struct base_proc_stat){.state = state,
		.parent = (pid_t)fields[PARENT],
		.threads = fields[THREADS],
		.start_time = fields[START],
		.start_stack = fields[STACK],
		.exit_signal = fields[SIGNAL],
		.exit_code = fields[CODE]};
	return true;
}

bool base_proc_has_ended(pid_t process, pid_t thread)
{
	struct base_proc_stat stat;
	if (!base_proc_read_stat(process, thread, &stat))
		return !base_is_shortage(errno);
	return strchr("ZXx", stat.state) && (thread != 0 || stat.threads <= 1);
}

bool base_proc_next_map(FILE *maps, struct base_proc_map *out)
{
	char line[sizeof(out->name) + 256];
	unsigned long start, end;
	int path = 0;
	while (fgets(line, sizeof(line), maps)) {
		size_t length = strcspn(line, "\n");
		bool is_whole = line[length] == '\n';
		line[length] = '\0';
		bool is_map = sscanf(line, "%lx-%lx %4s %*x %*x:%*x %*u %n", &start, &end,
				      out->permissions, &path) == 3;
		if (is_map)
			snprintf(out->name, sizeof(out->name), "%s", line + path);
		/* Of a longer line the rest is not for the next call. */
		while (!is_whole && fgets(line, sizeof(line), maps))
			is_whole = strchr(line, '\n') != NULL;
		if (!is_map)
			continue;
		out->start = start;
		out->end = end;
		return true;
	}
	return false;
}

size_t base_proc_read_memory(pid_t process, uint64_t address, void *buffer, size_t size)
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
