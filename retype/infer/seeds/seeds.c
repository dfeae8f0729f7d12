/* Which families a stratum asks. */
#include "retype/infer/seeds/seeds.h"

/* Closures in what closures have captured. */
enum { MOST_NESTED = 8 };

/*
 * Samples come after all that holds blocks: a block may have got another type since it was made
 * (unsafe_to_string, "%identity"), and then what holds it tells.  So a program that is sampled has
 * all types that it would have otherwise.
 *
 * Exceptions come late, to blocks that have no type: a module's block that begins with an exception
 * looks like a value of it.
 */
static const struct infer_stratum strata[] = {
	{HG_EXACT, {seeds_globals, seeds_locations}, 0},
	{HG_INFERRED,
		{seeds_closures, seeds_locations, seeds_objects, seeds_definitions,
			seeds_recognised},
		0},
	{HG_INFERRED, {seeds_instances}, MOST_NESTED},
	{HG_EXACT, {seeds_samples}, 0},
	{HG_INFERRED, {seeds_samples}, 0},
	{HG_INFERRED, {seeds_sampled_instances}, MOST_NESTED},
	{HG_GUESSED, {seeds_globals, seeds_locations}, 0},
	{HG_INFERRED, {seeds_exceptions}, 0},
	{HG_EXACT, {seeds_slots, seeds_customs}, 0},
};

const struct infer_plan seeds_plan = {
	strata, sizeof(strata) / sizeof(strata[0]), seeds_name_objects};
