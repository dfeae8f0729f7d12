/*
 * Seeds in the blocks of single definitions: with flambda "let x = f ()" has a static block of one
 * field for its value, "camlUnit__x_12".  The number is flambda's own, so that the definition is
 * known by its name alone, if no other in the unit has it.
 */
#include "retype/infer/parts.h"

#include <string.h>

/* A symbol without "caml": the unit, and the name before the number. */
struct definition {
	uint32_t unit;
	const char *name;
	size_t length;
};

/* Numbers of values + 1, by unit and name; 0: of several. */
struct definitions {
	struct retyping *r;
	struct retype_map values, blocks;
};

static size_t without_number(const char *name)
{
	size_t length = strlen(name), end = length;
	while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	return end > 1 && end < length && name[end - 1] == '_' ? end - 1 : length;
}

static uint64_t key_of(const struct definition *definition)
{
	return retype_map_hash_string(definition->unit, definition->name, definition->length);
}

static enum hg_status add_once(struct definitions *d, struct retype_map *map,
	const struct definition *definition, uint64_t number)
{
	uint64_t there, key = key_of(definition);
	if (retype_map_get(map, key, &there))
		number = 0;
	return retype_map_set(map, key, number, d->r->error);
}

/* Parts of units' names are joined by "__", too: the last one that leaves a unit of the profile. */
static bool split(const struct retyping *r, const char *symbol, struct definition *out)
{
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
		out->unit = retype_unit_named(r->types, unit);
		if (out->unit == RETYPE_NONE)
			continue;
		out->name = symbol + i + separator;
		out->length = without_number(out->name);
		return out->length > 0;
	}
	return false;
}

static bool is_definition(
	const struct retyping *r, const struct snap_unit *block, struct definition *out)
{
	return block->wosize == 1 && retype_unit_named(r->types, block->name) == RETYPE_NONE &&
	       split(r, block->name, out);
}

static enum hg_status index_all(struct definitions *d)
{
	struct retyping *r = d->r;
	struct definition definition;
	for (uint32_t i = 0; i < r->types->value_count; i++) {
		const struct retype_value *value = &r->types->values[i];
		definition = (struct definition){
			value->unit, value->ident, without_number(value->ident)};
		BASE_TRY(add_once(d, &d->values, &definition, (uint64_t)i + 1));
	}
	for (uint64_t i = 0; i < r->snap->unit_count; i++)
		if (is_definition(r, &r->snap->units[i], &definition))
			BASE_TRY(add_once(d, &d->blocks, &definition, i + 1));
	return HG_OK;
}

static void seed_block(struct definitions *d, uint64_t number)
{
	struct retyping *r = d->r;
	const struct snap_unit *block = &r->snap->units[number];
	struct definition definition;
	uint64_t value, only, word;
	if (!is_definition(r, block, &definition) ||
		!retype_map_get(&d->blocks, key_of(&definition), &only) || only == 0 ||
		!retype_map_get(&d->values, key_of(&definition), &value) || value == 0 ||
		!r->snap->format->word_at(r->snap, block->block.a, &word))
		return;
	retyping_seed_value(
		r, HG_INFERRED, (uint32_t)value - 1, word, r->types->values[value - 1].type);
}

enum hg_status retyping_seed_definitions(struct retyping *r)
{
	struct definitions d = {.r = r};
	if (!r->snap->format->word_at || r->types->value_count == 0)
		return HG_OK;
	enum hg_status status = index_all(&d);
	for (uint64_t i = 0; i < r->snap->unit_count && status == HG_OK; i++)
		seed_block(&d, i);
	retype_map_clear(&d.values);
	retype_map_clear(&d.blocks);
	return status;
}
