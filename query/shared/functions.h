/*
 * The functions of closures, and where they are in the source.
 */
#ifndef QUERY_SHARED_FUNCTIONS_H
#define QUERY_SHARED_FUNCTIONS_H

#include "query/shared/query.h"

/*
 * The closure of the function that a closure calls in the end: itself, or of a partial application
 * the one that waits for more arguments.  HG_NO_NODE if the block is no closure.
 */
uint32_t query_function_rank(struct hg_snapshot *snapshot, uint32_t rank);

/* The code of that function which takes all arguments; 0 if the block is no closure. */
uint64_t query_function_code(struct hg_snapshot *snapshot, uint32_t rank);

/* A line of the source, and whether that is the program's own. */
struct query_line {
	const char *file;
	uint32_t line;
	bool own;
};

/* Where the function at a code address is; and that of a closure.  False if it is not known. */
bool query_code_line(struct hg_snapshot *snapshot, uint64_t code, struct query_line *out);
bool query_function_line(struct hg_snapshot *snapshot, uint32_t rank, struct query_line *out);

/*
 * The unit that a symbol is of, without "caml": parts of units' names are joined as what follows
 * them is, so that it is the longest one that there is.  RETYPE_NONE if the profile has none; then
 * the first part tells whether it is of the standard library.
 */
uint32_t query_unit_of_symbol(
	const struct retype_types *types, const char *symbol, const char **rest, bool *standard);

/* Numbers the functions of all closures, if that has not been done: snapshot->functions. */
enum hg_status query_functions_open(struct hg_snapshot *snapshot);

/* The number of the function of a closure. */
enum hg_status query_function_number(struct hg_snapshot *snapshot, uint32_t rank, uint32_t *out);

#endif
