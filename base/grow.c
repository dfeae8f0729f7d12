/* Arrays that may become large. */
#include "base/grow.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20, RESERVED_AT_LEAST = 1 << 28, RESERVED_TIMES = 16 };

/*
 * Bytes from which on an array has huge pages: to touch one first costs what some 20 small ones
 * cost (0.2 ms, and 13 us each), and what will grow will have more.
 */
enum { LEAST_HUGE = HUGE_PAGE / 4, LEAST_GROWING = HUGE_PAGE / 16 };

/* What the capacity is to be; UINT64_MAX if there cannot be so much. */
static uint64_t next_capacity(uint64_t count, uint64_t more, uint64_t capacity, size_t size)
{
	const uint64_t most = SIZE_MAX / 4 / RESERVED_TIMES / size;
	uint64_t wanted = capacity ? capacity * 2 : 64;
	if (more > most || count > most || capacity > most)
		return UINT64_MAX;
	return wanted < count + more ? count + more : wanted;
}

void *base_huge_alloc(uint64_t count, size_t size)
{
	if (count > SIZE_MAX / 4 / size)
		return NULL;
	size_t bytes = count * size;
	if (bytes < LEAST_HUGE)
		return malloc(bytes);
	bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	void *data = aligned_alloc(HUGE_PAGE, bytes);
	if (data)
		madvise(data, bytes, MADV_HUGEPAGE);
	return data;
}

/* Whether an array has addresses of its own, which are a huge page at least, and none of malloc. */
static bool is_reserved(uint64_t bytes)
{
	return bytes >= LEAST_GROWING;
}

/* Addresses for *bytes and many more, if there are so many; NULL if there is no memory. */
static void *reserve(uint64_t *bytes)
{
	uint64_t least = (*bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	uint64_t most = least * RESERVED_TIMES;
	if (most < RESERVED_AT_LEAST)
		most = RESERVED_AT_LEAST;
	for (uint64_t size = most; size >= least; size = size / 2 / HUGE_PAGE * HUGE_PAGE) {
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
	void **pointer = array;
	if (more <= *capacity - count)
		return HG_OK;
	uint64_t wanted = next_capacity(count, more, *capacity, size);
	if (wanted == UINT64_MAX)
		return base_no_memory(error, wanted);
	uint64_t bytes = wanted * size;
	void *bigger = is_reserved(bytes) ? reserve(&bytes) : malloc(bytes);
	if (!bigger)
		return base_no_memory(error, bytes);
	if (count)
		memcpy(bigger, *pointer, count * size);
	base_huge_release(*pointer, *capacity, size);
	*pointer = bigger;
	*capacity = bytes / size;
	return HG_OK;
}

void base_huge_release(void *data, uint64_t capacity, size_t size)
{
	/* What the mapping has behind the last whole element is within its last page. */
	if (data && is_reserved(capacity * size))
		munmap(data, (capacity * size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
	else
		free(data);
}
