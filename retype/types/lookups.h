/*
 * What leads to types by name: units, functions, extensions, classes.
 */
#ifndef RETYPE_TYPES_LOOKUPS_H
#define RETYPE_TYPES_LOOKUPS_H

#include "retype/types/table.h"

/* RETYPE_NONE or NULL if there is none. */
uint32_t retype_unit_named(const struct retype_types *types, const char *name);
const struct retype_extension *retype_extension_named(
	const struct retype_types *types, const char *name);
/* "Unit__ident_12" without "caml", as the symbols of functions are, either separator. */
const struct retype_function *retype_function_symbol(
	const struct retype_types *types, const char *symbol);
/* The class with exactly these method names' hashes, which it puts in order; the one with the
 * fewest instance variables >= field_count if several.  Of several classes, or extensions of one
 * name, that have as many fields a field has a type if it is the same in all. */
const struct retype_class *retype_class_of(
	const struct retype_types *types, int32_t *hashes, uint32_t count, uint64_t field_count);

/* Makes the tables now and not with the first question. */
void retype_lookups_make(struct retype_types *types);

/* They are made anew with the next question, as after what they lead to has changed. */
void retype_lookups_release(struct retype_types *types);

#endif
