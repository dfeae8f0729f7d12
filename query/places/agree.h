/*
 * Whether values of one type may be what an expression of another type makes.
 */
#ifndef QUERY_PLACES_AGREE_H
#define QUERY_PLACES_AGREE_H

#include "retype/retype.h"

/* What a type stands for: no abbreviation, nor an abstract type that hides another one. */
struct retype_term query_bare_type(struct retype_types *types, struct retype_term type);

/*
 * A number for a bare type, 0 if it tells nothing.  Types that may agree with one have its number,
 * or the general one of it (as functions of anything have), or, if it is that itself, numbers from
 * there to the last one.
 */
uint64_t query_type_head(struct retype_types *types, struct retype_term type);
uint64_t query_general_head(uint64_t head);
uint64_t query_last_head(uint64_t head);

enum query_agreement {
	QUERY_DISAGREES,
	QUERY_AGREES_IN_GENERAL, /* what is made is known less exactly: "'a list" of "int list" */
	QUERY_AGREES
};

/* '*work' is how many parts may be compared; it is less afterwards. */
enum query_agreement query_agree(struct retype_types *types, struct retype_term wanted,
	struct retype_term made, unsigned *work);
/* The same of types that are bare. */
enum query_agreement query_agree_bare(struct retype_types *types, struct retype_term wanted,
	struct retype_term made, unsigned *work);

#endif
