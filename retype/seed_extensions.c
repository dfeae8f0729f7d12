/*
 * Exceptions, and the slots of extension constructors.
 *
 * A value of an exception is its slot followed by its arguments.  A block that looks so and that
 * nothing has typed is one, if the profile knows as many arguments.
 */
#include "retype/parts.h"

static void seed_exception(
	struct retyping *r, uint32_t rank, const struct snap_cell *cell, void *context)
{
	const struct retype_term *exception = context;
	if (cell->tag != 0 || cell->field_count < 2 || retyping_type_before(r, rank) ||
		cell->fields[0] & 7)
		return;
	const struct retype_extension *extension = retyping_extension(r, cell->fields[0]);
	if (extension && extension->field_count == cell->field_count - 1)
		retyping_seed(r, HG_INFERRED, (uint32_t)(extension - r->types->extensions), rank,
			cell->address >> 3, *exception);
}

static void seed_slot(
	struct retyping *r, uint32_t rank, const struct snap_cell *cell, void *context)
{
	const struct retype_term *slot = context;
	if (cell->tag == SNAP_TAG_OBJECT && cell->field_count == 2 &&
		!retyping_type_before(r, rank) && retyping_is_slot(r, cell->address + 8))
		retyping_seed(r, HG_EXACT, 0, rank, cell->address >> 3, *slot);
}

enum hg_status retyping_seed_exceptions(struct retyping *r)
{
	struct retype_term exception = retype_base(r->types, "exn");
	if (!exception.n || r->types->extension_count == 0)
		return HG_OK;
	return retyping_sweep(r, NULL, seed_exception, &exception);
}

enum hg_status retyping_seed_slots(struct retyping *r)
{
	struct retype_term slot = retype_base(r->types, "extcon");
	return slot.n ? retyping_sweep(r, NULL, seed_slot, &slot) : HG_OK;
}
