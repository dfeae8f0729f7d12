/*
 * The strings of a type table, each once: equal strings are equal pointers.
 */
#ifndef RETYPE_TYPES_STRINGS_H
#define RETYPE_TYPES_STRINGS_H

#include "retype/types/table.h"

/* The one copy of a string in the table, up to its first NUL; "" and 'status' set when memory is
 * wanting. */
const char *retype_intern(struct retype_types *types, const void *bytes, size_t length);

/* The one copy of a string, NULL if there is none. */
const char *retype_interned(const struct retype_types *types, const char *string);

enum hg_status retype_strings_init(struct retype_types *types);
void retype_strings_release(struct retype_types *types);

#endif
