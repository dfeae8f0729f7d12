/*
 * How terms are kept: hash-consed nodes, so that equal terms have equal numbers and a type is 4
 * bytes in every array.  For the files of the type table; others look at terms by retype_view_of().
 */
#ifndef RETYPE_TYPES_NODES_H
#define RETYPE_TYPES_NODES_H

#include "retype/types/terms.h"

#include "base/assert.h"

/* Whether aliases occur in a term, so that it may become deeper when they are replaced. */
enum retype_aliases { RETYPE_ALIASES_UNKNOWN, RETYPE_WITHOUT_ALIASES, RETYPE_WITH_ALIASES };

/* Depths: RETYPE_NOTHING has 0, terms without arguments 1. */
struct retype_node {
	uint8_t kind;    /* an enum retype_kind */
	uint8_t aliases; /* an enum retype_aliases */
	bool is_open;
	uint8_t depth; /* 255 for more, too */
	uint32_t number;
	uint32_t count;
	uint32_t hash;
	uint64_t first; /* of its arguments, in 'arguments' */
	const char *const *names;
};

struct retype_nodes {
	struct retype_node *all; /* by the number of the term */
	uint64_t count, capacity;
	struct retype_term *arguments;
	uint64_t argument_count, argument_capacity;
	uint32_t *slots; /* of nodes by their hash, + 1; at most half of them taken */
	uint64_t slot_mask;
	struct retype_term *scratch; /* arguments of terms that are being made */
	uint64_t scratch_count, scratch_capacity;
};

/* With RETYPE_NOTHING and RETYPE_TOO_MANY in it. */
enum hg_status retype_nodes_init(struct retype_types *types);
void retype_nodes_release(struct retype_types *types);

/* Makes room for as many terms at once. */
enum hg_status retype_nodes_reserve(struct retype_types *types, uint64_t count);

/* The term with these parts, which need not outlive the call. */
struct retype_term retype_make(struct retype_types *types, enum retype_kind kind, uint32_t number,
	const char *const *names, const struct retype_term *arguments, uint32_t count);

/* Arguments that are being gathered; 'scratch' from the count on that there was before. */
void retype_push(struct retype_types *types, struct retype_term term);

/* The declaration of a RETYPE_CONSTRUCTED term, NULL for others. */
const struct retype_declaration *retype_declared(
	const struct retype_types *types, struct retype_term term);

/* Valid until the next term is made. */
static inline const struct retype_node *retype_node_of(
	const struct retype_types *types, struct retype_term term)
{
	base_assert(term.n < types->nodes->count);
	return &types->nodes->all[term.n];
}

/* RETYPE_NOTHING if it has fewer. */
static inline struct retype_term retype_argument(
	const struct retype_types *types, struct retype_term term, uint32_t i)
{
	const struct retype_node *node = retype_node_of(types, term);
	base_assert(node->first + node->count <= types->nodes->argument_count);
	return i < node->count ? types->nodes->arguments[node->first + i] : RETYPE_NOTHING;
}

#endif
