/*
 * Blocks that say what they are: exceptions, the slots of extension constructors, boxed integers.
 *
 * A value of an exception is its slot followed by its arguments.  A block that looks so and that
 * nothing has typed is one, if the profile knows as many arguments.
 */
#include "retype/infer/parts.h"

#include <string.h>

static void seed_exception(
	struct retyping *r, uint32_t rank, const struct snap_cell *cell, void *context)
{
	const struct retype_term *exception = context;
	if (cell->field_count < 2 || cell->fields[0] & 7)
		return;
	const struct retype_extension *extension = retyping_extension(r, cell->fields[0]);
	if (extension && extension->field_count == cell->field_count - 1)
		retyping_seed(r, HG_INFERRED, (uint32_t)(extension - r->types->extensions), rank,
			cell->address, *exception);
}

static void seed_slot(
	struct retyping *r, uint32_t rank, const struct snap_cell *cell, void *context)
{
	const struct retype_term *slot = context;
	if (cell->field_count == 2 && retyping_is_slot(r, snap_block_of(cell->address).a))
		retyping_seed(r, HG_EXACT, 0, rank, cell->address, *slot);
}

/* Kinds of custom blocks that have a type of their own, by the identifiers of their operations. */
static const struct {
	const char *identifier, *base;
} customs[] = {{"_i", "int32"}, {"_j", "int64"}, {"_n", "nativeint"}};

static void seed_custom(
	struct retyping *r, uint32_t rank, const struct snap_cell *cell, void *context)
{
	char name[64];
	(void)context;
	if (!r->snap->format->custom_name(r->snap, (struct snap_rank){rank}, name, sizeof(name)))
		return;
	for (unsigned i = 0; i < sizeof(customs) / sizeof(customs[0]); i++)
		if (strcmp(name, customs[i].identifier) == 0)
			retyping_seed(r, HG_EXACT, i, rank, cell->address,
				retype_base(r->types, customs[i].base));
}

enum hg_status retyping_seed_customs(struct retyping *r)
{
	if (!r->snap->format->custom_name)
		return HG_OK;
	return retyping_sweep_tag(r, SNAP_TAG_CUSTOM, true, seed_custom, NULL);
}

enum hg_status retyping_seed_exceptions(struct retyping *r)
{
	struct retype_term exception = retype_base(r->types, "exn");
	if (!exception.n || r->types->extension_count == 0)
		return HG_OK;
	return retyping_sweep_tag(r, 0, true, seed_exception, &exception);
}

enum hg_status retyping_seed_slots(struct retyping *r)
{
	struct retype_term slot = retype_base(r->types, "extcon");
	return slot.n ? retyping_sweep_tag(r, SNAP_TAG_OBJECT, true, seed_slot, &slot) : HG_OK;
}
