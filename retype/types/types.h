/*
 * The type table, all of it; begin here.  Two readers fill it: exe.prof (retype/profile) and the
 * .cmt of OCaml 4.00.1 (retype/legacy).
 *
 *     table.h       what is in it: declarations, layouts, units, functions, locations, ...
 *     terms.h       type expressions: making them, and looking at them
 *     predefined.h  int, string, array, ...: the declarations that every table begins with
 *     instance.h    terms with something in the place of their variables; aliases
 *     join.h        the least type that is at least as specific as two
 *     fit.h         how blocks of a type look, and which types their fields have
 *     names.h       types and immediates as OCaml writes them
 *     lookups.h     by name: units, functions, extensions, classes
 *     locations.h   by location in the source: what is allocated there
 *     standard.h    which units and files are of the standard library
 *
 * Inside: nodes.h keeps the terms, strings.h the names, memo.h what was computed of them.
 */
#ifndef RETYPE_TYPES_TYPES_H
#define RETYPE_TYPES_TYPES_H

#include "retype/types/fit.h"
#include "retype/types/instance.h"
#include "retype/types/join.h"
#include "retype/types/locations.h"
#include "retype/types/lookups.h"
#include "retype/types/names.h"
#include "retype/types/predefined.h"
#include "retype/types/standard.h"
#include "retype/types/strings.h"
#include "retype/types/table.h"
#include "retype/types/terms.h"

/* An empty table with the predefined types.  'error' must outlive the table.  Not thread safe. */
enum hg_status retype_types_init(struct retype_types *types, struct hg_error *error);
void retype_types_release(struct retype_types *types);

#endif
