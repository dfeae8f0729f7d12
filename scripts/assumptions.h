/*
 * For clang-tidy only, which sees one file at a time: a function that reports a failure never
 * returns HG_OK, so that what it was to fill in is not used.
 */
#ifndef SCRIPTS_ASSUMPTIONS_H
#define SCRIPTS_ASSUMPTIONS_H

#include "base/error.h"

static inline enum hg_status assume_failed(enum hg_status status)
{
	if (status == HG_OK)
		__builtin_unreachable();
	return status;
}

#define base_fail(...) assume_failed(base_fail(__VA_ARGS__))
#define base_corrupt(...) assume_failed(base_corrupt(__VA_ARGS__))
#define base_no_memory(...) assume_failed(base_no_memory(__VA_ARGS__))

#endif
