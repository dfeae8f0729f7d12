/*
 * Frame descriptors, which tell for every return address into OCaml code what its frame holds, and
 * where code is from: its position in the source and its name (frames_names.c).
 */
#ifndef SNAPSHOT_RUNTIME_FRAMES_H
#define SNAPSHOT_RUNTIME_FRAMES_H

#include "snapshot/runtime/state.h"

/* Where code is from, as its debuginfo says. */
struct snap_code_location {
	const char *file;          /* "" unknown */
	const char *function;      /* "Stdlib__List.map"; "" unknown */
	uint32_t line, start, end; /* columns from 0, both counted from the start of 'line' */
};

/* Frame descriptors. */
struct snap_descriptor {
	uint64_t address, return_address;
	uint16_t frame_size; /* with its flags; SNAP_RETURN_TO_C */
	uint16_t live_count;
};
enum { SNAP_RETURN_TO_C = 0xffff, SNAP_FRAME_DEBUGINFO = 1, SNAP_FRAME_ALLOCATIONS = 2 };
enum hg_status snap_read_frame_tables(struct snap_runtime *runtime, struct hg_error *error);
void snap_release_frame_tables(struct snap_runtime *runtime);
uint64_t snap_frame_table_count(const struct snap_runtime *runtime);
uint64_t snap_descriptor_count(const struct snap_runtime *runtime);
bool snap_find_descriptor(
	struct snap_runtime *runtime, uint64_t return_address, struct snap_descriptor *out);
bool snap_read_descriptor(
	const struct snap_runtime *runtime, uint64_t address, struct snap_descriptor *out);
/* The first descriptors with return addresses above 'start', in order of these. */
size_t snap_next_descriptors(const struct snap_runtime *runtime, uint64_t start,
	struct snap_descriptor *out, size_t capacity);
/* Address of its debuginfo, of several the first; 0: none. */
uint64_t snap_debuginfo_of(
	const struct snap_runtime *runtime, const struct snap_descriptor *descriptor);
/* Where its name is kept, NULL until it is known, and its descriptor; NULL if there is none. */
const char **snap_kept_name(
	struct snap_runtime *runtime, uint64_t return_address, uint64_t *descriptor);
/* "Foo.bar foo.ml:12:3-8", or the function alone, or the address; lives with the runtime. */
const char *snap_frame_name(struct snap_runtime *runtime, uint64_t return_address);

/*
 * Where a slot of a call stack is from: the innermost inlined function first.  Returns how many
 * are stored, at most 'capacity'; 0 if the code has no debuginfo.  Strings live as long as the
 * runtime.
 */
size_t snap_runtime_locations(struct snap_runtime *runtime, uint64_t slot,
	struct snap_code_location *out, size_t capacity);

/*
 * Places of the next frames that return to (*start, end], each as of the function that the code
 * belongs to; *start moves on.  Less than SNAP_CODE_LOCATIONS: these were the last.
 */
enum { SNAP_CODE_LOCATIONS = 64 };
size_t snap_runtime_code_locations(struct snap_runtime *runtime, uint64_t *start, uint64_t end,
	struct snap_code_location out[SNAP_CODE_LOCATIONS]);

/* Name of the function at a code address, as "Stdlib__List.map"; false if no symbol tells. */
bool snap_runtime_function(
	struct snap_runtime *runtime, uint64_t address, char *buffer, size_t size);

#endif
