/*
 * Globals that are other globals again.  The compiler gives each variable of an inner module a
 * field of the unit's block, and the module's own block holds it once more (lambda/translmod.ml);
 * 'include M' copies the fields of M.  Two names of one variable are no two holders.
 */
#include "snapshot/runtime/roots.h"

#include "base/search.h"
#include "snapshot/runtime/reader.h"

#include <stdlib.h>

/* Modules have fewer fields. */
enum { MOST_FIELDS = 1024 };

/* What globals point to, in order; of one value the global with the lowest address first. */
struct global {
	uint64_t value;
	uint64_t root; /* number in runtime->roots */
};

static int compare_globals(const void *a, const void *b)
{
	const struct global *x = a, *y = b;
	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return (x->root > y->root) - (x->root < y->root);
}

static bool is_of_a_global(const struct global *globals, uint64_t count, uint64_t value)
{
	uint64_t i = BASE_FIRST_FROM(globals, count, value, value);
	return i < count && globals[i].value == value;
}

/* A block with pointers, each of which is in a global itself. */
static bool holds_globals_only(
	struct snap_runtime *runtime, uint64_t block, const struct global *globals, uint64_t count)
{
	uint64_t header, pointers = 0;
	if (!snap_image_u64(runtime->image, snap_pointed_header(block).a, &header) ||
		snap_header_tag(header) != 0 || snap_runtime_wosize(runtime, header) > MOST_FIELDS)
		return false;
	for (uint64_t i = 0; i < snap_runtime_wosize(runtime, header); i++) {
		uint64_t value = snap_word(runtime, block + 8 * i);
		if (value & 1 || value == block)
			continue;
		if (!snap_spend(runtime, 1) || !is_of_a_global(globals, count, value))
			return false;
		pointers++;
	}
	return pointers > 0;
}

enum hg_status snap_find_copied_roots(struct snap_runtime *runtime, struct hg_error *error)
{
	struct snap_runtime_root *items = runtime->roots.items;
	struct global *globals = calloc(runtime->roots.count + 1, sizeof(*globals));
	uint64_t count = 0;
	if (!globals)
		return base_no_memory(error, (runtime->roots.count + 1) * sizeof(*globals));
	for (uint64_t i = 0; i < runtime->roots.count; i++)
		if (items[i].kind == HG_ROOT_GLOBAL)
			globals[count++] = (struct global){items[i].value, i};
	if (count)
		qsort(globals, count, sizeof(*globals), compare_globals);
	for (uint64_t i = 0; i < count; i++)
		items[globals[i].root].last =
			(i && globals[i].value == globals[i - 1].value) ||
			holds_globals_only(runtime, globals[i].value, globals, count);
	free(globals);
	return HG_OK;
}
