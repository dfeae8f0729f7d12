#include "snapshot/runtime/version.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char *snap_sys_symbol(unsigned index)
{
	/* Before 4.13 its file is stdlib__sys.ml (stdlib/Makefile). */
	static const char *const names[] = {"camlStdlib__Sys", "camlStdlib.Sys", "camlStdlib__sys"};
	return index < sizeof(names) / sizeof(*names) ? names[index] : NULL;
}

bool snap_is_version(const char *text)
{
	int used = 0;
	unsigned major, minor, patch;
	for (const char *c = text; *c; c++)
		if (!isgraph((unsigned char)*c))
			return false;
	return isdigit((unsigned char)text[0]) &&
	       sscanf(text, "%u.%u.%u%n", &major, &minor, &patch, &used) == 3 && used > 0;
}

const struct snap_layout *snap_layout_of(const char *version)
{
	for (unsigned v = 0; v < SNAP_OCAML_VERSIONS; v++) {
		const struct snap_layout *layout = snap_layout(v);
		size_t length = strlen(layout->name);
		if (strncmp(version, layout->name, length) == 0 &&
			(version[length] == '.' || version[length] == '\0'))
			return layout;
	}
	return NULL;
}

/* Exported functions and variables that are new in a version, of the newest first. */
static const struct {
	const char *symbol, *version;
} fingerprints[] = {
	{"caml_free_domains", "5.4"},
	{"caml_memprof_scan_roots", "5.3"},
	{"caml_compactions_count", "5.2"},
	{"caml_alloc_shr_reserved", "5.1"},
	{"caml_alloc_stack", "5.0"},
	{"caml_ephe_list_pure", "4.14"},
	{"caml_do_exit", "4.13"},
};

const char *snap_version_of_symbols(bool is_5, snap_has_symbol *has, void *program)
{
	for (size_t i = 0; i < sizeof(fingerprints) / sizeof(fingerprints[0]); i++)
		if ((fingerprints[i].version[0] == '5') == is_5 &&
			has(program, fingerprints[i].symbol))
			return fingerprints[i].version;
	/* Caml_state and caml_state, by which the family is known, are new in these. */
	return is_5 ? "5.0" : "4.10 to 4.12";
}

bool snap_has_interpreter(snap_has_symbol *has, void *program)
{
	/* runtime/interp.c: its name up to 5.1, and that of 5.3. */
	return has(program, "caml_interprete") || has(program, "caml_bytecode_interpreter");
}
