/*
 * Terms with something in the place of their variables, and what aliases stand for.
 */
#ifndef RETYPE_TYPES_INSTANCE_H
#define RETYPE_TYPES_INSTANCE_H

#include "retype/types/terms.h"

enum {
	RETYPE_MOST_EXPANSIONS = 32, /* of aliases and unboxed types, one after the other */
	RETYPE_BOTTOMLESS = 255,     /* room for terms that need not be cut */
};

/* The term with variable i replaced by arguments[i], unknown where there is none; what is deeper
 * than RETYPE_DEEPEST is unknown.  Closed if the arguments are. */
struct retype_term retype_instance(struct retype_types *types, struct retype_term term,
	const struct retype_term *arguments, uint32_t count);

/* The same with all arguments of another term; 'room' is how deep the result may be. */
struct retype_term retype_apply(struct retype_types *types, struct retype_term term,
	struct retype_term applied, uint32_t room);

/*
 * What an alias stands for; other terms, and aliases of which nothing is known, as they are.  Cut
 * to 'room'.
 */
struct retype_term retype_expand(
	struct retype_types *types, struct retype_term term, uint32_t room);

/* Nothing is known of how its values look: abstract types, variables, aliases of nothing. */
bool retype_is_abstract(const struct retype_types *types, struct retype_term expanded);

enum hg_status retype_instances_init(struct retype_types *types);
void retype_instances_release(struct retype_types *types);

#endif
