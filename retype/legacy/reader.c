/*
 * What all parts of the reader use: memory, keys of maps, strings and lists of a marshalled value.
 */
#include "retype/legacy/reader.h"

#include <string.h>

void *cmt_alloc(struct cmt_reader *r, uint64_t count, size_t size)
{
	void *memory = NULL;
	if (r->status == HG_OK)
		r->status = base_pool_alloc(r->pool, count, size, &memory, r->error);
	return memory;
}

bool cmt_spend(struct cmt_reader *r, uint32_t steps)
{
	bool is_enough = r->budget >= steps;
	r->budget -= is_enough ? steps : r->budget;
	return is_enough;
}

uint64_t cmt_key(uint64_t key, uint64_t number)
{
	return base_hash_join(base_process_secret(), base_hash(base_process_secret(), key), number);
}

uint64_t cmt_key_string(uint64_t key, const char *string)
{
	return cmt_key(key, base_hash_bytes(base_process_secret(), string, strlen(string)));
}

const char *cmt_string(struct cmt_reader *r, const struct snap_marshal *m, struct snap_value value)
{
	const uint8_t *bytes;
	uint32_t length;
	if (!snap_marshal_string(m, value, &bytes, &length) || memchr(bytes, 0, length))
		return NULL;
	return retype_intern(r->types, bytes, length);
}

uint32_t cmt_length(const struct snap_marshal *m, struct snap_value list, uint32_t most)
{
	struct cmt_list cells = cmt_read_list(m, list);
	struct snap_value element;
	uint32_t length = 0;
	while (length < most && cmt_next(&cells, &element))
		length++;
	return length;
}
