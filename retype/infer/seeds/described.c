/*
 * Blocks that say what they are: exceptions, the slots of extension constructors, boxed integers.
 *
 * A value of an exception is its slot followed by its arguments.  A block that looks so and that
 * nothing has typed is one, if the profile knows as many arguments.
 */
#include "retype/infer/seeds/seeds.h"

#include <string.h>

struct described {
	struct infer_seeder *seeder;
	struct retype_term type; /* of those that are looked for, if they are all of one */
};

static void seed_exception(void *context, uint32_t rank, const struct snap_cell *cell)
{
	struct described *d = context;
	if (cell->field_count < 2 || cell->fields[0] & 7)
		return;
	const struct retype_extension *extension =
		infer_extension(d->seeder->blocks, cell->fields[0]);
	if (extension && extension->field_count == cell->field_count - 1)
		infer_seed(d->seeder, HG_INFERRED,
			(uint32_t)(extension - d->seeder->in->types->extensions), rank,
			cell->address, d->type);
}

static void seed_slot(void *context, uint32_t rank, const struct snap_cell *cell)
{
	struct described *d = context;
	if (cell->field_count == 2 &&
		infer_is_extension_slot(d->seeder->blocks, snap_block_of(cell->address).a))
		infer_seed(d->seeder, HG_EXACT, 0, rank, cell->address, d->type);
}

/* Kinds of custom blocks that have a type of their own, by the identifiers of their operations. */
static const struct {
	const char *identifier, *base;
} customs[] = {{"_i", "int32"}, {"_j", "int64"}, {"_n", "nativeint"}};

static void seed_custom(void *context, uint32_t rank, const struct snap_cell *cell)
{
	char name[64];
	struct described *d = context;
	const struct snap *snap = d->seeder->in->snap;
	if (!snap_process_custom_name(snap, (struct snap_rank){rank}, name, sizeof(name)))
		return;
	for (unsigned i = 0; i < sizeof(customs) / sizeof(customs[0]); i++)
		if (strcmp(name, customs[i].identifier) == 0)
			infer_seed(d->seeder, HG_EXACT, i, rank, cell->address,
				retype_base(d->seeder->in->types, customs[i].base));
}

enum hg_status seeds_customs(struct infer_seeder *seeder)
{
	if (!seeder->in->snap->process)
		return HG_OK;
	struct described d = {.seeder = seeder};
	return infer_sweep_untyped(seeder->sweeper, SNAP_TAG_CUSTOM, seed_custom, &d);
}

enum hg_status seeds_exceptions(struct infer_seeder *seeder)
{
	struct described d = {seeder, retype_base(seeder->in->types, "exn")};
	if (!d.type.n || seeder->in->types->extension_count == 0)
		return HG_OK;
	return infer_sweep_untyped(seeder->sweeper, 0, seed_exception, &d);
}

enum hg_status seeds_slots(struct infer_seeder *seeder)
{
	struct described d = {seeder, retype_base(seeder->in->types, "extcon")};
	return d.type.n ? infer_sweep_untyped(seeder->sweeper, SNAP_TAG_OBJECT, seed_slot, &d)
			: HG_OK;
}
