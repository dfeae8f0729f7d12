/* Seeds in the blocks of compilation units. */
#include "retype/infer/seeds/seeds.h"

#include "retype/infer/value_blocks.h"

#include <stdlib.h>
#include <string.h>

enum { UNIT = 1 }; /* the value () */

/* A field that is () may be so because the code of the unit has not ended. */
static bool may_wait(struct infer_seeder *seeder, const struct snap_unit *block, uint64_t field,
	struct retype_term type)
{
	uint64_t value;
	return type.n && !infer_is_immediate(seeder->in->types, type) &&
	       snap_process_word(seeder->in->snap, snap_unit_field(block, field), &value) &&
	       value == UNIT;
}

struct globals {
	struct infer_seeder *seeder;
	struct base_map blocks; /* of one field: numbers by their addresses, once asked for */
	bool indexed;
};

static void index_blocks(struct globals *globals)
{
	const struct snap *snap = globals->seeder->in->snap;
	struct infer_failure *failure = globals->seeder->failure;
	globals->indexed = true;
	for (uint64_t i = 0; i < snap->unit_count && failure->status == HG_OK; i++)
		if (snap->units[i].wosize == 1)
			failure->status = base_map_set(
				&globals->blocks, snap->units[i].block.a, i, failure->error);
}

/* The block that the value waits in is called as the field. */
static void name_block(
	struct globals *globals, uint64_t source, uint32_t origin, uint64_t field, const char *name)
{
	const struct infer_input *in = globals->seeder->in;
	const struct retype_unit *unit = &in->types->units[origin];
	uint64_t number;
	if (!globals->indexed)
		index_blocks(globals);
	if (!name[0] || !base_map_get(&globals->blocks, source, &number))
		return;
	struct infer_value_block value = {
		.unit = origin, .name = name, .name_length = (uint32_t)strlen(name)};
	if (field < unit->place_count)
		value.place = unit->places[field];
	infer_note_value_block(
		in->value_blocks, in->snap->units[number].name, &value, globals->seeder->failure);
}

/* Values that the code of the unit has kept elsewhere until now. */
static void seed_waiting(struct globals *globals, const struct snap_unit *block, uint32_t origin,
	const struct retype_field *fields, uint64_t count)
{
	struct infer_seeder *seeder = globals->seeder;
	const struct snap *snap = seeder->in->snap;
	uint64_t i = 0, value;
	while (i < count && !may_wait(seeder, block, i, fields[i].type))
		i++;
	if (i == count || !snap->process || seeder->failure->status != HG_OK)
		return;
	uint64_t *sources = calloc(block->wosize, sizeof(*sources));
	if (!sources) {
		seeder->failure->status =
			base_no_memory(seeder->failure->error, block->wosize * sizeof(*sources));
		return;
	}
	seeder->failure->status =
		snap_process_unit_sources(snap, block, sources, seeder->failure->error);
	for (; i < count && seeder->failure->status == HG_OK; i++)
		if (sources[i] && may_wait(seeder, block, i, fields[i].type) &&
			snap_process_word(snap, sources[i], &value)) {
			infer_seed_value(seeder, HG_EXACT, origin, value, fields[i].type);
			name_block(globals, sources[i], origin, i, fields[i].name);
		}
	free(sources);
}

static void seed_unit_fields(struct globals *globals, const struct snap_unit *block,
	uint32_t origin, enum hg_confidence sure, const struct retype_field *fields, uint64_t count)
{
	struct infer_seeder *seeder = globals->seeder;
	const struct snap *snap = seeder->in->snap;
	uint64_t value;
	if (sure != seeder->sure)
		return;
	count = count < block->wosize ? count : block->wosize;
	for (uint64_t i = 0; i < count; i++)
		if (snap_process_word(snap, snap_unit_field(block, i), &value))
			infer_seed_value(seeder, sure, origin, value, fields[i].type);
	if (sure == HG_EXACT)
		seed_waiting(globals, block, origin, fields, count);
}

/* As far as the block is that of the profile; see retype/profile/agree.h. */
static void seed_named_unit(struct globals *globals, const struct snap_unit *block, uint32_t number)
{
	const struct retype_unit *unit = &globals->seeder->in->types->units[number];
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
	seed_unit_fields(globals, block, number, sure, unit->fields, count);
}

enum hg_status seeds_globals(struct infer_seeder *seeder)
{
	const struct snap *snap = seeder->in->snap;
	struct globals globals = {.seeder = seeder};
	if (!snap->process)
		return HG_OK;
	for (uint64_t i = 0; i < snap->unit_count; i++) {
		uint32_t number = retype_unit_named(seeder->in->types, snap->units[i].name);
		if (number != RETYPE_NONE)
			seed_named_unit(&globals, &snap->units[i], number);
	}
	base_map_release(&globals.blocks);
	return HG_OK;
}
