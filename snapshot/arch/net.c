/* What nets need of any processor: finding code in a process, and writing to its memory. */
#include "snapshot/arch/net.h"
#include "snapshot/arch/net_sequences.h"

#include "base/proc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

static uint64_t find_sequence(
	const uint8_t *code, size_t size, uint64_t start, const struct snap_net_sequence *wanted)
{
	const uint8_t *at = memmem(code, size, wanted->bytes, wanted->size);
	return at ? start + (uint64_t)(at - code) : 0;
}

static void find_in(pid_t process, uint64_t start, uint64_t end, struct snap_net_code *code)
{
	enum { MOST = 64 << 20 };
	uint64_t size = end - start < MOST ? end - start : MOST;
	uint8_t *bytes = malloc(size);
	if (!bytes)
		return;
	size_t got = base_proc_read_memory(process, start, bytes, size);
	if (!code->call)
		code->call = find_sequence(bytes, got, start, &snap_net_sequences.call);
	if (!code->return_from_signal)
		code->return_from_signal =
			find_sequence(bytes, got, start, &snap_net_sequences.return_from_signal);
	free(bytes);
}

/* In code of files whose path has a text; "" for any code. */
static void find_where(pid_t process, const char *text, struct snap_net_code *code)
{
	struct base_proc_map map;
	FILE *maps = base_proc_open(process, 0, "maps");
	while (maps && !(code->call && code->return_from_signal) && base_proc_next_map(maps, &map))
		if (strncmp(map.permissions, "r-x", 3) == 0 &&
			strcmp(map.name, "[vsyscall]") != 0 && strstr(map.name, text))
			find_in(process, map.start, map.end, code);
	if (maps)
		fclose(maps);
}

/* The C library has them, which for static programs is in the executable. */
bool snap_net_find_code(pid_t process, struct snap_net_code *code)
{
	*code = (struct snap_net_code){0};
	find_where(process, "/libc", code);
	find_where(process, "", code);
	return code->call && code->return_from_signal;
}

static bool is_sequence(pid_t process, uint64_t address, const struct snap_net_sequence *wanted)
{
	char bytes[16];
	return wanted->size <= sizeof(bytes) &&
	       base_proc_read_memory(process, address, bytes, wanted->size) == wanted->size &&
	       memcmp(bytes, wanted->bytes, wanted->size) == 0;
}

bool snap_net_code_is(pid_t process, const struct snap_net_code *code)
{
	return is_sequence(process, code->call, &snap_net_sequences.call) &&
	       is_sequence(
		       process, code->return_from_signal, &snap_net_sequences.return_from_signal);
}

/* Never by /proc/PID/mem, which writes to guard pages, too. */
bool snap_net_write(pid_t process, uint64_t address, const void *bytes, size_t size)
{
	struct iovec from = {(void *)(uintptr_t)bytes, size};
	struct iovec to = {(void *)(uintptr_t)address, size};
	return process_vm_writev(process, &from, 1, &to, 1, 0) == (ssize_t)size;
}
