/* Which part of a stopped thread's stack is free. */
#include "snapshot/capture/room.h"

#include "base/proc.h"

#include <linux/ioctl.h>
#include <sys/ioctl.h>

/* Argument of PROCMAP_QUERY of Linux 6.11 (include/uapi/linux/fs.h). */
struct query {
	uint64_t size, flags, address, start, end, map_flags, page_size, offset, inode;
	uint32_t device[2], name_size, build_id_size;
	uint64_t name, build_id;
};

#define QUERY_MAP _IOWR('f', 17, struct query)

/* The mapping that holds an address: by the kernel's help, else from the list of all. */
static bool find_map(pid_t process, uint64_t address, uint64_t *start, uint64_t *end)
{
	bool found = false;
	struct base_proc_map map;
	struct query query = {.size = sizeof(query), .address = address};
	FILE *maps = base_proc_open(process, 0, "maps");
	if (maps && ioctl(fileno(maps), QUERY_MAP, &query) == 0) {
		*start = query.start;
		*end = query.end;
		found = true;
	}
	while (maps && !found && base_proc_next_map(maps, &map)) {
		found = map.start <= address && address < map.end;
		*start = map.start;
		*end = map.end;
	}
	if (maps)
		fclose(maps);
	return found;
}

/*
 * The first thread's stack is where the kernel began it; C libraries keep what is a thread's own,
 * to which the thread pointer points, above the stack of every other thread.
 */
static bool is_c_stack(pid_t process, const struct snap_core_thread *thread, uint64_t address)
{
	struct base_proc_stat stat;
	uint64_t start, end, above = thread->registers[SNAP_NATIVE_THREAD];
	if ((pid_t)thread->id == process)
		above = base_proc_read_stat(process, 0, &stat) ? stat.start_stack : 0;
	return address < above && find_map(process, address, &start, &end) && above < end &&
	       start + SNAP_NATIVE_RED_ZONE <= address;
}

static bool read_process_word(pid_t process, uint64_t address, uint64_t *word)
{
	return base_proc_read_memory(process, address, word, sizeof(*word)) == sizeof(*word);
}

/* The fiber a thread runs on, from its description at the low end to its handler at the high. */
static bool is_on_fiber(
	pid_t process, const struct snap_fibers *fibers, uint64_t state, uint64_t sp)
{
	uint64_t fiber, handler;
	return read_process_word(process, state + fibers->current_stack, &fiber) &&
	       read_process_word(process, fiber + fibers->handler, &handler) && fiber <= sp &&
	       sp <= handler;
}

uint64_t snap_room_below(
	pid_t process, const struct snap_core_thread *thread, const struct snap_fibers *fibers)
{
	uint64_t sp = thread->registers[SNAP_NATIVE_SP], state = 0;
	uint64_t own = thread->registers[SNAP_NATIVE_THREAD] + (uint64_t)fibers->state;
	if (fibers->are_used && read_process_word(process, own, &state) && state != 0 &&
		is_on_fiber(process, fibers, state, sp) &&
		!read_process_word(process, state + fibers->c_stack, &sp))
		return 0;
	return is_c_stack(process, thread, sp) ? sp - SNAP_NATIVE_RED_ZONE : 0;
}
