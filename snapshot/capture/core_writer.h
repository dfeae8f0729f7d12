/*
 * Writes the memory of a process as a sparse ELF core file (core(5)) that can be read on another
 * machine: registers, auxiliary vector, list of mapped files, the present pages, and a trimmed copy
 * of every executable and library.  docs/formats.md describes the file.
 *
 * Together with core_maps.c, core_notes.c and core_copies.c this is a unit of its own, for use in a
 * forked child of any program too: it needs system calls and the functions of libc that are safe in
 * signal handlers, never malloc, and nothing else of heapgraph.
 *
 * The order of calls:
 *
 *     snap_core_open() -> snap_core_write_memory() -> snap_core_finish() -> snap_core_commit()
 *
 * Each returns 0 or an errno, and 'failed' then says in a few words what did not work; after that
 * only snap_core_abandon() is left.  There is no file of that name before the commit, and after an
 * abandoned one nothing stays behind.
 */
#ifndef SNAPSHOT_CAPTURE_CORE_WRITER_H
#define SNAPSHOT_CAPTURE_CORE_WRITER_H

#include "snapshot/arch/registers.h"

#include <elf.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct snap_core_thread {
	uint32_t id;
	uint64_t registers[SNAP_USER_REGISTERS];
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

/* What only the caller knows.  Strings may be NULL: unknown. */
struct snap_core_facts {
	uint64_t time;           /* of the stop or fork, ns since 1970 */
	uint64_t index;          /* number of the dump of this process */
	const char *trigger;     /* why it was written, or the name it was given */
	const char *method;      /* "fork", "vmread", "in-process" */
	const char *consistency; /* "clean", or what the process was amid */
	const char *ocaml_version;
	uint64_t not_inherited_bytes; /* memory that the fork does not have (MADV_DONTFORK) */
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

	/* Results */
	uint64_t written_bytes;    /* to the file, without holes */
	uint64_t unreadable_bytes; /* of pages that should have been there */
	uint64_t later_bytes;      /* of memory shared with 'origin', which went on */
};

/* One that has not begun: harmless to abandon. */
#define SNAP_CORE_NONE ((struct snap_core){.fd = -1, .page_map = -1, .origin_page_map = -1})

/*
 * Begins the file beside where it is to appear; 'path' is copied.  A file of that name is replaced
 * at the commit, or makes it fail with EEXIST; of a symbolic link it is the file behind it.
 */
int snap_core_open(struct snap_core *core, const char *path, bool replace);
/* The same into an open file that the caller keeps (a memfd); there is nothing to commit. */
int snap_core_open_fd(struct snap_core *core, int fd);

/*
 * Writes the pages and notes all that changes when the process runs on.  'process' must live until
 * the core is finished; of its /proc only the files are used by then.
 */
int snap_core_write_memory(struct snap_core *core, const struct snap_core_process *process);

/* Writes the copies of executables and libraries, notes and headers. */
int snap_core_finish(struct snap_core *core, const struct snap_core_facts *facts);

/* Takes the bytes of another, finished core, as snap_core_open_fd() makes in memory. */
int snap_core_take(struct snap_core *core, const struct snap_core *other);

/* Syncs the file, gives it its name, and frees.  A file that is replaced hands on its mode. */
int snap_core_commit(struct snap_core *core);
/* Frees, and removes what has not been committed. */
void snap_core_abandon(struct snap_core *core);

/* process_vm_readv() of a process; 'data' points to its pid_t. */
size_t snap_core_read_process(void *data, uint64_t address, void *buffer, size_t size);

#endif
