/*
 * What a profile says of units that the program has otherwise is not believed.
 *
 * Types that such a unit declares are abstract then, also where other units use them; its
 * exceptions and classes, its locations and functions are as if the profile had none.
 */
#include "retype/profile/distrust.h"

#include "base/assert.h"
#include "base/hash.h"

#include <string.h>

struct distrust {
	struct retype_types *types;
	struct base_map names; /* hashes of how the names of its types begin */
};

/* "A__B" is "A.B" in the names of types (docs/exe-prof.md); exceptions keep "Stdlib" in front. */
static uint64_t hash_unit(const char *name)
{
	const struct base_secret *secret = base_process_secret();
	uint64_t hash = 0;
	for (; *name; name++) {
		bool is_separator = name[0] == '_' && name[1] == '_';
		hash = base_hash_join(secret, hash, is_separator ? '.' : (unsigned char)*name);
		name += is_separator;
	}
	return hash;
}

static const char *without(const char *name, const char *prefix)
{
	size_t length = strlen(prefix);
	return strncmp(name, prefix, length) == 0 ? name + length : name;
}

static enum hg_status add_unit_names(struct distrust *d, const char *name)
{
	const char *printed = without(without(name, "Stdlib__"), "Dune__exe__");
	struct hg_error *error = d->types->error;
	BASE_TRY(base_map_set(&d->names, hash_unit(name), 0, error));
	return base_map_set(&d->names, hash_unit(printed), 0, error);
}

/* Whether the path "A.B.t" leads through a unit that is not believed. */
static bool is_within(const struct distrust *d, const char *path)
{
	const struct base_secret *secret = base_process_secret();
	uint64_t hash = 0, none;
	for (; *path && *path != '('; path++) {
		if (*path == '.' && base_map_get(&d->names, hash, &none))
			return true;
		hash = base_hash_join(secret, hash, (unsigned char)*path);
	}
	return false;
}

static void forget_declarations(struct distrust *d)
{
	for (uint32_t i = 0; i < d->types->declaration_count; i++) {
		struct retype_declaration *declaration = &d->types->declarations[i];
		if (!declaration->base && is_within(d, declaration->name))
			*declaration = (struct retype_declaration){.name = declaration->name,
				.parameters = declaration->parameters,
				.origin = declaration->origin,
				.is_instance = declaration->is_instance,
				.form = RETYPE_ABSTRACT};
	}
}

static void forget_names(struct distrust *d)
{
	struct retype_types *types = d->types;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < types->extension_count; i++)
		if (!is_within(d, types->extensions[i].name))
			types->extensions[kept++] = types->extensions[i];
	base_assert(kept <= types->extension_count);
	types->extension_count = kept;
	kept = 0;
	for (uint32_t i = 0; i < types->class_count; i++)
		if (!is_within(d, types->classes[i].name))
			types->classes[kept++] = types->classes[i];
	types->class_count = kept;
}

static bool is_of_other_build(const struct retype_types *types, uint32_t unit)
{
	return unit < types->unit_count && types->units[unit].agreement != RETYPE_UNIT_SAME;
}

static void forget_locations(struct retype_types *types)
{
	for (uint32_t i = 0; i < types->location_count; i++) {
		struct retype_location *location = &types->locations[i];
		if (is_of_other_build(types, location->unit)) {
			location->function = RETYPE_NONE;
			location->made = NULL;
			location->made_count = 0;
		}
	}
}

/* By number functions stay where they are; nothing leads to one without identifier and location. */
static void forget_functions(struct retype_types *types)
{
	for (uint32_t i = 0; i < types->function_count; i++)
		if (is_of_other_build(types, types->functions[i].unit))
			types->functions[i] = (struct retype_function){
				.unit = types->functions[i].unit, .ident = "fun", .file = ""};
	uint32_t kept = 0;
	for (uint32_t i = 0; i < types->value_count; i++)
		if (!is_of_other_build(types, types->values[i].unit))
			types->values[kept++] = types->values[i];
	types->value_count = kept;
}

enum hg_status retype_distrust(struct retype_types *types)
{
	struct distrust d = {.types = types};
	enum hg_status status = HG_OK;
	bool any = false;
	for (uint32_t i = 0; i < types->unit_count && status == HG_OK; i++) {
		any |= is_of_other_build(types, i);
		if (types->units[i].agreement == RETYPE_UNIT_STALE)
			status = add_unit_names(&d, types->units[i].name);
	}
	if (status == HG_OK && any) {
		forget_declarations(&d);
		forget_names(&d);
		forget_locations(types);
		forget_functions(types);
		retype_lookups_release(types);
		retype_locations_release(types);
	}
	base_map_release(&d.names);
	return status;
}
