/*
 * Arrays from malloc that may become large: from some megabytes on in huge pages, where the system
 * gives any.  Every page that is touched first costs as much as many accesses.  free() frees them.
 */
#ifndef BASE_HUGE_H
#define BASE_HUGE_H

#include "base/error.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Not zeroed; NULL if there is no memory. */
static inline void *base_huge_alloc(uint64_t count, size_t size)
{
	const size_t page = (size_t)2 << 20;
	if (count > SIZE_MAX / 4 / size)
		return NULL;
	size_t bytes = count * size;
	if (bytes < 2 * page)
		return malloc(bytes);
	bytes = (bytes + page - 1) / page * page;
	void *data = aligned_alloc(page, bytes);
	if (data)
		madvise(data, bytes, MADV_HUGEPAGE);
	return data;
}

/* base_grow_by() for such an array. */
static inline enum hg_status base_huge_grow_by(void *array, uint64_t count, uint64_t more,
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
	void *bigger = base_huge_alloc(wanted, size);
	if (!bigger)
		return base_no_memory(error, wanted * size);
	if (count)
		memcpy(bigger, *pointer, count * size);
	free(*pointer);
	*pointer = bigger;
	*capacity = wanted;
	return HG_OK;
}

#endif
