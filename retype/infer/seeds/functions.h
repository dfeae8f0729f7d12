/*
 * Which function of the profile the code of a closure is.
 */
#ifndef RETYPE_INFER_SEEDS_FUNCTIONS_H
#define RETYPE_INFER_SEEDS_FUNCTIONS_H

#include "base/hash.h"
#include "retype/infer/input.h"

struct seeds_functions {
	const struct infer_input *in;
	struct infer_failure *failure;
	struct base_map by_code;     /* code address -> number + 1 */
	struct base_map by_location; /* of the function itself -> number + 1; 0: of several */
	struct base_map by_line;     /* of anonymous ones, the same */
	struct snap_location *locations;
	uint64_t location_capacity;
};

enum hg_status seeds_functions_init(struct seeds_functions *functions, const struct infer_input *in,
	struct infer_failure *failure);
void seeds_functions_release(struct seeds_functions *functions);

/* By the symbol of some code, else by where in the source it calls and allocates; or NULL. */
const struct retype_function *seeds_function_of(struct seeds_functions *functions, uint64_t code);

/* The function that is at a location; NULL if none or several are. */
const struct retype_function *seeds_function_at(
	struct seeds_functions *functions, const struct snap_location *at);

/* Reads "caml_curry5_2" as 2, the arguments that a partial application has; 0: is none. */
unsigned seeds_count_applied(struct seeds_functions *functions, uint64_t code);

#endif
