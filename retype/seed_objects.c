/* Objects: the class is told by the set of methods in their table. */
#include "retype/parts.h"

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
			cell->address >> 3, type_of_class(r, class));
}

enum hg_status retyping_seed_objects(struct retyping *r)
{
	if (r->types->class_count == 0)
		return HG_OK;
	return retyping_sweep_tag(r, SNAP_TAG_OBJECT, true, seed_object, NULL);
}
