/*
 * What a core file that heapgraph wrote says of itself in its note (core_note.h), and where in the
 * core the copies of executable and libraries are.
 */
#ifndef SNAPSHOT_IMAGE_CAPTURE_NOTE_H
#define SNAPSHOT_IMAGE_CAPTURE_NOTE_H

#include "snapshot/header.h"
#include "snapshot/image/elf_file.h"

struct snap_capture_file {
	const char *path; /* as mapped, without " (deleted)" */
	uint64_t offset, size;
	struct snap_build_id build_id;
};

/* Strings are never NULL and live as long as the pool. */
struct snap_capture_note {
	bool is_ours;
	uint64_t version, index, time; /* time in ns since 1970; HG_UNKNOWN if they are not told */
	const char *trigger, *method, *consistency, *ocaml_version; /* as they stand there */
	enum hg_capture_method capture_method; /* that 'method' names; HG_CAPTURE_ANY: unknown */
	enum hg_moment moment;                 /* that 'consistency' names */
	/* As the kernel counted, in bytes; HG_UNKNOWN. */
	uint64_t resident, peak_resident, anonymous, file, shared, swapped;
	const uint8_t *runs; /* {start, end} of private memory that was resident; NULL unknown */
	uint64_t run_count;
	struct snap_capture_file *files; /* by path */
	uint64_t file_count, file_capacity;
	uint64_t file_bytes;               /* of all, which lie side by side */
	struct snap_capture_file bytecode; /* that it runs; path NULL: no copy */
	bool is_cut;                       /* some were left out, as the core ends before them */
};

/* Of a core without such a note. */
void snap_capture_note_init(struct snap_capture_note *capture);

/*
 * Reads the note of a core, strings into the pool.  A note of a later version, or one that tells of
 * files beyond the end of the core, is HG_ERROR_INPUT; with 'partial' such files are left out.  To
 * be released even then.
 */
enum hg_status snap_capture_note_read(struct snap_capture_note *capture,
	const struct snap_note *note, const struct base_file *core, bool partial,
	struct base_pool *pool, struct hg_error *error);
void snap_capture_note_release(struct snap_capture_note *capture);

/*
 * Reads the note of what was resident; it is taken for absent unless its runs are pages in order.
 */
void snap_capture_note_runs(struct snap_capture_note *capture, const struct snap_note *note);
/* One of the runs. */
struct snap_range snap_capture_note_run(const struct snap_capture_note *capture, uint64_t i);

/* The copy of a path with a build-id (size 0: any), or NULL. */
const struct snap_capture_file *snap_capture_note_find(const struct snap_capture_note *capture,
	const char *path, const struct snap_build_id *build_id);

#endif
