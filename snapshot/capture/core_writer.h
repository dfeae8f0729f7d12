/*
 * Writes the memory of a process as a sparse ELF core file (core(5)) that can be read on another
 * machine: registers, auxiliary vector, list of mapped files, the present pages, and a trimmed copy
 * of every executable and library.  docs/formats.md describes the file.
 *
 * core_writer.c (pages, headers), core_writer_maps.c (/proc), core_writer_notes.c and
 * core_writer_copies.c (files that were mapped) over core_file.c are a unit of their own, for use
 * in a forked child of any program too: they need system calls and the functions of libc that are
 * safe in signal handlers, never malloc, and nothing of heapgraph but constants.
 *
 * The order of calls:
 *
 *     snap_core_open() -> snap_core_write_memory() -> snap_core_finish() -> snap_core_commit()
 */
#ifndef SNAPSHOT_CAPTURE_CORE_WRITER_H
#define SNAPSHOT_CAPTURE_CORE_WRITER_H

#include "snapshot/capture/core_file.h"

/* What the kernel counted when the process was stopped, in bytes; resident 0: not known. */
struct snap_core_memory {
	uint64_t resident, peak;
	uint64_t anonymous, file, shared; /* of resident */
	uint64_t swapped;
};

/* Reads /proc/ID/status; safe in signal handlers. */
void snap_core_read_memory(pid_t id, struct snap_core_memory *out);

/* What only the caller knows.  Strings may be NULL: unknown. */
struct snap_core_facts {
	uint64_t time;           /* of the stop or fork, ns since 1970 */
	uint64_t index;          /* number of the dump of this process */
	const char *trigger;     /* why it was written, or the name it was given */
	const char *method;      /* "fork", "vmread", "in-process" */
	const char *consistency; /* "clean", or what the process was amid */
	const char *ocaml_version;
	uint64_t not_inherited_bytes; /* memory that the fork does not have (MADV_DONTFORK) */
	struct snap_core_memory memory;
	/* The sections of the file of bytecode that it runs; size 0: none */
	int bytecode_fd;
	uint64_t bytecode_start, bytecode_size;
	const char *bytecode_path;
};

/*
 * Writes the pages and notes all that changes when the process runs on.  'process' must live until
 * the core is finished; of its /proc only the files are used by then.
 */
int snap_core_write_memory(struct snap_core *core, const struct snap_core_process *process);

/* Writes the copies of executables and libraries, notes and headers. */
int snap_core_finish(struct snap_core *core, const struct snap_core_facts *facts);

/* Takes the bytes of another, finished core, as snap_core_open_fd() makes in memory. */
int snap_core_take(struct snap_core *core, const struct snap_core *other);

/* Between the files of this module, in the order in which core_writer.c calls them. */

/* Reads what changes when the process goes on: maps, auxiliary vector, names. */
int snap_core_read_proc(struct snap_core *core);

/* The path of a map without " (deleted)", as it is: how long it is. */
size_t snap_core_path_length(const struct snap_core_map *map);

/* How many bytes the notes may need at most. */
uint64_t snap_core_notes_room(const struct snap_core *core);
int snap_core_write_notes(
	struct snap_core *core, const struct snap_core_facts *facts, uint64_t *size);
/* The note of what was resident, at the end of the file. */
int snap_core_write_runs(struct snap_core *core);

/* Copies the files that were mapped executable after the pages, and the bytecode after them. */
int snap_core_write_copies(struct snap_core *core);
int snap_core_write_bytecode(struct snap_core *core, const struct snap_core_facts *facts);

#endif
