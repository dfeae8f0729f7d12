/*
 * Type terms: making them, and looking at them.
 *
 * Open terms have variables and occur in declarations, closed ones do not: only these are types of
 * blocks.  retype_instance() turns one into the other.  Closed terms grow in depth with the data
 * (nested datatypes); below RETYPE_DEEPEST a term is unknown.  Equal terms have equal numbers.
 */
#ifndef RETYPE_TYPES_TERMS_H
#define RETYPE_TYPES_TERMS_H

#include "retype/types/table.h"

enum {
	RETYPE_DEEPEST = 25,
	RETYPE_MOST_ALTERNATIVES = 4,
	RETYPE_MOST_VARIABLES = 1024, /* of one declaration */
};

enum retype_kind {
	RETYPE_UNKNOWN, /* existentials and unbound variables too */
	RETYPE_MANY,    /* RETYPE_TOO_MANY */
	RETYPE_VARIABLE,
	RETYPE_CONSTRUCTED,  /* 'number' is the declaration, arguments are its parameters */
	RETYPE_TUPLE,        /* names: labels, "" none; NULL if no part has one */
	RETYPE_ARROW,        /* arguments: parameter, result; names[0]: the label or "" */
	RETYPE_POLY_VARIANT, /* names: tags, ascending by hash; arguments, RETYPE_NOTHING: constant
			      */
	RETYPE_OBJECT,       /* names: methods, ascending; arguments: their types */
	RETYPE_MODULE,       /* 'number' is the layout */
	RETYPE_SET,          /* arguments: 2 to RETYPE_MOST_ALTERNATIVES types, by their heads */
};

/* A view of a term, valid until the next term is made. */
struct retype_view {
	enum retype_kind kind;
	uint32_t number; /* of a declaration, layout or variable */
	uint32_t count;
	const struct retype_term *arguments;
	const char *const *names;
};

/* Making terms.  Arguments may be open or closed; sets are made by retype_join(). */
struct retype_term retype_variable(struct retype_types *types, uint32_t index);
struct retype_term retype_constructed(struct retype_types *types, uint32_t declaration,
	const struct retype_term *arguments, uint32_t count);
struct retype_term retype_tuple(
	struct retype_types *types, const struct retype_term *parts, uint32_t count);
/* As many labels as parts, "" for a part without one; the plain tuple if all are "". */
struct retype_term retype_labelled_tuple(struct retype_types *types, const char *const *labels,
	const struct retype_term *parts, uint32_t count);
struct retype_term retype_arrow(struct retype_types *types, const char *label,
	struct retype_term parameter, struct retype_term result);
struct retype_term retype_poly_variant(struct retype_types *types, const char *const *tags,
	const struct retype_term *arguments, uint32_t count);
struct retype_term retype_object(struct retype_types *types, const char *const *methods,
	const struct retype_term *results, uint32_t count);
struct retype_term retype_module(struct retype_types *types, uint32_t layout);

/* The hash of a poly variant's tag or a method's name: as the compiler's Btype.hash_variant. */
int32_t retype_hash_name(const char *name);

uint32_t retype_term_count(const struct retype_types *types);
/* Whether the number is that of a term without variables, which alone are types of blocks. */
bool retype_is_closed(const struct retype_types *types, struct retype_term term);
struct retype_view retype_view_of(const struct retype_types *types, struct retype_term term);

/* Whether tuples of as many parts have the same labels, or none: the names of their views. */
static inline bool retype_are_labels_equal(
	const char *const *a, const char *const *b, uint64_t count)
{
	if (!a || !b)
		return a == b;
	for (uint64_t i = 0; i < count; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

#endif
