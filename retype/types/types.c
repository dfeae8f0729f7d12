/*
 * The parts of a type table are made and released in one order, each by the file it belongs to.
 */
#include "retype/types/types.h"

#include "retype/types/nodes.h"

#include <stdlib.h>

static enum hg_status init_parts(struct retype_types *types)
{
	BASE_TRY(retype_strings_init(types));
	BASE_TRY(retype_nodes_init(types));
	BASE_TRY(retype_instances_init(types));
	BASE_TRY(retype_joins_init(types));
	BASE_TRY(retype_fits_init(types));
	retype_declare_predefined(types);
	return types->status;
}

enum hg_status retype_types_init(struct retype_types *types, struct hg_error *error)
{
	*types = (struct retype_types){.error = error, .ocaml_version = ""};
	enum hg_status status = init_parts(types);
	if (status != HG_OK)
		retype_types_release(types);
	return status;
}

void retype_types_release(struct retype_types *types)
{
	retype_locations_release(types);
	retype_lookups_release(types);
	retype_fits_release(types);
	retype_joins_release(types);
	retype_instances_release(types);
	retype_nodes_release(types);
	retype_strings_release(types);
	free(types->declarations);
	free(types->layouts);
	base_pool_release(&types->pool);
	*types = (struct retype_types){0};
}
