/*
 * What core_writer.c (file and pages), core_maps.c (/proc), core_notes.c and core_copies.c (files
 * that were mapped) share.
 */
#ifndef SNAPSHOT_CAPTURE_CORE_WRITER_PARTS_H
#define SNAPSHOT_CAPTURE_CORE_WRITER_PARTS_H

#include "snapshot/capture/core_writer.h"

enum {
	SNAP_CORE_PAGE = 4096,
	SNAP_CORE_BUFFER = 1 << 20, /* bytes copied at once */
	SNAP_CORE_ENTRIES = 1 << 16 /* of a pagemap, read at once */
};

/* Forwards an errno. */
#define SNAP_CORE_TRY(call)                                                                        \
	do {                                                                                       \
		int snap_core_status = (call);                                                     \
		if (snap_core_status != 0)                                                         \
			return snap_core_status;                                                   \
	} while (0)

/* Notes what failed; returns 'number', or EIO for 0. */
int snap_core_failed(struct snap_core *core, const char *what, int number);

/* Zeroed memory until the core is closed, aligned to 16 bytes; NULL when there is no more. */
void *snap_core_alloc(struct snap_core *core, uint64_t size);
size_t snap_core_arena_left(const struct snap_core *core);

/* Writes all of it at an offset of the core. */
int snap_core_put(struct snap_core *core, const void *bytes, size_t size, uint64_t offset);
/* Writes only the pages that are not all zeros; 'offset' is that of a page. */
int snap_core_put_pages(struct snap_core *core, const void *bytes, size_t size, uint64_t offset);

/* Reads memory of the process; how many bytes there were. */
size_t snap_core_get(const struct snap_core *core, uint64_t address, void *buffer, size_t size);

/* Reads from an offset of a file up to its end or 'size' bytes; how many there were. */
size_t snap_core_pread(int fd, void *buffer, size_t size, uint64_t offset);

/* Text, cut at the end of its room. */
struct snap_core_text {
	char *start;
	size_t size, used;
	bool cut;
};

void snap_core_text(struct snap_core_text *text, const char *string);
void snap_core_number(struct snap_core_text *text, uint64_t number, unsigned base);

/* Opens /proc/ID/NAME for reading; -1 and errno. */
int snap_core_open_proc(pid_t id, const char *name);

/* Reads what changes when the process goes on: maps, auxiliary vector, names. */
int snap_core_read_proc(struct snap_core *core);

/* The path of a map without " (deleted)", as it is: how long it is. */
size_t snap_core_path_length(const struct snap_core_map *map);

/* How many bytes the notes may need at most. */
uint64_t snap_core_notes_room(const struct snap_core *core);
int snap_core_write_notes(
	struct snap_core *core, const struct snap_core_facts *facts, uint64_t *size);

/* Copies the files that were mapped executable behind the pages. */
int snap_core_write_copies(struct snap_core *core);

#endif
