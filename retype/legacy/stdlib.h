/*
 * How the standard library of 4.00.1 represents what its interfaces hide.  It was installed without
 * .cmt files, so most programs' own types lead into types that nothing else tells.
 */
#ifndef RETYPE_LEGACY_STDLIB_H
#define RETYPE_LEGACY_STDLIB_H

#include "retype/legacy/reader.h"

/*
 * The number of a type of this index, or RETYPE_NONE: "list", "ref", "Hashtbl.t", and for what a
 * functor makes "Map.Make.t".
 */
uint32_t cmt_stdlib_index(const char *name);
/* For the 't' that the functor 'made_by' makes. */
uint32_t cmt_stdlib_made(const char *made_by, const char *type);

uint32_t cmt_stdlib_parameters(uint32_t index);

/*
 * In words: "{ name TERM ... }" a record, "!name" if it is mutable; "| Name TERM ..." constructors;
 * "= TERM" an abbreviation; else a predefined representation.  TERM is a parameter by its number,
 * "_", a type, "@name" the type of that name beside this one, "$" this one itself, or a type
 * applied: "( array int )".
 */
const char *cmt_stdlib_text(uint32_t index);

/*
 * Completes *out, whose name and number the caller has chosen.  'entry' is the definition in the
 * signature that a functor has made, with other types beside it; RETYPE_NONE for none.
 */
void cmt_stdlib_fill(struct cmt_reader *r, uint32_t index, uint32_t number, uint32_t entry,
	uint32_t bindings, struct retype_declaration *out);

#endif
