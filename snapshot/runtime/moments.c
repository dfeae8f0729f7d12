/* What the runtime's functions are part of. */
#include "snapshot/runtime/moments.h"

#include <stddef.h>
#include <string.h>

/* By the beginning of the name: longer ones first. */
static const struct {
	const char *prefix;
	enum snap_moment moment;
	bool is_ahead;
} functions[] = {
	{"caml_empty_minor_heap_", SNAP_MOMENT_MINOR_COLLECTION, false},
	{"caml_stw_empty_minor_heap", SNAP_MOMENT_MINOR_COLLECTION, false},
	{"caml_oldify", SNAP_MOMENT_MINOR_COLLECTION, false},
	{"oldify_", SNAP_MOMENT_MINOR_COLLECTION, false},
	{"caml_empty_minor_heap", SNAP_MOMENT_MINOR_COLLECTION, true},
	{"caml_minor_collection", SNAP_MOMENT_MINOR_COLLECTION, true},
	{"caml_compact_heap", SNAP_MOMENT_COMPACTION, false},
	{"do_compaction", SNAP_MOMENT_COMPACTION, false},
	{"compact_", SNAP_MOMENT_COMPACTION, false},
	{"caml_make_vect", SNAP_MOMENT_FILLING, false},
	{"caml_array_gather", SNAP_MOMENT_FILLING, false},
	{"caml_array_make", SNAP_MOMENT_FILLING, false},
	{"caml_uniform_array_gather", SNAP_MOMENT_FILLING, false},
	{"caml_uniform_array_make", SNAP_MOMENT_FILLING, false},
	{"caml_obj_with_tag", SNAP_MOMENT_FILLING, false},
};

enum snap_moment snap_moment_of_function(const char *name, bool *is_ahead)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (strncmp(name, functions[i].prefix, strlen(functions[i].prefix)) == 0) {
			*is_ahead = functions[i].is_ahead;
			return functions[i].moment;
		}
	*is_ahead = false;
	return SNAP_MOMENT_NONE;
}
