/*
 * Which OCaml a program's runtime is of, by the text of Stdlib.Sys.ocaml_version and by symbols:
 * for cores (runtime.c) and living processes (state.c) alike.
 */
#ifndef SNAPSHOT_RUNTIME_VERSION_H
#define SNAPSHOT_RUNTIME_VERSION_H

#include "snapshot/runtime/layout.h"

/* For messages: what snap_layout_of() knows. */
#define SNAP_OCAML_SUPPORTED "4.13, 4.14 and 5.0 to 5.3"

/* Names that the symbol of the block of Stdlib.Sys has had; NULL at the end. */
const char *snap_sys_symbol(unsigned index);

/* Whether a text begins like "4.13.1", and can be shown. */
bool snap_is_version(const char *text);

/* The layout of "4.13.1" or "4.13", or NULL if this program does not know that version. */
const struct snap_layout *snap_layout_of(const char *version);

/* Whether a program has a symbol. */
typedef bool snap_has_symbol(void *program, const char *name);

/*
 * "5.2", or "4.10 to 4.12", for a program whose text is not to be had; static.  The family, 'is_5',
 * is known by Caml_state or caml_state.
 */
const char *snap_version_of_symbols(bool is_5, snap_has_symbol *has, void *program);

/* Whether it interprets bytecode; a program of ocamlopt may do so, too. */
bool snap_has_interpreter(snap_has_symbol *has, void *program);

#endif
