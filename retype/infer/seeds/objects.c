/* Objects: the class is told by the set of methods in their table. */
#include "retype/infer/seeds/seeds.h"
#include "retype/infer/work.h"

#include <string.h>

static struct retype_term type_of_class(
	struct retype_types *types, const struct retype_class *class)
{
	/* Of the methods only the names are known here. */
	struct retype_term unknown[64] = {{0}};
	if (class->method_count > sizeof(unknown) / sizeof(unknown[0]))
		return RETYPE_NOTHING;
	return retype_object(types, class->methods, unknown, class->method_count);
}

static void seed_object(void *context, uint32_t rank, const struct snap_cell *cell)
{
	struct infer_seeder *seeder = context;
	const struct retype_class *class = infer_class(seeder->blocks, cell);
	if (class)
		infer_seed(seeder, HG_INFERRED, (uint32_t)(class - seeder->in->types->classes),
			rank, cell->address, type_of_class(seeder->in->types, class));
}

enum hg_status seeds_objects(struct infer_seeder *seeder)
{
	if (seeder->in->types->class_count == 0)
		return HG_OK;
	return infer_sweep_untyped(seeder->sweeper, SNAP_TAG_OBJECT, seed_object, seeder);
}

/* The declared type of a class without parameters, or nothing. */
static struct retype_term declared_type(
	struct retype_types *types, const struct retype_class *class)
{
	for (uint32_t i = 0; i < types->declaration_count; i++) {
		const struct retype_declaration *declaration = &types->declarations[i];
		if (declaration->form == RETYPE_ALIAS && declaration->parameters == 0 &&
			strcmp(declaration->name, class->name) == 0)
			return retype_constructed(types, i, NULL, 0);
	}
	return RETYPE_NOTHING;
}

struct naming {
	struct infer_seeder *seeder;
	struct infer_work *work;
	struct base_map names; /* types by class */
};

/*
 * An object that was reached as of its class and as of one that the class inherits from, too, has
 * the methods of both for a type: those of its class.
 */
static void name_object(void *context, uint32_t rank, const struct snap_cell *cell)
{
	struct naming *n = context;
	struct infer_seeder *seeder = n->seeder;
	struct retype_term type = {n->work->blocks[rank].type};
	uint64_t known;
	if (retype_view_of(seeder->in->types, type).kind != RETYPE_OBJECT)
		return;
	const struct retype_class *class = infer_class(seeder->blocks, cell);
	if (!class || seeder->failure->status != HG_OK)
		return;
	uint64_t key = (uint64_t)(class - seeder->in->types->classes) + 1;
	if (!base_map_get(&n->names, key, &known)) {
		known = declared_type(seeder->in->types, class).n;
		seeder->failure->status =
			base_map_set(&n->names, key, known, seeder->failure->error);
	}
	struct retype_term named = {(uint32_t)known};
	if (named.n && retype_is(retype_expand(seeder->in->types, named, RETYPE_DEEPEST),
			       retype_expand(seeder->in->types, type, RETYPE_DEEPEST)))
		infer_rename(n->work, rank, named);
}

enum hg_status seeds_name_objects(struct infer_seeder *seeder, struct infer_work *work)
{
	struct naming n = {.seeder = seeder, .work = work};
	if (seeder->in->types->class_count == 0)
		return HG_OK;
	enum hg_status status = infer_sweep_tag(seeder->sweeper, SNAP_TAG_OBJECT, name_object, &n);
	base_map_release(&n.names);
	return status != HG_OK ? status : seeder->failure->status;
}
