/*
 * Growing arrays whose final size is not known while they are filled, and arrays that may become
 * large: from some megabytes on in huge pages, where the system gives any.  Every page that is
 * touched first costs as much as many accesses.
 */
#ifndef BASE_GROW_H
#define BASE_GROW_H

#include "base/error.h"

#include <stdlib.h>

/*
 * Makes room for one element more in *array (from malloc) that holds 'count' of 'size' bytes each;
 * doubles *capacity when it is full.  Both are here so that clang-tidy sees that there is room
 * then.
 */
static inline enum hg_status base_grow(
	void *array, uint64_t count, uint64_t *capacity, size_t size, struct hg_error *error)
{
	if (count < *capacity)
		return HG_OK;
	uint64_t wanted = *capacity ? *capacity * 2 : 64;
	void **pointer = array;
	void *bigger = wanted > SIZE_MAX / 2 / size ? NULL : realloc(*pointer, wanted * size);
	if (!bigger)
		return base_no_memory(error, wanted * size);
	*pointer = bigger;
	*capacity = wanted;
	return HG_OK;
}

/* The same for 'more' elements. */
static inline enum hg_status base_grow_by(void *array, uint64_t count, uint64_t more,
	uint64_t *capacity, size_t size, struct hg_error *error)
{
	if (more <= *capacity - count)
		return HG_OK;
	uint64_t wanted = *capacity ? *capacity * 2 : 64;
	if (more > SIZE_MAX / 4 / size || count > SIZE_MAX / 4 / size)
		return base_no_memory(error, UINT64_MAX);
	if (wanted < count + more)
		wanted = count + more;
	void **pointer = array;
	void *bigger = wanted > SIZE_MAX / 2 / size ? NULL : realloc(*pointer, wanted * size);
	if (!bigger)
		return base_no_memory(error, wanted * size);
	*pointer = bigger;
	*capacity = wanted;
	return HG_OK;
}

/* From malloc, not zeroed; in huge pages if it is large.  NULL if there is no memory. */
void *base_huge_alloc(uint64_t count, size_t size);

/*
 * base_grow_by() for an array that may become large: then addresses are reserved for many times as
 * much, so that nothing is copied any more.  base_huge_release() frees it.
 */
enum hg_status base_huge_grow(void *array, uint64_t count, uint64_t more, uint64_t *capacity,
	size_t size, struct hg_error *error);

void base_huge_release(void *data, uint64_t capacity, size_t size);

#endif
