/* Arrays that may become large. */
#include "base/huge.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 2 << 20, RESERVED_AT_LEAST = 1 << 28, TIMES = 16 };

void *base_huge_alloc(uint64_t count, size_t size)
{
	if (count > SIZE_MAX / 4 / size)
		return NULL;
	size_t bytes = count * size;
	if (bytes < 2 * (size_t)PAGE)
		return malloc(bytes);
	bytes = (bytes + PAGE - 1) / PAGE * PAGE;
	void *data = aligned_alloc(PAGE, bytes);
	if (data)
		madvise(data, bytes, MADV_HUGEPAGE);
	return data;
}

/* Whether an array has addresses of its own, which are PAGE bytes at least, and none of malloc. */
static bool is_reserved(uint64_t bytes)
{
	return bytes >= PAGE / 2;
}

/* Addresses for *bytes and many more, if there are so many; NULL if there is no memory. */
static void *reserve(uint64_t *bytes)
{
	uint64_t least = (*bytes + PAGE - 1) / PAGE * PAGE;
	uint64_t most = least < RESERVED_AT_LEAST / TIMES ? RESERVED_AT_LEAST : least * TIMES;
	for (uint64_t size = most; size >= least; size = size / 2 / PAGE * PAGE) {
		void *data = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (data == MAP_FAILED)
			continue;
		madvise(data, size, MADV_HUGEPAGE);
		*bytes = size;
		return data;
	}
	return NULL;
}

enum hg_status base_huge_grow(void *array, uint64_t count, uint64_t more, uint64_t *capacity,
	size_t size, struct hg_error *error)
{
	uint64_t wanted = *capacity ? *capacity * 2 : 64;
	void *old, *bigger;
	memcpy(&old, array, sizeof(old));
	if (more > SIZE_MAX / 4 / TIMES / size || count > SIZE_MAX / 4 / TIMES / size)
		return base_no_memory(error, UINT64_MAX);
	if (wanted < count + more)
		wanted = count + more;
	uint64_t bytes = wanted * size;
	if (is_reserved(bytes))
		bigger = reserve(&bytes);
	else
		bigger = malloc(bytes);
	if (!bigger)
		return base_no_memory(error, bytes);
	if (count)
		memcpy(bigger, old, count * size);
	base_huge_release(old, *capacity, size);
	*capacity = bytes / size;
	memcpy(array, &bigger, sizeof(bigger));
	return HG_OK;
}

void base_huge_release(void *data, uint64_t capacity, size_t size)
{
	/* What the mapping has behind the last whole element is within its last page. */
	if (data && is_reserved(capacity * size))
		munmap(data, (capacity * size + PAGE - 1) / PAGE * PAGE);
	else
		free(data);
}
