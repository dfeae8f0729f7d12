/*
 * A core file under way: opened beside where it is to appear, written, given its name.  And what
 * the parts of the writer share: the state of one core, working memory, text, /proc.
 *
 * Each function that can fail returns 0 or an errno, and 'failed' then says in a few words what did
 * not work; after that only snap_core_abandon() is left.  There is no file of that name before the
 * commit, and after an abandoned one nothing stays behind.
 */
#ifndef SNAPSHOT_CAPTURE_CORE_FILE_H
#define SNAPSHOT_CAPTURE_CORE_FILE_H

#include "snapshot/arch/native.h"

#include <elf.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct snap_core_thread {
	uint32_t id;
	uint64_t registers[SNAP_NATIVE_REGISTERS];
};

/*
 * Copies memory of the process; the number of bytes, less than 'size' if what follows is absent.
 * SNAP_CORE_STOP makes the writing end with ECANCELED.
 */
#define SNAP_CORE_STOP SIZE_MAX
typedef size_t snap_core_read_fn(void *data, uint64_t address, void *buffer, size_t size);

/*
 * Whose memory is written.  'id' is the process that lies still, whose /proc is read: a child made
 * by fork, or the process itself while it is stopped.  'origin' is the process the core is of; the
 * two are equal if there was no fork.
 */
struct snap_core_process {
	pid_t id, origin;
	const struct snap_core_thread *threads; /* the first is the one that gdb shows */
	size_t thread_count;                    /* at least 1 */
	snap_core_read_fn *read;                /* NULL: process_vm_readv() of 'id' */
	void *read_data;
};

enum snap_core_kind {
	SNAP_CORE_NO_BYTES,  /* not readable, devices, files shared with others */
	SNAP_CORE_ANONYMOUS, /* present pages */
	SNAP_CORE_FILE,      /* pages that differ from the file, and the first one */
	SNAP_CORE_SHARED, /* memory without a file, shared with others: pages present in 'origin' */
	SNAP_CORE_WHOLE,  /* [vdso] */
	SNAP_CORE_LEFT_OUT /* [vvar], [vsyscall], the writer's own memory: not even mentioned */
};

/* A line of /proc/PID/maps. */
struct snap_core_map {
	uint64_t start, end, offset, device, inode;
	const char *path; /* "" for none */
	uint32_t flags;   /* PF_R, PF_W, PF_X */
	bool shared;
	enum snap_core_kind kind;
};

/* A file copied into the core. */
struct snap_core_copy {
	const struct snap_core_map *map; /* the executable one */
	uint64_t offset, size;           /* in the core; size of the file */
	const char *skipped;             /* why there is no copy; NULL */
	uint8_t build_id_size;
	uint8_t build_id[64];
};

/* Pages side by side that were resident, by address. */
struct snap_core_run {
	uint64_t start, end;
};

struct snap_core {
	const char *failed; /* what did not work */
	int fd;
	bool unnamed; /* O_TMPFILE */
	bool replace;
	mode_t mode; /* of the file that is replaced; 0: for the owner only */
	char path[PATH_MAX];
	char temporary[PATH_MAX + 32];

	/* Working memory: mapped once, handed out from the start. */
	uint8_t *arena;
	size_t arena_size, arena_used;
	uint8_t *buffer; /* for copying */
	uint64_t *page_entries;

	struct snap_core_map *maps;
	size_t map_count;
	const struct snap_core_process *process;
	int page_map, origin_page_map; /* /proc/PID/pagemap, or -1 */
	uint8_t *auxv;
	size_t auxv_size;
	char name[16], arguments[80];

	Elf64_Phdr *loads;
	size_t load_count, load_capacity;
	uint64_t notes_offset, notes_room; /* bytes kept for them in the file */
	uint64_t end;                      /* of the file, so far */
	struct snap_core_copy *copies;
	size_t copy_count;
	uint64_t bytecode_offset;   /* of the copy of the bytecode; 0: none */
	struct snap_core_run *runs; /* of private memory, by address */
	size_t run_count;
	bool runs_incomplete;            /* there is no pagemap, or there are too many */
	uint64_t runs_offset, runs_size; /* of their note; 0: there is none */

	/* Results */
	uint64_t written_bytes;    /* to the file, without holes */
	uint64_t unreadable_bytes; /* of pages that should have been there */
	uint64_t later_bytes;      /* of memory shared with 'origin', which went on */
};

/* One that has not begun: harmless to abandon. */
#define SNAP_CORE_NONE ((struct snap_core){.fd = -1, .page_map = -1, .origin_page_map = -1})

/*
 * Begins the file beside where it is to appear; 'path' is copied.  A file of that name is replaced
 * at the commit, or makes it fail with EEXIST; of a symbolic link it is the file that it leads to.
 */
int snap_core_open(struct snap_core *core, const char *path, bool replace);
/* The same into an open file that the caller keeps (a memfd); there is nothing to commit. */
int snap_core_open_fd(struct snap_core *core, int fd);

/* Syncs the file, gives it its name, and frees.  A file that is replaced hands on its mode. */
int snap_core_commit(struct snap_core *core);
/* Frees, and removes what has not been committed. */
void snap_core_abandon(struct snap_core *core);

/* For the parts of the writer */

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

void snap_core_add_text(struct snap_core_text *text, const char *string);
void snap_core_add_number(struct snap_core_text *text, uint64_t number, unsigned base);

/* Opens /proc/ID/NAME for reading; -1 and errno. */
int snap_core_open_proc(pid_t id, const char *name);

void snap_core_close(int *descriptor);

#endif
