/*
 * Many small things that live and die together: names, tables, rows.  Bump allocation; nothing is
 * freed before the pool.  Returned memory is zeroed and 8-byte aligned.
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include "base/error.h"

struct base_pool {
	struct base_pool_page *page;
	uint64_t bytes; /* handed out in all */
};

/* A zero-initialised struct base_pool is an empty pool. */
void base_pool_release(struct base_pool *pool);

/* count * size bytes; an overflow of the product is reported as out of memory. */
enum hg_status base_pool_alloc(
	struct base_pool *pool, uint64_t count, size_t size, void **out, struct hg_error *error);

/* A NUL-terminated copy of 'length' bytes (which may hold NULs of their own). */
enum hg_status base_pool_string(struct base_pool *pool, const void *bytes, uint64_t length,
	const char **out, struct hg_error *error);

#endif
