/*
 * Which values of the profile the variables are that closures of bytecode have captured: those of
 * the toplevel of a unit, which native code finds in the unit's block.
 */
#ifndef RETYPE_INFER_SEEDS_VARIABLES_H
#define RETYPE_INFER_SEEDS_VARIABLES_H

#include "retype/infer/seeds/seeds.h"

struct seeds_variables {
	struct infer_seeder *seeder;
	struct base_map values; /* numbers of values + 1 by unit and variable */
};

enum hg_status seeds_variables_init(struct seeds_variables *v, struct infer_seeder *seeder);
void seeds_variables_release(struct seeds_variables *v);

/* The value of the profile that a captured variable is; NULL if it is none. */
const struct retype_value *seeds_captured_value(
	const struct seeds_variables *v, const struct snap_captured *captured);

#endif
