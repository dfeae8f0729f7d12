/*
 * Seeds in the blocks of single definitions: with flambda "let x = f ()" has a static block of one
 * field for its value, "camlUnit__x_12".  The number is flambda's own, so that the definition is
 * known by its name alone, if no other in the unit has it.  In bytecode it is the compiler's, which
 * the profile has, too.
 */
#include "retype/infer/seeds/seeds.h"

#include "retype/infer/value_blocks.h"

#include "base/assert.h"

#include <string.h>

/* A symbol without "caml": the unit, and the name before the number. */
struct definition {
	uint32_t unit;
	const char *name;
	size_t length;
};

/* Numbers of values + 1, by unit and name; 0: of several. */
struct definitions {
	struct infer_seeder *seeder;
	struct base_map values, blocks;
};

static size_t without_number(const struct infer_seeder *seeder, const char *name)
{
	size_t length = strlen(name), end = length;
	while (seeder->in->snap->native && end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	return end > 1 && end < length && name[end - 1] == '_' ? end - 1 : length;
}

static uint64_t key_of_definition(const struct definition *definition)
{
	const struct base_secret *secret = base_process_secret();
	return base_hash_join(secret, definition->unit,
		base_hash_bytes(secret, definition->name, definition->length));
}

static enum hg_status add_definition(struct definitions *d, struct base_map *map,
	const struct definition *definition, uint64_t number)
{
	uint64_t there, key = key_of_definition(definition);
	if (base_map_get(map, key, &there))
		number = 0;
	return base_map_set(map, key, number, d->seeder->failure->error);
}

/* Parts of units' names are joined by "__", too: the last one that leaves a unit of the profile. */
static bool split_symbol(
	const struct infer_seeder *seeder, const char *symbol, struct definition *out)
{
	const struct retype_types *types = seeder->in->types;
	char unit[512];
	size_t length = strlen(symbol);
	for (size_t i = length; i-- > 1;) {
		size_t separator = symbol[i] == '.'                           ? 1
				   : symbol[i] == '_' && symbol[i + 1] == '_' ? 2
									      : 0;
		if (!separator || i >= sizeof(unit))
			continue;
		memcpy(unit, symbol, i);
		unit[i] = '\0';
		out->unit = retype_unit_named(types, unit);
		if (out->unit == RETYPE_NONE)
			continue;
		out->name = symbol + i + separator;
		out->length = without_number(seeder, out->name);
		return out->length > 0;
	}
	return false;
}

static bool is_definition(
	const struct infer_seeder *seeder, const struct snap_unit *block, struct definition *out)
{
	return block->wosize == 1 &&
	       retype_unit_named(seeder->in->types, block->name) == RETYPE_NONE &&
	       split_symbol(seeder, block->name, out);
}

static enum hg_status index_definitions(struct definitions *d)
{
	struct infer_seeder *seeder = d->seeder;
	struct definition definition;
	for (uint32_t i = 0; i < seeder->in->types->value_count; i++) {
		const struct retype_value *value = &seeder->in->types->values[i];
		definition = (struct definition){
			value->unit, value->ident, without_number(seeder, value->ident)};
		BASE_TRY(add_definition(d, &d->values, &definition, (uint64_t)i + 1));
	}
	for (uint64_t i = 0; i < seeder->in->snap->unit_count; i++)
		if (is_definition(seeder, &seeder->in->snap->units[i], &definition))
			BASE_TRY(add_definition(d, &d->blocks, &definition, i + 1));
	return HG_OK;
}

static void seed_definition(struct definitions *d, uint64_t number)
{
	struct infer_seeder *seeder = d->seeder;
	const struct snap_unit *block = &seeder->in->snap->units[number];
	struct definition definition;
	uint64_t value, only, word;
	if (!is_definition(seeder, block, &definition) ||
		!base_map_get(&d->blocks, key_of_definition(&definition), &only) || only == 0 ||
		!base_map_get(&d->values, key_of_definition(&definition), &value) || value == 0 ||
		!snap_process_word(seeder->in->snap, block->block.a, &word))
		return;
	base_assert(value <= seeder->in->types->value_count);
	const struct retype_value *v = &seeder->in->types->values[value - 1];
	infer_seed_value(seeder, HG_INFERRED, (uint32_t)value - 1, word, v->type);
	infer_note_value_block(seeder->in->value_blocks, block->name,
		&(struct infer_value_block){.unit = v->unit,
			.name = v->ident,
			.name_length = (uint32_t)without_number(seeder, v->ident),
			.place = v->place},
		seeder->failure);
}

enum hg_status seeds_definitions(struct infer_seeder *seeder)
{
	struct definitions d = {.seeder = seeder};
	if (!seeder->in->snap->process || seeder->in->types->value_count == 0)
		return HG_OK;
	enum hg_status status = index_definitions(&d);
	for (uint64_t i = 0; i < seeder->in->snap->unit_count && status == HG_OK; i++)
		seed_definition(&d, i);
	base_map_release(&d.values);
	base_map_release(&d.blocks);
	return status;
}
