/*
 * What the files of the type table share: how terms are kept (terms.c), and the tables that memoise
 * what is made of them (instance.c, join.c, fit.c) or lead to them (lookups.c).
 */
#ifndef RETYPE_TYPES_TYPES_PARTS_H
#define RETYPE_TYPES_TYPES_PARTS_H

#include "retype/types/types.h"

enum {
	RETYPE_MOST_VARIABLES = 1024, /* of one declaration */
	RETYPE_MOST_EXPANSIONS = 32,  /* of aliases and unboxed types, one after the other */
	RETYPE_BOTTOMLESS = 255,      /* room for terms that need not be cut */
};

/* Depths: RETYPE_NOTHING has 0, terms without arguments 1. */
struct retype_node {
	uint8_t kind;
	uint8_t aliases; /* whether aliases occur in it: 0 not known yet, 1 no, 2 yes */
	bool is_open;
	uint8_t depth; /* 255 for more, too */
	uint32_t number;
	uint32_t count;
	uint32_t hash;
	uint64_t first; /* of its arguments, in 'arguments' */
	const char *const *names;
};

/* A table from pairs of numbers to numbers. */
struct retype_memo {
	struct retype_memo_slot *slots;
	uint64_t used, mask;
};

/* One interned string; 'text' is NULL in an empty slot. */
struct retype_string {
	const char *text;
	uint32_t length, hash;
};

/* What a type is by, apart from its arguments. */
struct retype_head {
	enum retype_kind kind; /* RETYPE_UNKNOWN: none */
	uint64_t id;
};

struct retype_place_file {
	const char *file; /* NULL: an empty slot */
	uint32_t first, last;
};

struct retype_terms {
	struct retype_node *nodes;
	uint64_t count, capacity;
	struct retype_term *arguments;
	uint64_t argument_count, argument_capacity;
	uint32_t *slots; /* of nodes by their hash */
	uint64_t slot_mask;
	uint64_t seed;                 /* random: no file can choose what collides */
	struct retype_string *strings; /* the interned ones, by their hash */
	uint64_t string_count, string_mask;
	const char *empty; /* the one copy of "" */

	struct retype_term *scratch; /* arguments of terms that are being made */
	uint64_t scratch_count, scratch_capacity;
	struct retype_memo instances, joins, fits;
	struct retype_fit *fit_results;
	uint64_t fit_count, fit_capacity;
	unsigned sets_in_sets;       /* how many sets fit.c is in */
	struct retype_head *parents; /* by declaration, see join.c; made when first needed */
	uint32_t parent_count;
	uint32_t slot_declaration, unit_declaration, float_declaration;

	/* lookups.c; made when first needed */
	bool has_lookups;
	struct retype_memo functions, units, extensions, classes;
	struct retype_place_file *place_files; /* by the pointer of the name */
	uint64_t place_file_mask;
};

/* terms.c */

/* The one copy of a string, NULL if there is none. */
const char *retype_interned(const struct retype_types *types, const char *string);

void retype_failed(struct retype_types *types, enum hg_status status);
/* In the pool of the types, not yet set; NULL, and the types have failed, without memory. */
struct retype_field *retype_new_fields(struct retype_types *types, uint32_t count);
uint64_t retype_mix(const struct retype_types *types, uint64_t a, uint64_t b);
uint64_t retype_hash_bytes(const struct retype_types *types, const void *bytes, size_t length);
bool retype_memo_find(const struct retype_types *types, const struct retype_memo *memo, uint64_t a,
	uint64_t b, uint32_t *value);
void retype_memo_set(struct retype_types *types, struct retype_memo *memo, uint64_t a, uint64_t b,
	uint32_t value);
/* Makes room for as many at once. */
void retype_memo_reserve(struct retype_types *types, struct retype_memo *memo, uint64_t count);

/* The term with these parts, which need not outlive the call. */
struct retype_term retype_make(struct retype_types *types, enum retype_kind kind, uint32_t number,
	const char *const *names, const struct retype_term *arguments, uint32_t count);
static inline const struct retype_node *retype_node(
	const struct retype_types *types, struct retype_term term)
{
	return &types->terms->nodes[term.n];
}
static inline struct retype_term retype_argument(
	const struct retype_types *types, struct retype_term term, uint32_t i)
{
	const struct retype_node *node = retype_node(types, term);
	return i < node->count ? types->terms->arguments[node->first + i] : RETYPE_NOTHING;
}

/* Makes room for as many terms at once. */
enum hg_status retype_reserve_terms(struct retype_types *types, uint64_t count);

/* Arguments that are being gathered; 'scratch' from the count on that there was before. */
void retype_push(struct retype_types *types, struct retype_term term);

/* The declaration of a RETYPE_CONSTRUCTED term, NULL for others. */
const struct retype_declaration *retype_declared(
	const struct retype_types *types, struct retype_term term);

/* instance.c */

/* As retype_instance(); 'room' is how deep the result may be. */
struct retype_term retype_instance_within(struct retype_types *types, struct retype_term term,
	const struct retype_term *arguments, uint32_t count, uint32_t room);
/* The same with all arguments of another term. */
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

/* predefined.c */

void retype_declare_predefined(struct retype_types *types);
/* The form and number of parameters of a BASE; false if there is none so called. */
bool retype_base_form(const char *base, enum retype_form *form, uint32_t *parameters);

/* lookups.c */

/* Makes the tables now and not with the first question. */
void retype_lookups_make(struct retype_types *types);
/* Makes them anew with the next question, as what they lead to has changed. */
void retype_lookups_forget(struct retype_types *types);
void retype_lookups_release(struct retype_types *types);

/* hgprof_uses.c */

/* Reads what a place makes from the text. */
void retype_hgprof_read_made(struct retype_types *types, struct retype_place *place);

#endif
