/*
 * What an integer stands for in a type.
 */
#include "retype/types/names.h"

#include "retype/types/fit.h"
#include "retype/types/instance.h"
#include "retype/types/nodes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 32 };

static const char *constant_name(const struct retype_declaration *declaration, int64_t value)
{
	for (uint32_t i = 0; i < declaration->constructor_count; i++)
		if (declaration->constructors[i].is_constant && value-- == 0)
			return declaration->constructors[i].name;
	return NULL;
}

/* As OCaml's Char.escaped. */
static const char *character_name(int64_t value, char text[LONGEST])
{
	static const char named[][2] = {
		{'\'', '\''}, {'\\', '\\'}, {'\n', 'n'}, {'\t', 't'}, {'\r', 'r'}, {'\b', 'b'}};
	if (value < 0 || value > UINT8_MAX)
		return NULL;
	for (unsigned i = 0; i < sizeof(named) / sizeof(*named); i++)
		if (named[i][0] == (char)value) {
			snprintf(text, LONGEST, "'\\%c'", named[i][1]);
			return text;
		}
	snprintf(text, LONGEST, value >= ' ' && value <= '~' ? "'%c'" : "'\\%03d'", (int)value);
	return text;
}

static const char *predefined_name(const char *base, int64_t value, char text[LONGEST])
{
	if (strcmp(base, "char") == 0)
		return character_name(value, text);
	if (strcmp(base, "bool") == 0)
		return value == 0 ? "false" : value == 1 ? "true" : NULL;
	if (strcmp(base, "unit") == 0)
		return value == 0 ? "()" : NULL;
	if (strcmp(base, "int") != 0)
		return NULL;
	snprintf(text, LONGEST, "%" PRId64, value);
	return text;
}

/* The text, or a name that lives longer; NULL if nothing tells.  *prefix: what goes before it. */
static const char *name_immediate(struct retype_types *types, struct retype_term term,
	int64_t value, char text[LONGEST], const char **prefix, unsigned *steps)
{
	if (*steps == 0)
		return NULL;
	--*steps;
	term = retype_expand(types, term, RETYPE_DEEPEST);
	term = retype_alternatives(types, term);
	struct retype_node node = *retype_node_of(types, term);
	if (node.kind == RETYPE_POLY_VARIANT) {
		const char *name;
		retype_tagged(types, term, value, &name);
		*prefix = "`";
		return name;
	}
	if (node.kind == RETYPE_SET) {
		const char *found = NULL;
		for (uint32_t i = 0; i < node.count && !found; i++) {
			*prefix = "";
			found = name_immediate(
				types, retype_argument(types, term, i), value, text, prefix, steps);
		}
		return found;
	}
	const struct retype_declaration *declaration = retype_declared(types, term);
	if (!declaration)
		return NULL;
	if (declaration->form == RETYPE_IMMEDIATE && declaration->base)
		return predefined_name(declaration->base, value, text);
	if (declaration->form == RETYPE_VARIANT)
		return constant_name(declaration, value);
	if (declaration->form == RETYPE_LAZY)
		return name_immediate(
			types, retype_argument(types, term, 0), value, text, prefix, steps);
	if (declaration->form == RETYPE_UNBOXED && !declaration->unboxed.is_gadt)
		return name_immediate(types,
			retype_apply(types, declaration->inner, term, RETYPE_DEEPEST), value, text,
			prefix, steps);
	return NULL;
}

size_t retype_immediate(struct retype_types *types, struct retype_term term, int64_t value,
	char *buffer, size_t size)
{
	char text[LONGEST];
	const char *prefix = "";
	unsigned steps = RETYPE_MOST_EXPANSIONS;
	const char *name = name_immediate(types, term, value, text, &prefix, &steps);
	int length = snprintf(buffer, size, "%s%s", name ? prefix : "", name ? name : "");
	return length < 0 ? 0 : (size_t)length;
}
