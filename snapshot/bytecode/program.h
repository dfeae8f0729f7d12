/*
 * A program of ocamlc as a file: sections behind whatever runs them, found from the end
 * (runtime/startup_byt.c, bytecomp/bytesections.ml of OCaml).  Of these are read the table of
 * global variables, the digests of units, and where code is from in the source.
 *
 * Nothing is trusted: what contradicts the format is HG_ERROR_INPUT with its offset.  Names and
 * places lead into the bytes, which must outlive what is read from them.
 */
#ifndef SNAPSHOT_BYTECODE_PROGRAM_H
#define SNAPSHOT_BYTECODE_PROGRAM_H

#include "base/cursor.h"
#include "base/error.h"
#include "base/pool.h"
#include "snapshot/marshal/marshal.h"

/* Whether the bytes end as those of a program do: with a magic number of Caml1999X. */
bool snap_bytecode_ends(const uint8_t *bytes, size_t size);

/*
 * Where the sections of a file begin, of which 'tail' is the end: all that a program is from there
 * on is a file of bytecode, too.  False if it is none, or the tail lacks part of the table.
 */
bool snap_bytecode_start(
	const uint8_t *tail, size_t tail_size, uint64_t file_size, uint64_t *start);

/*
 * The bytes of a section ("CODE"), as a cursor whose offsets are those of the file.  *found is
 * false if there is none of that name.
 */
enum hg_status snap_bytecode_section(const uint8_t *bytes, size_t size, const char *name,
	struct base_cursor *out, bool *found, struct hg_error *error);

/*
 * Whether the code of a section is what a process has loaded, as far as 'got' bytes of that are
 * there.  The interpreter replaces each opcode by what it jumps to (runtime/fix_code.c,
 * caml_thread_code), all that are alike by the same word; operands stay, but for where a method was
 * found the last time.
 */
bool snap_bytecode_is_loaded(const struct base_cursor *code, const uint8_t *loaded, size_t got);

/* A string of the program, of which nothing says that it ends with a NUL. */
struct snap_bytecode_text {
	const uint8_t *bytes;
	uint32_t length;
};

/* A slot of caml_global_data: a unit, a predefined exception, or a constant without a name. */
struct snap_bytecode_global {
	struct snap_bytecode_text name; /* length 0: a constant */
	bool is_predefined;
};
struct snap_bytecode_globals {
	struct snap_bytecode_global *items; /* by number */
	uint64_t count, capacity;
};
/* Of the value in section SYMB, a Symtable.GlobalMap.t. */
enum hg_status snap_bytecode_read_globals(const struct snap_marshal *m, struct snap_value table,
	struct snap_bytecode_globals *globals, struct hg_error *error);

/* A variable of the compiler, and where its value is: a field of a closure, or a place in a frame,
   counted in words from where that begins, downwards. */
struct snap_bytecode_variable {
	struct snap_bytecode_text name;
	uint32_t stamp; /* of the compiler: tells variables of one name in a unit apart */
	uint32_t place;
};
struct snap_bytecode_variables {
	struct snap_bytecode_variable *items;
	uint64_t count, capacity;
};

/* What the compiler knows of a place in the code (bytecomp/instruct.mli: debug_event). */
struct snap_bytecode_event {
	uint32_t position;         /* bytes from the start of the code */
	bool is_function;          /* a function's body begins here */
	uint32_t line, start, end; /* columns from 0, both counted from the start of 'line' */
	struct snap_bytecode_text unit, function, file;
	uint64_t first_captured; /* of a function: what a closure that begins with it captures */
	uint32_t captured_count;
};
struct snap_bytecode_events {
	struct snap_bytecode_event *items; /* by position */
	uint64_t count, capacity;
	struct snap_bytecode_variables captured;
};
/* Section DBUG. */
enum hg_status snap_bytecode_read_events(
	struct base_cursor section, struct snap_bytecode_events *events, struct hg_error *error);
/* The same again, for the variables on the stack at an event; none if there is none there. */
enum hg_status snap_bytecode_read_frame(struct base_cursor section, uint32_t position,
	struct snap_bytecode_variables *variables, struct hg_error *error);

#endif
