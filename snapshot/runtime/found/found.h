/*
 * What symbols tell of a native OCaml program, found without them: programs that are linked
 * statically and stripped, or linked without -Wl,-E and stripped, have none.
 *
 * The tables that ocamlopt makes for every program lie side by side in the data of its last object
 * file (asmcomp/asmlink.ml, make_startup_file): caml_globals, the marshalled string
 * caml_globals_map, caml_data_segments, caml_code_segments, caml_frametable.  Their lengths depend
 * on each other, and each of their words leads to something that can be looked at (found.c).
 * Variables of the runtime are places in the data of its C code that look like what they are, and
 * that lead to what they should (shapes.h).
 *
 * Two places that could both be the one, and that do not say the same, are an error: nothing is
 * guessed.  The memory is that of a core or of a living process.
 */
#ifndef SNAPSHOT_RUNTIME_FOUND_FOUND_H
#define SNAPSHOT_RUNTIME_FOUND_FOUND_H

#include "base/error.h"
#include "base/pool.h"
#include "snapshot/header.h"
#include "snapshot/image/elf_file.h"
#include "snapshot/runtime/layout.h"

/* Reads memory of the process; false when a byte of it is absent. */
typedef bool snap_found_read(void *data, uint64_t address, void *buffer, size_t size);

/* Present memory of the executable's segments. */
struct snap_found_space {
	struct snap_range range;
	bool is_writable;
};

struct snap_found_place {
	const char *name;
	uint64_t address;
};

enum { SNAP_FOUND_VARIABLES = 32 };

struct snap_found {
	snap_found_read *read;
	void *data;
	const char *program;             /* for messages */
	struct snap_found_space *spaces; /* by address, disjoint */
	uint64_t space_count, space_capacity;
	unsigned alignment;       /* of static structs of two words or more */
	struct snap_range *codes; /* executable segments */
	uint64_t code_count, code_capacity;
	struct snap_range *statics; /* data of the program's units: no variables of C are there */
	uint64_t static_count;

	uint64_t globals, unit_count; /* caml_globals, 0: not found; and its length */
	const char **names;           /* of units, in its order; NULL: not told */
	char version[16];             /* of Stdlib.Sys; "" if it is not linked */

	struct snap_found_place variables[SNAP_FOUND_VARIABLES];
	unsigned variable_count;
	const char *missing[SNAP_FOUND_VARIABLES]; /* kinds of roots that there was nothing of */
	unsigned missing_count;

	/* For the shapes that are looked for later: what was found before. */
	const struct snap_layout *layout;
	bool is_5;
	uint64_t domain_state; /* 4.x */
	unsigned colours;      /* 5.x, a bit for each that blocks have that are no garbage */
	uint64_t *states;      /* 5.x, in the order of the table of domains */
	uint64_t state_count, state_capacity;
	struct snap_range taken; /* 5.x, what was found and has parts that look like others */
	uint64_t ephemeron_none; /* the value in empty fields, as ephemerons show it; 0: none has */
	struct base_pool pool;
};

/* Adds the segments of the executable that hold code. */
enum hg_status snap_found_add_codes(struct snap_found *found, const struct snap_elf_view *view,
	uint64_t bias, struct hg_error *error);
/* Adds memory of its other segments, in the order of addresses. */
enum hg_status snap_found_add_space(struct snap_found *found, struct snap_range range,
	bool is_writable, struct hg_error *error);

/*
 * Finds the tables of the program, and which version it is of.  HG_OK with globals == 0: there are
 * none, it is no native OCaml program.  HG_ERROR_INPUT: there are two that differ.
 */
enum hg_status snap_found_tables(struct snap_found *found, struct hg_error *error);

/* Finds the variables of the runtime of that version. */
enum hg_status snap_found_variables(
	struct snap_found *found, const struct snap_layout *layout, struct hg_error *error);

/* Only Caml_state, of a version of 4.x. */
enum hg_status snap_found_domain_state(
	struct snap_found *found, const struct snap_layout *layout, struct hg_error *error);

/* The address of what has that name in the runtime's source; 0 if it was not found. */
uint64_t snap_found_variable(const struct snap_found *found, const char *name);

void snap_found_release(struct snap_found *found);

/* For the parts of the search */

/* A word, 0 where there is none. */
static inline uint64_t snap_found_word(const struct snap_found *found, uint64_t address)
{
	uint64_t word;
	return found->read(found->data, address, &word, sizeof(word)) ? word : 0;
}

static inline uint32_t snap_found_half(const struct snap_found *found, uint64_t address)
{
	uint32_t half;
	return found->read(found->data, address, &half, sizeof(half)) ? half : 0;
}

static inline bool snap_found_is_there(const struct snap_found *found, uint64_t address)
{
	uint64_t word;
	return address % 8 == 0 && address >= SNAP_ADDRESS_FIRST && address < SNAP_ADDRESS_LIMIT &&
	       found->read(found->data, address, &word, sizeof(word));
}

/* Whether an address is in the data or in the code of the executable. */
bool snap_found_is_data(const struct snap_found *found, uint64_t address);
bool snap_found_is_code(const struct snap_found *found, uint64_t address);

/* Whether a word leads to memory that is not of the executable: malloc, the heap, a stack. */
static inline bool snap_found_is_outside(const struct snap_found *found, uint64_t address)
{
	return snap_found_is_there(found, address) && !snap_found_is_data(found, address) &&
	       !snap_found_is_code(found, address);
}

/*
 * Whether a word may point to a block: there is a header before it, of a tag, or of any (-1), with
 * at least some words; one that a minor collection has moved has none, and may be any.
 */
bool snap_found_is_block(
	const struct snap_found *found, uint64_t value, int tag, uint64_t least_words);

/* Calls 'look' for every aligned word of the data; it returns false to stop. */
typedef bool snap_found_look(struct snap_found *found, uint64_t address, uint64_t word, void *data);
void snap_found_scan(
	struct snap_found *found, struct snap_range range, snap_found_look *look, void *data);

enum hg_status snap_found_name(
	struct snap_found *found, const char *name, uint64_t address, struct hg_error *error);

#endif
