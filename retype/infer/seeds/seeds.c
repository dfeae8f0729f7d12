/* Which families a stratum asks. */
#include "retype/infer/seeds/seeds.h"

/*
 * Exceptions come late, to blocks that have no type: a module's block that begins with an exception
 * looks like a value of it.
 */
static const struct infer_stratum strata[] = {
	{HG_EXACT, {seeds_globals, seeds_locations}},
	{HG_INFERRED, {seeds_closures, seeds_locations, seeds_objects, seeds_definitions,
			      seeds_recognised}},
	{HG_GUESSED, {seeds_globals, seeds_locations}},
	{HG_INFERRED, {seeds_exceptions}},
	{HG_EXACT, {seeds_slots, seeds_customs}},
};

const struct infer_plan seeds_plan = {
	strata, sizeof(strata) / sizeof(strata[0]), seeds_name_objects};
