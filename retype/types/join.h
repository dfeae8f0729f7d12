/*
 * The join of types: what is known of a block that is met as of several of them.
 */
#ifndef RETYPE_TYPES_JOIN_H
#define RETYPE_TYPES_JOIN_H

#include "retype/types/terms.h"

/*
 * The least type that is at least as specific as both: commutative, associative, idempotent, with
 * RETYPE_NOTHING below and RETYPE_TOO_MANY above all.  Heads that agree are joined argument by
 * argument, poly variants and objects are united, aliases are what they stand for.  A functor's
 * instance wins over its body, an unboxed type over what it is made of (if its declaration tells
 * that), extensible types over the slots of their constructors, and everything over abstract types.
 * Other heads make a set; of abstract ones alone, only the first RETYPE_MOST_ALTERNATIVES by name
 * are kept.  *conflict (may be NULL) is set, never cleared, when heads did not agree.
 */
struct retype_term retype_join(
	struct retype_types *types, struct retype_term a, struct retype_term b, bool *conflict);

/*
 * The term with the names of aliases where it is what they stand for in 'named', as far as both
 * have the same heads: a join knows only what aliases stand for.
 */
struct retype_term retype_keep_names(
	struct retype_types *types, struct retype_term term, struct retype_term named);

enum hg_status retype_joins_init(struct retype_types *types);
void retype_joins_release(struct retype_types *types);

#endif
