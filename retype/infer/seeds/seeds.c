/* Which families a stratum asks. */
#include "retype/infer/seeds/seeds.h"

/*
 * Samples come after all that holds blocks: a block may have got another type since it was made
 * (unsafe_to_string, "%identity"), and then what holds it tells.  So a program that is sampled has
 * all types that it would have otherwise.
 *
 * Exceptions come late, to blocks that have no type: a module's block that begins with an exception
 * looks like a value of it.
 */
static const struct infer_stratum strata[] = {
	{HG_EXACT, {seeds_globals, seeds_locations}},
	{HG_INFERRED, {seeds_closures, seeds_locations, seeds_objects, seeds_definitions,
			      seeds_recognised}},
	{HG_EXACT, {seeds_samples}},
	{HG_INFERRED, {seeds_samples}},
	{HG_GUESSED, {seeds_globals, seeds_locations}},
	{HG_INFERRED, {seeds_exceptions}},
	{HG_EXACT, {seeds_slots, seeds_customs}},
};

const struct infer_plan seeds_plan = {
	strata, sizeof(strata) / sizeof(strata[0]), seeds_name_objects};
