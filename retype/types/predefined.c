/*
 * The predefined types as a table: what they are called in exe.prof and in OCaml, how their values
 * look, and how many parameters they have.
 */
#include "retype/types/predefined.h"

#include "retype/types/terms.h"

#include "base/assert.h"

#include <string.h>

static const struct predefined {
	const char *base, *name;
	enum retype_form form;
	uint32_t parameters;
} predefined[RETYPE_BASES] = {
	[RETYPE_BASE_INT] = {"int", "int", RETYPE_IMMEDIATE, 0},
	[RETYPE_BASE_CHAR] = {"char", "char", RETYPE_IMMEDIATE, 0},
	[RETYPE_BASE_BOOL] = {"bool", "bool", RETYPE_IMMEDIATE, 0},
	[RETYPE_BASE_UNIT] = {"unit", "unit", RETYPE_IMMEDIATE, 0},
	[RETYPE_BASE_STRING] = {"string", "string", RETYPE_STRING, 0},
	[RETYPE_BASE_BYTES] = {"bytes", "bytes", RETYPE_STRING, 0},
	[RETYPE_BASE_FLOAT] = {"float", "float", RETYPE_FLOAT, 0},
	[RETYPE_BASE_INT32] = {"int32", "int32", RETYPE_CUSTOM, 0},
	[RETYPE_BASE_INT64] = {"int64", "int64", RETYPE_CUSTOM, 0},
	[RETYPE_BASE_NATIVEINT] = {"nativeint", "nativeint", RETYPE_CUSTOM, 0},
	[RETYPE_BASE_ARRAY] = {"array", "array", RETYPE_ARRAY, 1},
	[RETYPE_BASE_LAZY] = {"lazy", "lazy_t", RETYPE_LAZY, 1},
	[RETYPE_BASE_EXN] = {"exn", "exn", RETYPE_EXTENSIBLE, 0},
	[RETYPE_BASE_EXTCON] = {"extcon", "extension_constructor", RETYPE_SLOT, 0},
	[RETYPE_BASE_FLOATARRAY] = {"floatarray", "floatarray", RETYPE_FLOAT_ARRAY, 0},
	[RETYPE_BASE_CUSTOM] = {"custom", "custom", RETYPE_CUSTOM, 0},
	[RETYPE_BASE_ANY] = {"any", "Obj.t", RETYPE_ANY, 0},
	[RETYPE_BASE_WEAK] = {"weak", "Weak.t", RETYPE_WEAK, 1},
	[RETYPE_BASE_EPHEMERON] = {"ephemeron", "Obj.Ephemeron.t", RETYPE_EPHEMERON, 0},
	[RETYPE_BASE_ATOMIC] = {"atomic", "Atomic.t", RETYPE_ATOMIC, 1},
	[RETYPE_BASE_OBJECT] = {"object", "object", RETYPE_SOME_OBJECT, 0},
	[RETYPE_BASE_MODULE] = {"module", "module", RETYPE_ABSTRACT, 0},
	[RETYPE_BASE_CONT] = {"cont", "continuation", RETYPE_CONTINUATION, 2},
	[RETYPE_BASE_UNKNOWN] = {"unknown", "unknown", RETYPE_ABSTRACT, 0},
};

void retype_declare_predefined(struct retype_types *types)
{
	for (uint32_t i = 0; i < RETYPE_BASES && types->status == HG_OK; i++) {
		uint32_t number =
			retype_declare(types, &(struct retype_declaration){
						      .name = predefined[i].name,
						      .base = predefined[i].base,
						      .form = predefined[i].form,
						      .parameters = predefined[i].parameters,
						      .origin = RETYPE_NONE,
						      .inner = RETYPE_NOTHING,
					      });
		base_assert(number == i || number == RETYPE_NONE);
		(void)number;
	}
}

uint32_t retype_base_declaration(const char *base)
{
	for (uint32_t i = 0; i < RETYPE_BASES; i++)
		if (strcmp(predefined[i].base, base) == 0)
			return i;
	return RETYPE_NONE;
}

bool retype_base_form(const char *base, enum retype_form *form)
{
	uint32_t number = retype_base_declaration(base);
	if (number == RETYPE_NONE)
		return false;
	*form = predefined[number].form;
	return true;
}

struct retype_term retype_base(struct retype_types *types, const char *base)
{
	uint32_t number = retype_base_declaration(base);
	if (number == RETYPE_NONE)
		return RETYPE_NOTHING;
	base_assert(number < types->declaration_count);
	struct retype_term unknown[2] = {RETYPE_NOTHING, RETYPE_NOTHING};
	return retype_constructed(types, number, unknown, predefined[number].parameters);
}
