/*
 * Arrays that may become large: from some megabytes on in huge pages, where the system gives any.
 * Every page that is touched first costs as much as many accesses.
 */
#ifndef BASE_HUGE_H
#define BASE_HUGE_H

#include "base/error.h"

#include <stddef.h>

/* From malloc, not zeroed; NULL if there is no memory. */
void *base_huge_alloc(uint64_t count, size_t size);

/*
 * base_grow_by() for an array that grows to an unknown size: when it is large, addresses are
 * reserved for many times as much, so that nothing is copied any more.  base_huge_release() frees.
 */
enum hg_status base_huge_grow(void *array, uint64_t count, uint64_t more, uint64_t *capacity,
	size_t size, struct hg_error *error);

static inline enum hg_status base_huge_grow_by(void *array, uint64_t count, uint64_t more,
	uint64_t *capacity, size_t size, struct hg_error *error)
{
	return more <= *capacity - count
		       ? HG_OK
		       : base_huge_grow(array, count, more, capacity, size, error);
}

void base_huge_release(void *data, uint64_t capacity, size_t size);

#endif
