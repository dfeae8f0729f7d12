#include "retype/types/types_parts.h"

#include <string.h>

/*
 * The types that the compiler knows by itself, and those of the standard library that only the
 * runtime knows how to represent; the BASEs of docs/exe-prof.md.
 */
static const struct predefined {
	const char *base, *name;
	enum retype_form form;
	uint32_t parameters;
} predefined[] = {
	{"int", "int", RETYPE_IMMEDIATE, 0},
	{"char", "char", RETYPE_IMMEDIATE, 0},
	{"bool", "bool", RETYPE_IMMEDIATE, 0},
	{"unit", "unit", RETYPE_IMMEDIATE, 0},
	{"string", "string", RETYPE_STRING, 0},
	{"bytes", "bytes", RETYPE_STRING, 0},
	{"float", "float", RETYPE_FLOAT, 0},
	{"int32", "int32", RETYPE_CUSTOM, 0},
	{"int64", "int64", RETYPE_CUSTOM, 0},
	{"nativeint", "nativeint", RETYPE_CUSTOM, 0},
	{"array", "array", RETYPE_ARRAY, 1},
	{"lazy", "lazy_t", RETYPE_LAZY, 1},
	{"exn", "exn", RETYPE_EXTENSIBLE, 0},
	{"extcon", "extension_constructor", RETYPE_SLOT, 0},
	{"floatarray", "floatarray", RETYPE_FLOAT_ARRAY, 0},
	{"custom", "custom", RETYPE_CUSTOM, 0},
	{"any", "Obj.t", RETYPE_ANY, 0},
	{"weak", "Weak.t", RETYPE_WEAK, 1},
	{"ephemeron", "Obj.Ephemeron.t", RETYPE_EPHEMERON, 0},
	{"atomic", "Atomic.t", RETYPE_ATOMIC, 1},
	{"object", "object", RETYPE_SOME_OBJECT, 0},
	{"module", "module", RETYPE_ABSTRACT, 0},
	{"cont", "continuation", RETYPE_CONTINUATION, 2},
	{"unknown", "unknown", RETYPE_ABSTRACT, 0},
};

enum { PREDEFINED = sizeof(predefined) / sizeof(*predefined) };

void retype_declare_predefined(struct retype_types *types)
{
	for (uint32_t i = 0; i < PREDEFINED; i++)
		retype_declare(types, &(struct retype_declaration){
					      .name = predefined[i].name,
					      .base = predefined[i].base,
					      .form = predefined[i].form,
					      .parameters = predefined[i].parameters,
					      .origin = RETYPE_NONE,
					      .inner = RETYPE_NOTHING,
				      });
	types->terms->slot_declaration = retype_base_declaration(types, "extcon");
	types->terms->unit_declaration = retype_base_declaration(types, "unit");
	types->terms->float_declaration = retype_base_declaration(types, "float");
}

static uint32_t number_of(const char *base)
{
	for (uint32_t i = 0; i < PREDEFINED; i++)
		if (strcmp(predefined[i].base, base) == 0)
			return i;
	return RETYPE_NONE;
}

bool retype_base_form(const char *base, enum retype_form *form, uint32_t *parameters)
{
	uint32_t number = number_of(base);
	if (number == RETYPE_NONE)
		return false;
	*form = predefined[number].form;
	*parameters = predefined[number].parameters;
	return true;
}

/* They are the first ones of every table. */
uint32_t retype_base_declaration(const struct retype_types *types, const char *base)
{
	uint32_t number = number_of(base);
	return number < types->declaration_count ? number : RETYPE_NONE;
}

struct retype_term retype_base(struct retype_types *types, const char *base)
{
	uint32_t number = retype_base_declaration(types, base);
	if (number == RETYPE_NONE)
		return RETYPE_NOTHING;
	struct retype_term unknown[2] = {RETYPE_NOTHING, RETYPE_NOTHING};
	return retype_constructed(types, number, unknown, predefined[number].parameters);
}
