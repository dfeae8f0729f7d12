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
	{HG_EXACT, 0, {seeds_globals, seeds_locations}},
	{HG_INFERRED, 0,
		{seeds_closures, seeds_locations, seeds_objects, seeds_definitions,
			seeds_recognised}},
	{HG_INFERRED, MOST_NESTED, {seeds_instances}},
	{HG_EXACT, 0, {seeds_samples}},
	{HG_INFERRED, 0, {seeds_samples}},
	{HG_INFERRED, MOST_NESTED, {seeds_sampled_instances}},
	{HG_GUESSED, 0, {seeds_globals, seeds_locations}},
	{HG_INFERRED, 0, {seeds_exceptions}},
	{HG_EXACT, 0, {seeds_slots, seeds_customs}},
};

const struct infer_plan seeds_plan = {
	strata, sizeof(strata) / sizeof(strata[0]), seeds_name_objects};
