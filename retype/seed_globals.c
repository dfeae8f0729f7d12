/*
 * Seeds in the blocks of compilation units, and at symbols of their own, which flambda gives to
 * values.
 */
#include "retype/parts.h"

#include <string.h>

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

/* With flambda "let x = f ()" has a block of its own, whose one field is the value. */
static void seed_definition(struct retyping *r, const struct snap_unit *block)
{
	const struct retype_value *value = retype_value_symbol(r->types, block->name);
	const struct retype_field field = {
		.name = "", .type = value ? value->type : RETYPE_NOTHING};
	if (value && block->wosize == 1)
		seed_fields(r, block, value->unit, HG_EXACT, &field, 1);
}

/* With flambda constants, and closures, are at symbols with their names. */
static void seed_static(
	struct retyping *r, uint32_t rank, const struct snap_cell *cell, void *context)
{
	(void)context;
	struct snap_code_symbol symbol;
	uint64_t block = cell->address + 8;
	if (!retyping_is_static(r, cell->address >> 3) ||
		!r->snap->format->code_symbol(r->snap, block, &symbol) ||
		symbol.code.start != block || strncmp(symbol.name, "caml", 4) != 0)
		return;
	const struct retype_value *value = retype_value_symbol(r->types, symbol.name + 4);
	if (value)
		retyping_seed(r, HG_EXACT, value->unit, rank, cell->address >> 3, value->type);
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
		else
			seed_definition(r, &snap->units[i]);
	}
	if (r->stratum->sure == HG_EXACT && r->types->value_count && snap->static_count &&
		snap->format->code_symbol)
		return retyping_sweep(r, NULL, seed_static, NULL);
	return HG_OK;
}
