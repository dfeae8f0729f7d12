/*
 * The function of a closure.
 */
#ifndef QUERY_SHARED_FUNCTIONS_H
#define QUERY_SHARED_FUNCTIONS_H

#include "query/shared/query.h"

/*
 * The closure of the function that a closure calls in the end: itself, or of a partial application
 * the one that waits for more arguments.  HG_NO_NODE if the block is no closure.
 */
uint32_t query_function_rank(struct hg_snapshot *snapshot, uint32_t rank);

/*
 * The code of the function of a closure that takes all arguments; of a partial application that of
 * the function which waits for the rest of them.  0 if the block is no closure.
 */
uint64_t query_function_code(struct hg_snapshot *snapshot, uint32_t rank);

#endif
