/*
 * What the symbols of OCaml code say: "camlStdlib__List__map_481" is the function "map" of the unit
 * "Stdlib__List".
 */
#ifndef SNAPSHOT_SYMBOL_NAME_H
#define SNAPSHOT_SYMBOL_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Parts of the symbol, which they do not outlive; the number behind a function is left out, and one
 * without name is "fun". */
struct snap_symbol_name {
	const char *unit, *function;
	size_t unit_length, function_length;
};

/* False of symbols that are no functions of a unit. */
bool snap_split_symbol(const char *symbol, struct snap_symbol_name *out);

#endif
