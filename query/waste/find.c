/* Rows of what is found, and what all passes ask of types and blocks. */
#include "query/waste/find.h"

enum hg_status waste_add(struct waste *waste, const struct hg_waste_row *row)
{
	if (row->saved_bytes == 0)
		return HG_OK;
	BASE_TRY(query_grow(waste->snapshot, &waste->rows, waste->count, &waste->capacity,
		sizeof(*waste->rows)));
	waste->rows[waste->count++] = *row;
	return HG_OK;
}

const struct retype_declaration *waste_declaration(
	const struct hg_snapshot *snapshot, struct retype_term type)
{
	const struct retype_types *types = &snapshot->retype.types;
	if (type.n == 0)
		return NULL;
	struct retype_view view = retype_view_of(types, type);
	return view.kind == RETYPE_CONSTRUCTED ? &types->declarations[view.number] : NULL;
}

bool waste_is_static(const struct hg_snapshot *snapshot, uint32_t rank)
{
	struct snap_header_address header =
		snap_ranks_header(&snapshot->snap.ranks, (struct snap_rank){rank});
	return query_segment(&snapshot->snap, header) == HG_SEGMENT_STATIC;
}
