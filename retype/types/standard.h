/*
 * Which units and files are of OCaml's standard library.
 */
#ifndef RETYPE_TYPES_STANDARD_H
#define RETYPE_TYPES_STANDARD_H

#include <stdbool.h>

/* Whether a unit, or the file that its source is in, is called as one of OCaml's own library. */
bool retype_is_standard_unit(const char *name);
bool retype_is_standard_file(const char *file);

#endif
