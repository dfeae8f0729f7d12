/*
 * The families of seeds and the order in which they are asked, as data: to add a family is to add a
 * file here and a row to the table of seeds.c.
 */
#ifndef RETYPE_INFER_SEEDS_SEEDS_H
#define RETYPE_INFER_SEEDS_SEEDS_H

#include "retype/infer/infer.h"
#include "retype/infer/seed.h"

/* Fields of units: by the name of the unit, by single definitions' blocks, by what they hold. */
infer_family_fn seeds_globals, seeds_definitions, seeds_recognised;
/* Blocks whose allocation's location is known: by ids in their headers, by samples. */
infer_family_fn seeds_locations, seeds_samples;
/*
 * What closures have captured; the same, as the type tells by which a closure is known before the
 * stratum, and if there are samples; objects by their methods.
 */
infer_family_fn seeds_closures, seeds_instances, seeds_sampled_instances, seeds_objects;
/* Blocks that say what they are. */
infer_family_fn seeds_exceptions, seeds_slots, seeds_customs;

/* Gives objects that are known by their methods the name of their class. */
enum hg_status seeds_name_objects(struct infer_seeder *seeder, struct infer_work *work);

/* All of it, in the order of its strata. */
extern const struct infer_plan seeds_plan;

#endif
