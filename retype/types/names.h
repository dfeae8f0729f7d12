/*
 * Types and immediates as OCaml writes them.
 */
#ifndef RETYPE_TYPES_NAMES_H
#define RETYPE_TYPES_NAMES_H

#include "retype/types/table.h"

/*
 * The type in OCaml's syntax: "(string, int list) Hashtbl.t", "_" for what is not known inside,
 * "" for RETYPE_NOTHING, alternatives of a set as "(a | b)"; "..." below some depth.  As
 * snprintf(3) counts.
 */
size_t retype_name(
	const struct retype_types *types, struct retype_term term, char *buffer, size_t size);

/*
 * The name of an immediate of this type as OCaml writes it: "None", "true", "'a'", "()", "`Tag",
 * "42"; as snprintf(3) counts.  "" if the type does not tell it from an integer and it is to be
 * printed as such.
 */
size_t retype_immediate(struct retype_types *types, struct retype_term term, int64_t value,
	char *buffer, size_t size);

#endif
