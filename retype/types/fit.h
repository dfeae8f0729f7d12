/*
 * How blocks of a type look: which tag and size, and of which types their fields are.
 */
#ifndef RETYPE_TYPES_FIT_H
#define RETYPE_TYPES_FIT_H

#include "retype/types/terms.h"

/* How a block of a closed type may look. */
enum retype_match {
	RETYPE_MISFIT,    /* no value of this type is such a block */
	RETYPE_UNTOLD,    /* the type says nothing of blocks: unknown, abstract, any */
	RETYPE_LEAF,      /* it fits, and has no fields to type; 'fields' of records of floats */
	RETYPE_FIELDS,    /* it fits: 'fields' are its first ones */
	RETYPE_ELEMENTS,  /* it fits: all fields have the type 'inner' */
	RETYPE_INNER,     /* the value is the block of type 'inner' itself: short-cut lazies */
	RETYPE_FUNCTION,  /* it fits: a closure */
	RETYPE_TAGGED,    /* a poly variant: field 0 is the tag, see retype_tagged() */
	RETYPE_EXTENSION, /* by the slot in field 0, or the slot itself */
	RETYPE_INSTANCE,  /* an object: by its class */
	RETYPE_WEAKLY, /* it fits: data of type 'inner', 'fields' are keys, the last one repeats */
};

struct retype_fit {
	enum retype_match match;
	uint32_t field_count;
	const char *constructor;           /* "" none */
	const struct retype_field *fields; /* closed; they live as long as the table */
	struct retype_term inner;
};

/* Memoised by (term, tag, wosize).  Of a set: the first of its types that fits, with the fields of
 * all that do joined.  Aliases and unboxed types fit as what they are made of. */
struct retype_fit retype_find_fit(
	struct retype_types *types, struct retype_term term, unsigned tag, uint64_t wosize);

/*
 * What the variables of an open term stand for where 'actual' is an instance of it, for
 * retype_apply(): a term with that for arguments, unknown where 'actual' does not tell or is
 * several types at once.  NOTHING if it is no instance, or tells of no variable.
 */
struct retype_term retype_bind(
	struct retype_types *types, struct retype_term open, struct retype_term actual);

/* The same bindings of those variables only that occur in the fields. */
struct retype_term retype_narrow_bindings(struct retype_types *types, struct retype_term bindings,
	const struct retype_field *fields, uint32_t count);

/*
 * What a value of this type may be: of a RETYPE_EITHER the join of its types, RETYPE_NOTHING if one
 * of them is not known; of any other the type itself.
 */
struct retype_term retype_alternatives(struct retype_types *types, struct retype_term term);

/* The type of the argument of a poly variant's tag, RETYPE_NOTHING if it is not known; and its name
 * or NULL. */
struct retype_term retype_tagged(
	struct retype_types *types, struct retype_term term, int64_t hash, const char **name);

enum hg_status retype_fits_init(struct retype_types *types);
void retype_fits_release(struct retype_types *types);

#endif
