/* The table of layout.h, a column for each version, and what else tells versions apart. */
#include "snapshot/runtime/layout.h"

#include "base/assert.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define NA SNAP_ABSENT
#define FIELD(structure, member, ...) .structure##_##member = COLUMN(__VA_ARGS__),
#define SIZE(structure, ...) .sizeof_##structure = COLUMN(__VA_ARGS__),
#define TRAIT(trait, ...) .trait = COLUMN(__VA_ARGS__),

/* runtime/caml/sizeclasses.h of the versions */
static const uint8_t classes_5_0[SNAP_SIZE_CLASSES] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16,
	18, 20, 23, 26, 29, 33, 37, 42, 47, 53, 59, 65, 73, 81, 89, 99, 108, 118, 128};
static const uint8_t classes_5_2[SNAP_SIZE_CLASSES] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 17,
	19, 22, 25, 28, 32, 33, 37, 42, 47, 53, 59, 65, 73, 81, 89, 99, 108, 118, 128};

static const struct snap_layout layouts[] = {
#define COLUMN(v4_13, ...) v4_13
	[SNAP_OCAML_4_13] = {.version = SNAP_OCAML_4_13,
		.name = "4.13",
		SNAP_LAYOUT(FIELD, SIZE, TRAIT)},
#undef COLUMN
#define COLUMN(v4_13, v4_14, ...) v4_14
	[SNAP_OCAML_4_14] = {.version = SNAP_OCAML_4_14,
		.name = "4.14",
		SNAP_LAYOUT(FIELD, SIZE, TRAIT)},
#undef COLUMN
#define COLUMN(v4_13, v4_14, v5_0, ...) v5_0
	[SNAP_OCAML_5_0] = {.version = SNAP_OCAML_5_0,
		.name = "5.0",
		.size_classes = classes_5_0,
		SNAP_LAYOUT(FIELD, SIZE, TRAIT)},
#undef COLUMN
#define COLUMN(v4_13, v4_14, v5_0, v5_1, ...) v5_1
	[SNAP_OCAML_5_1] = {.version = SNAP_OCAML_5_1,
		.name = "5.1",
		.size_classes = classes_5_0,
		SNAP_LAYOUT(FIELD, SIZE, TRAIT)},
#undef COLUMN
#define COLUMN(v4_13, v4_14, v5_0, v5_1, v5_2, ...) v5_2
	[SNAP_OCAML_5_2] = {.version = SNAP_OCAML_5_2,
		.name = "5.2",
		.size_classes = classes_5_2,
		SNAP_LAYOUT(FIELD, SIZE, TRAIT)},
#undef COLUMN
#define COLUMN(v4_13, v4_14, v5_0, v5_1, v5_2, v5_3, ...) v5_3
	[SNAP_OCAML_5_3] = {.version = SNAP_OCAML_5_3,
		.name = "5.3",
		.size_classes = classes_5_2,
		SNAP_LAYOUT(FIELD, SIZE, TRAIT)},
#undef COLUMN
#define COLUMN(v4_13, v4_14, v5_0, v5_1, v5_2, v5_3, v5_4, ...) v5_4
	[SNAP_OCAML_5_4] = {.version = SNAP_OCAML_5_4,
		.name = "5.4",
		.size_classes = classes_5_2,
		SNAP_LAYOUT(FIELD, SIZE, TRAIT)},
#undef COLUMN
#define COLUMN(v4_13, v4_14, v5_0, v5_1, v5_2, v5_3, v5_4, v5_5, ...) v5_5
	[SNAP_OCAML_5_5] = {.version = SNAP_OCAML_5_5,
		.name = "5.5",
		.size_classes = classes_5_2,
		SNAP_LAYOUT(FIELD, SIZE, TRAIT)},
#undef COLUMN
};
_Static_assert(sizeof(layouts) / sizeof(layouts[0]) == SNAP_OCAML_VERSIONS,
	"every version has its layout");

#undef FIELD
#undef SIZE
#undef TRAIT

const struct snap_layout *snap_layout_at(enum snap_ocaml_version version)
{
	base_assert((unsigned)version < SNAP_OCAML_VERSIONS);
	return &layouts[version];
}

/*
 * How many mutexes stand before a member in its structure, or are in it; of all others none does
 * (runtime/shared_heap.c, domain.c, otherlibs/systhreads/st_stubs.c).
 */
static const struct {
	size_t offset;
	uint8_t mutexes;
} behind_mutexes[] = {
	{offsetof(struct snap_layout, pool_freelist_free), 1},
	{offsetof(struct snap_layout, pool_freelist_stats), 1},
	{offsetof(struct snap_layout, pool_freelist_global_avail_pools), 1},
	{offsetof(struct snap_layout, pool_freelist_global_full_pools), 1},
	{offsetof(struct snap_layout, pool_freelist_global_large), 1},
	{offsetof(struct snap_layout, sizeof_dom_internal), 2},
	{offsetof(struct snap_layout, sizeof_caml_thread_table), 1},
};

struct snap_layout snap_layout_with_mutex(const struct snap_layout *layout, unsigned mutex_bytes)
{
	enum { HERE = 40 };
	struct snap_layout moved = *layout;
	base_assert(mutex_bytes >= HERE);
	for (size_t i = 0; i < sizeof(behind_mutexes) / sizeof(*behind_mutexes); i++) {
		uint16_t *value = (uint16_t *)((char *)&moved + behind_mutexes[i].offset);
		if (*value != SNAP_ABSENT)
			*value += (uint16_t)(behind_mutexes[i].mutexes * (mutex_bytes - HERE));
	}
	return moved;
}

uint32_t snap_layout_first_slot(const struct snap_layout *layout, uint32_t size_class)
{
	base_assert(layout->size_classes && size_class < SNAP_SIZE_CLASSES);
	uint32_t words = (uint32_t)(SNAP_POOL_BYTES - layout->sizeof_pool) / 8;
	uint32_t waste = words % layout->size_classes[size_class];
	return layout->sizeof_pool + (layout->pool_waste_first == 1 ? 8 * waste : 0);
}

/* Where a row is in struct snap_layout. */
struct row {
	const char *structure, *member;
	size_t offset;
};

#define FIELD(structure, member, ...)                                                              \
	{#structure, #member, offsetof(struct snap_layout, structure##_##member)},
#define SIZE(structure, ...) {#structure, NULL, offsetof(struct snap_layout, sizeof_##structure)},
#define TRAIT(trait, ...)

static const struct row rows[] = {SNAP_LAYOUT(FIELD, SIZE, TRAIT)};

bool snap_layout_get_row(
	const struct snap_layout *layout, size_t index, struct snap_layout_row *out)
{
	if (index >= sizeof(rows) / sizeof(rows[0]))
		return false;
	*out = (struct snap_layout_row){.structure = rows[index].structure,
		.member = rows[index].member,
		.value = *(const uint16_t *)((const char *)layout + rows[index].offset)};
	return true;
}

/* Versions */

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
		const struct snap_layout *layout = snap_layout_at(v);
		size_t length = strlen(layout->name);
		if (strncmp(version, layout->name, length) == 0 &&
			(version[length] == '.' || version[length] == '\0'))
			return layout;
	}
	return NULL;
}

const char *snap_layout_remedy(const char *version)
{
	unsigned of[2], last[2];
	const char *name = snap_layout_at(SNAP_OCAML_VERSIONS - 1)->name;
	bool is_known = sscanf(version, "%u.%u", &of[0], &of[1]) == 2 &&
			sscanf(name, "%u.%u", &last[0], &last[1]) == 2;
	bool is_later = is_known && (of[0] > last[0] || (of[0] == last[0] && of[1] > last[1]));
	return is_later ? ": a newer heapgraph may read it" : "";
}

/* Exported functions and variables that are new in a version, of the newest first. */
static const struct {
	const char *symbol, *version;
} fingerprints[] = {
	{"caml_memprof_is_sampling", "5.5"},
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

/* runtime/interp.c: from 5.2 on, and up to 5.1. */
static const char *const interpreters[] = {"caml_bytecode_interpreter", "caml_interprete"};

bool snap_has_interpreter(snap_has_symbol *has, void *program)
{
	return has(program, interpreters[0]) || has(program, interpreters[1]);
}

bool snap_is_interpreter(const char *function)
{
	return strcmp(function, interpreters[0]) == 0 || strcmp(function, interpreters[1]) == 0;
}

/* Moments */

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
