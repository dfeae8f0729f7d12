/* Seeds in the blocks of compilation units. */
#include "retype/infer/parts.h"

#include <stdlib.h>

enum { UNIT = 1 }; /* the value () */

/* A field that is () may be so because the code of the unit has not ended. */
static bool may_wait(
	struct retyping *r, const struct snap_unit *block, uint64_t field, struct retype_term type)
{
	uint64_t value;
	return type.n && !retyping_is_immediate(r, type) &&
	       r->snap->format->word_at(r->snap, snap_unit_field(block, field), &value) &&
	       value == UNIT;
}

/* Values that the code of the unit has kept elsewhere until now. */
static void seed_waiting(struct retyping *r, const struct snap_unit *block, uint32_t origin,
	const struct retype_field *fields, uint64_t count)
{
	const struct snap *snap = r->snap;
	uint64_t i = 0, value;
	while (i < count && !may_wait(r, block, i, fields[i].type))
		i++;
	if (i == count || !snap->format->unit_sources || r->status != HG_OK)
		return;
	uint64_t *sources = calloc(block->wosize, sizeof(*sources));
	if (!sources) {
		r->status = base_no_memory(r->error, block->wosize * sizeof(*sources));
		return;
	}
	r->status = snap->format->unit_sources(snap, block, sources, r->error);
	for (; i < count && r->status == HG_OK; i++)
		if (sources[i] && may_wait(r, block, i, fields[i].type) &&
			snap->format->word_at(snap, sources[i], &value))
			retyping_seed_value(r, HG_EXACT, origin, value, fields[i].type);
	free(sources);
}

static void seed_fields(struct retyping *r, const struct snap_unit *block, uint32_t origin,
	enum hg_confidence sure, const struct retype_field *fields, uint64_t count)
{
	const struct snap *snap = r->snap;
	uint64_t value;
	if (sure != r->stratum->sure)
		return;
	count = count < block->wosize ? count : block->wosize;
	for (uint64_t i = 0; i < count; i++)
		if (snap->format->word_at(snap, snap_unit_field(block, i), &value))
			retyping_seed_value(r, sure, origin, value, fields[i].type);
	if (sure == HG_EXACT)
		seed_waiting(r, block, origin, fields, count);
}

/* As far as the block is that of the profile; see agree.c. */
static void seed_unit(struct retyping *r, const struct snap_unit *block, uint32_t number)
{
	const struct retype_unit *unit = &r->types->units[number];
	enum hg_confidence sure = HG_EXACT;
	uint64_t count = unit->field_count;
	if (!unit->fields)
		return;
	switch (unit->agreement) {
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
