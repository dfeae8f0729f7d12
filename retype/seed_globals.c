/* Seeds in the blocks of compilation units. */
#include "retype/parts.h"

static void seed_fields(struct retyping *r, const struct snap_unit *block, uint32_t origin,
	enum hg_confidence sure, const struct retype_field *fields, uint64_t count)
{
	const struct snap *snap = r->snap;
	uint64_t value;
	for (uint64_t i = 0; i < count && i < block->wosize; i++)
		if (snap->format->word_at(snap, block->block + 8 * i, &value))
			retyping_seed_value(r, sure, origin, value, fields[i].type);
}

/* As far as the block is that of the profile; see retype_unit_agrees(). */
static void seed_unit(struct retyping *r, const struct snap_unit *block, uint32_t number)
{
	const struct retype_unit *unit = &r->types->units[number];
	enum hg_confidence sure = HG_EXACT;
	uint64_t count = unit->field_count;
	if (!unit->fields)
		return;
	switch (retype_unit_agrees(unit, block, r->snap)) {
	case RETYPE_UNIT_SAME:
		break;
	case RETYPE_UNIT_REBUILT:
		sure = HG_GUESSED;
		count = unit->exported;
		break;
	case RETYPE_UNIT_STALE:
		return;
	}
	seed_fields(r, block, number, sure, unit->fields, count);
}

enum hg_status retyping_seed_globals(struct retyping *r)
{
	const struct snap *snap = r->snap;
	if (!snap->format->word_at)
		return HG_OK;
	for (uint64_t i = 0; i < snap->unit_count; i++) {
		uint32_t number = retype_unit_named(r->types, snap->units[i].name);
		if (number != RETYPE_NONE)
			seed_unit(r, &snap->units[i], number);
	}
	return HG_OK;
}
