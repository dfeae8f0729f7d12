/*
 * Invariants of ours, checked in builds with ASSERTS=1 (those for sanitizers and fuzzers, and for
 * whoever debugs) and free of cost in others: the condition is compiled, but not computed.
 *
 * What a file or a caller of the library says is no invariant: that is an error, not an assertion.
 */
#ifndef BASE_ASSERT_H
#define BASE_ASSERT_H

#ifdef BASE_ASSERTS
#include <stdio.h>
#include <stdlib.h>

#define base_assert(condition)                                                                     \
	((condition) ? (void)0                                                                     \
		     : (fprintf(stderr, "%s:%d: %s: broken invariant: %s\n", __FILE__, __LINE__,   \
				__func__, #condition),                                             \
			       abort()))
#else
#define base_assert(condition) ((void)(0 && (condition)))
#endif

/* Of an array of structs: every entry's member is at least that of the one before. */
#define BASE_IS_SORTED(array, count, member)                                                       \
	__extension__({                                                                            \
		int is_sorted_ = 1;                                                                \
		for (uint64_t i_ = 1; i_ < (count); i_++)                                          \
			is_sorted_ &= (array)[i_ - 1].member <= (array)[i_].member;                \
		is_sorted_;                                                                        \
	})

#endif
