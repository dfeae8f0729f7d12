/*
 * Growing arrays whose final size is not known while they are filled, and arrays that may become
 * large: from some megabytes on in huge pages, where the system gives any.  Every page that is
 * touched first costs as much as many accesses.
 */
#ifndef BASE_GROW_H
#define BASE_GROW_H

#include "base/error.h"

#include <stdlib.h>

/* base_grow_by() where there is no room: for its own use. */
enum hg_status base_grow_array(void *array, uint64_t count, uint64_t more, uint64_t *capacity,
	size_t size, struct hg_error *error);

/*
 * Makes room for 'more' elements in *array (from malloc) that holds 'count' of 'size' bytes each;
 * at least doubles *capacity when it is full.
 */
static inline enum hg_status base_grow_by(void *array, uint64_t count, uint64_t more,
	uint64_t *capacity, size_t size, struct hg_error *error)
{
	return more <= *capacity - count
		       ? HG_OK
		       : base_grow_array(array, count, more, capacity, size, error);
}

/* The same for one. */
static inline enum hg_status base_grow(
	void *array, uint64_t count, uint64_t *capacity, size_t size, struct hg_error *error)
{
	return base_grow_by(array, count, 1, capacity, size, error);
}

/* From malloc, not zeroed; NULL if there is no memory. */
void *base_huge_alloc(uint64_t count, size_t size);

/*
 * base_grow_by() for an array that may become large: then addresses are reserved for many times as
 * much, so that nothing is copied any more.  base_huge_release() frees it.
 */
enum hg_status base_huge_grow(void *array, uint64_t count, uint64_t more, uint64_t *capacity,
	size_t size, struct hg_error *error);

void base_huge_release(void *data, uint64_t capacity, size_t size);

#endif
