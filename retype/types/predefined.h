/*
 * The types that the compiler knows by itself, and those of the standard library that only the
 * runtime knows how to represent: the BASEs of docs/exe-prof.md.  Every table begins with their
 * declarations, in this order.
 */
#ifndef RETYPE_TYPES_PREDEFINED_H
#define RETYPE_TYPES_PREDEFINED_H

#include "retype/types/table.h"

/* Numbers of declarations. */
enum {
	RETYPE_BASE_INT,
	RETYPE_BASE_CHAR,
	RETYPE_BASE_BOOL,
	RETYPE_BASE_UNIT,
	RETYPE_BASE_STRING,
	RETYPE_BASE_BYTES,
	RETYPE_BASE_FLOAT,
	RETYPE_BASE_INT32,
	RETYPE_BASE_INT64,
	RETYPE_BASE_NATIVEINT,
	RETYPE_BASE_ARRAY,
	RETYPE_BASE_LAZY,
	RETYPE_BASE_EXN,
	RETYPE_BASE_EXTCON,
	RETYPE_BASE_FLOATARRAY,
	RETYPE_BASE_CUSTOM,
	RETYPE_BASE_ANY,
	RETYPE_BASE_WEAK,
	RETYPE_BASE_EPHEMERON,
	RETYPE_BASE_ATOMIC,
	RETYPE_BASE_OBJECT,
	RETYPE_BASE_MODULE,
	RETYPE_BASE_CONT,
	RETYPE_BASE_UNKNOWN,
	RETYPE_BASES
};

void retype_declare_predefined(struct retype_types *types);

/* The number of the declaration of a BASE; RETYPE_NONE if there is none so called. */
uint32_t retype_base_declaration(const char *base);

/* A BASE applied to unknown arguments; RETYPE_NOTHING if there is none so called. */
struct retype_term retype_base(struct retype_types *types, const char *base);

/* The form of a BASE; false if there is none so called. */
bool retype_base_form(const char *base, enum retype_form *form);

#endif
