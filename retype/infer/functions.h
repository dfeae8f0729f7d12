/*
 * Which function of the profile the code of a closure is.
 */
#ifndef RETYPE_INFER_FUNCTIONS_H
#define RETYPE_INFER_FUNCTIONS_H

#include "retype/infer/parts.h"

struct retype_functions {
	struct retyping *r;
	struct retype_map by_code;  /* code address -> number + 1 */
	struct retype_map by_place; /* of the function itself -> number + 1; 0: of several */
	struct retype_map by_line;  /* of anonymous ones, the same */
	struct snap_location *places;
	uint64_t place_capacity;
};

enum hg_status retype_functions_init(struct retype_functions *functions, struct retyping *r);
void retype_functions_release(struct retype_functions *functions);

/* By the symbol of some code, else by where in the source it calls and allocates; or NULL. */
const struct retype_function *retype_function_of(struct retype_functions *functions, uint64_t code);

/* The function that is at a place; NULL if none or several are. */
const struct retype_function *retype_function_at(
	struct retype_functions *functions, const struct snap_location *at);

/* Reads "caml_curry5_2" as 2, the arguments that a partial application has; 0: is none. */
unsigned retype_partial(struct retype_functions *functions, uint64_t code);

#endif
