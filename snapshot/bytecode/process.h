/*
 * A process that interprets bytecode: where its code is and what the program's file tells of it,
 * which no core holds: names of global variables, digests of units, places in the source.  The file
 * is that of the command line, of --exe, or the executable itself; it is compared with the code in
 * the process, word by word.  Without it all is read but names.
 *
 * Belongs to the runtime, for one thread at a time.
 */
#ifndef SNAPSHOT_BYTECODE_PROCESS_H
#define SNAPSHOT_BYTECODE_PROCESS_H

#include "snapshot/bytecode/program.h"
#include "snapshot/runtime/frames.h"
#include "snapshot/runtime/state.h"

#include "base/file.h"

struct snap_bytecode {
	struct snap_range code; /* of the program, as the interpreter has loaded it */
	struct base_file file;  /* unless it is a copy in the core */
	bool is_opened, has_file;
	const uint8_t *bytes; /* of the file */
	size_t size;
	struct base_pool pool;
	struct snap_bytecode_globals globals;
	struct snap_bytecode_events events;
	struct base_cursor instructions; /* sections CODE and DBUG of the file; NULL: none */
	struct base_cursor debug;
	uint32_t read_frames[16]; /* positions of events whose variables have been read again */
	uint32_t read_count;
};

/* Fills runtime->bytecode; fails only where the user has named another program's file. */
enum hg_status snap_find_bytecode(struct snap_runtime *runtime, struct hg_error *error);
void snap_release_bytecode(struct snap_runtime *runtime);
/* The first of these: the file, if there is one. */
enum hg_status snap_find_bytecode_file(struct snap_runtime *runtime, struct hg_error *error);

/* caml_global_data: its slots, and the units among them with their digests. */
enum hg_status snap_read_bytecode_units(struct snap_runtime *runtime, struct hg_error *error);
/* Sys.ocaml_version, which is in one of the first units. */
bool snap_bytecode_version(struct snap_runtime *runtime, char *text, size_t size);

/*
 * Whether a word is the address of an instruction: of the program, of what it has loaded, or of
 * what the runtime has callbacks return to.
 */
bool snap_is_bytecode(const struct snap_runtime *runtime, uint64_t word);
/* Of these whether it is the last: a few instructions, which C code calls functions with. */
bool snap_is_bytecode_glue(const struct snap_runtime *runtime, uint64_t code);

/* A text of the program's file that lives as long as the runtime; "" for none, and when there is no
   memory or budget for it. */
const char *snap_bytecode_print(
	struct snap_runtime *runtime, const struct snap_bytecode_text *text);

/* Where the call before a return address is; of the function whose code begins at an address. */
bool snap_bytecode_call(
	struct snap_runtime *runtime, uint64_t return_address, struct snap_code_location *out);
/* Of an instruction, or the last before it that is known. */
bool snap_bytecode_near(
	struct snap_runtime *runtime, uint64_t code, struct snap_code_location *out);
bool snap_bytecode_function(
	struct snap_runtime *runtime, uint64_t code, struct snap_code_location *out);
/*
 * The function whose code begins at an address, to the beginning of the next, by the name that a
 * native program would have for it; false if none is known to begin there.
 */
bool snap_bytecode_symbol(
	struct snap_runtime *runtime, uint64_t code, struct snap_code_symbol *out);
/*
 * The event of a call that returns to an instruction; that of the function which a closure that
 * begins with that code is of.  NULL: none is known, or the closure is of a function that has been
 * given some of its arguments.
 */
const struct snap_bytecode_event *snap_bytecode_event_of_call(
	const struct snap_runtime *runtime, uint64_t return_address);
const struct snap_bytecode_event *snap_bytecode_event_of_closure(
	const struct snap_runtime *runtime, uint64_t code);
/* As snap_runtime_code_locations(). */
size_t snap_bytecode_locations(struct snap_runtime *runtime, uint64_t *start, uint64_t end,
	struct snap_code_location out[SNAP_CODE_LOCATIONS]);

#endif
