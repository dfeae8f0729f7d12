/*
 * Growing the arrays that more than one reader adds to, and memory for fields.
 */
#include "retype/types/table.h"

#include "base/grow.h"

/* Arrays of both double from 64 on, so that their size follows from the count. */
static bool make_room_in(struct retype_types *types, void *array, uint32_t count, size_t size)
{
	uint64_t capacity = count < 64 ? 64 : count;
	void **pointer = array;
	if (*pointer && (count < 64 || (count & (count - 1)) != 0))
		return true;
	if (!*pointer)
		capacity = 0;
	enum hg_status status = count == UINT32_MAX
					? base_no_memory(types->error, UINT64_MAX)
					: base_grow(array, count, &capacity, size, types->error);
	retype_keep_status(types, status);
	return status == HG_OK;
}

uint32_t retype_declare(struct retype_types *types, const struct retype_declaration *declaration)
{
	if (!make_room_in(
		    types, &types->declarations, types->declaration_count, sizeof(*declaration)))
		return RETYPE_NONE;
	types->declarations[types->declaration_count] = *declaration;
	return types->declaration_count++;
}

uint32_t retype_add_layout(struct retype_types *types, const struct retype_layout *layout)
{
	if (!make_room_in(types, &types->layouts, types->layout_count, sizeof(*layout)))
		return RETYPE_NONE;
	types->layouts[types->layout_count] = *layout;
	return types->layout_count++;
}

struct retype_field *retype_new_fields(struct retype_types *types, uint32_t count)
{
	void *fields;
	enum hg_status status = base_pool_alloc(
		&types->pool, count, sizeof(struct retype_field), &fields, types->error);
	if (status == HG_OK)
		return fields;
	retype_keep_status(types, status);
	return NULL;
}
