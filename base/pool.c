/* Small things that live as long as a snapshot, in pages. */
#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES (64u * 1024u)

struct base_pool_page {
	struct base_pool_page *older;
	size_t used;
	size_t size;
	uint64_t data[];
};

void base_pool_release(struct base_pool *pool)
{
	struct base_pool_page *page = pool->page;
	while (page) {
		struct base_pool_page *older = page->older;
		free(page);
		page = older;
	}
	*pool = (struct base_pool){0};
}

/* A page for a large request goes after the current one, which may still have room. */
static struct base_pool_page *add_page(struct base_pool *pool, size_t bytes)
{
	size_t size = bytes > PAGE_BYTES / 4 ? bytes : PAGE_BYTES;
	if (size > SIZE_MAX - sizeof(struct base_pool_page))
		return NULL;
	struct base_pool_page *page = calloc(1, sizeof(*page) + size);
	if (!page)
		return NULL;
	page->size = size;
	if (pool->page && size == bytes) {
		page->older = pool->page->older;
		pool->page->older = page;
	} else {
		page->older = pool->page;
		pool->page = page;
	}
	return page;
}

enum hg_status base_pool_alloc(
	struct base_pool *pool, uint64_t count, size_t size, void **out, struct hg_error *error)
{
	uint64_t bytes;
	if (__builtin_mul_overflow(count, (uint64_t)size, &bytes) || bytes > UINT64_MAX / 4)
		return base_no_memory(error, UINT64_MAX);
	bytes = (bytes + 7) & ~(uint64_t)7;
	struct base_pool_page *page = pool->page;
	if (!page || page->size - page->used < bytes)
		page = add_page(pool, (size_t)bytes);
	if (!page)
		return base_no_memory(error, bytes);
	*out = (char *)page->data + page->used;
	page->used += (size_t)bytes;
	pool->bytes += bytes;
	return HG_OK;
}

enum hg_status base_pool_string(struct base_pool *pool, const void *bytes, uint64_t length,
	const char **out, struct hg_error *error)
{
	void *copy = NULL;
	BASE_TRY(base_pool_alloc(pool, length + 1, 1, &copy, error));
	memcpy(copy, bytes, (size_t)length);
	*out = copy;
	return HG_OK;
}
