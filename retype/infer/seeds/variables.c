/* By names and numbers, which are the compiler's own in the profile and in the program's events. */
#include "retype/infer/seeds/variables.h"

#include "snapshot/process.h"

#include <string.h>

static uint64_t key_of_variable(uint32_t unit, const char *variable)
{
	const struct base_secret *secret = base_process_secret();
	return base_hash_join(secret, unit, base_hash_bytes(secret, variable, strlen(variable)));
}

enum hg_status seeds_variables_init(struct seeds_variables *v, struct infer_seeder *seeder)
{
	const struct retype_types *types = seeder->in->types;
	*v = (struct seeds_variables){.seeder = seeder};
	if (seeder->in->snap->native)
		return HG_OK;
	for (uint64_t i = 0; i < types->value_count; i++)
		BASE_TRY(base_map_set(&v->values,
			key_of_variable(types->values[i].unit, types->values[i].ident), i + 1,
			seeder->failure->error));
	return HG_OK;
}

void seeds_variables_release(struct seeds_variables *v)
{
	base_map_release(&v->values);
}

const struct retype_value *seeds_captured_value(
	const struct seeds_variables *v, const struct snap_captured *captured)
{
	const struct retype_types *types = v->seeder->in->types;
	uint32_t unit = retype_unit_named(types, captured->unit);
	uint64_t number;
	if (unit == RETYPE_NONE || types->units[unit].agreement != RETYPE_UNIT_SAME ||
		!base_map_get(&v->values, key_of_variable(unit, captured->variable), &number))
		return NULL;
	return &types->values[number - 1];
}
