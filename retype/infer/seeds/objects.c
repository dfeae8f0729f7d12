/* Objects: the class is told by the set of methods in their table. */
#include "retype/infer/parts.h"

#include <string.h>

static struct retype_term type_of_class(struct retyping *r, const struct retype_class *class)
{
	/* Of the methods only the names are known here. */
	struct retype_term unknown[64] = {{0}};
	if (class->method_count > sizeof(unknown) / sizeof(unknown[0]))
		return RETYPE_NOTHING;
	return retype_object(r->types, class->methods, unknown, class->method_count);
}

static void seed_object(
	struct retyping *r, uint32_t rank, const struct snap_cell *cell, void *context)
{
	(void)context;
	const struct retype_class *class = retyping_class(r, cell);
	if (class)
		retyping_seed(r, HG_INFERRED, (uint32_t)(class - r->types->classes), rank,
			cell->address, type_of_class(r, class));
}

enum hg_status retyping_seed_objects(struct retyping *r)
{
	if (r->types->class_count == 0)
		return HG_OK;
	return retyping_sweep_tag(r, SNAP_TAG_OBJECT, true, seed_object, NULL);
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

/*
 * An object that was reached as of its class and as of one that the class inherits from, too, has
 * the methods of both for a type: those of its class.
 */
static void name_object(
	struct retyping *r, uint32_t rank, const struct snap_cell *cell, void *context)
{
	struct retype_map *names = context;
	struct retype_term type = {r->blocks[rank].type};
	uint64_t known;
	if (retype_view(r->types, type).kind != RETYPE_OBJECT)
		return;
	const struct retype_class *class = retyping_class(r, cell);
	if (!class || r->status != HG_OK)
		return;
	uint64_t key = (uint64_t)(class - r->types->classes) + 1;
	if (!retype_map_get(names, key, &known)) {
		known = declared_type(r->types, class).n;
		r->status = retype_map_set(names, key, known, r->error);
	}
	struct retype_term named = {(uint32_t)known};
	if (named.n && retype_is(retype_expand(r->types, named, RETYPE_DEEPEST),
			       retype_expand(r->types, type, RETYPE_DEEPEST)))
		r->blocks[rank].type = named.n;
}

enum hg_status retyping_name_objects(struct retyping *r)
{
	struct retype_map names = {0};
	if (r->types->class_count == 0)
		return HG_OK;
	enum hg_status status = retyping_sweep_tag(r, SNAP_TAG_OBJECT, false, name_object, &names);
	retype_map_clear(&names);
	return status != HG_OK ? status : r->status;
}
