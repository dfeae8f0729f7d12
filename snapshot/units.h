/*
 * What of a program leads to types: the blocks of its compilation units, its functions; and names
 * that the runtime's reader and others agree on.
 */
#ifndef SNAPSHOT_UNITS_H
#define SNAPSHOT_UNITS_H

#include "snapshot/header.h"

/*
 * The static block that holds the values of a compilation unit, or with flambda also of one of its
 * definitions ("Unit__ident_12", "Unit.ident_12").  Of bytecode a block in the heap; and while the
 * code of a unit runs, the places of its values on the stack are as blocks of one field.
 */
struct snap_unit {
	const char *name; /* "Stdlib__Map"; without symbols "module 0x..." */
	struct snap_block_address block;
	uint64_t wosize;
	const char *crc; /* of its .cmi, 32 hexadecimal digits; "" if the program does not tell */
};

/* The address of a field. */
static inline uint64_t snap_unit_field(const struct snap_unit *unit, uint64_t field)
{
	return unit->block.a + 8 * field;
}

/* Roots of kind HG_ROOT_MEMPROF of this name hold what the runtime keeps of a profile, and not what
 * the program's callback has returned. */
#define SNAP_NAME_OF_PROFILE "Gc.Memprof profile"

/* A variable that a closure has captured: its unit, and its name and number there: "table_277". */
struct snap_captured {
	const char *unit, *variable;
	size_t name_length; /* of the name alone */
};

/* Of bytecode: the code of closures of functions that have been given some of their arguments. */
#define SNAP_NAME_OF_RESTART "RESTART"

/* A function of the program. */
struct snap_code_symbol {
	const char *name; /* as the linker knows it: "camlStdlib__List.map_481" */
	struct snap_range code;
};

#endif
