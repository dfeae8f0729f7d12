/* Names, each kept once. */
#include "trace/names.h"

#include "base/grow.h"

#include <string.h>

void trace_names_release(struct trace_names *names)
{
	free(names->names);
	base_map_release(&names->by_hash);
	base_pool_release(&names->pool);
	*names = (struct trace_names){0};
}

/* Of those with one hash, the last one first. */
static bool find_name(const struct trace_names *names, uint32_t last, const void *bytes,
	size_t length, uint32_t *number)
{
	for (uint32_t next = last; next; next = names->names[next - 1].next) {
		const struct trace_names_entry *name = &names->names[next - 1];
		if (name->length != length || memcmp(name->bytes, bytes, length) != 0)
			continue;
		*number = next - 1;
		return true;
	}
	return false;
}

enum hg_status trace_names_add(struct trace_names *names, const void *bytes, size_t length,
	uint32_t *number, struct hg_error *error)
{
	if (length > UINT32_MAX || names->count >= UINT32_MAX - 1)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET, "too many names");
	uint64_t hash = base_hash_bytes(base_process_secret(), bytes, length);
	uint32_t last = 0;
	base_map_number(&names->by_hash, hash, &last);
	if (find_name(names, last, bytes, length, number))
		return HG_OK;
	BASE_TRY(base_grow(
		&names->names, names->count, &names->capacity, sizeof(*names->names), error));
	struct trace_names_entry name = {.length = (uint32_t)length, .next = last};
	BASE_TRY(base_pool_string(&names->pool, bytes, length, &name.bytes, error));
	BASE_TRY(base_map_set(&names->by_hash, hash, names->count + 1, error));
	*number = (uint32_t)names->count;
	names->names[names->count++] = name;
	return HG_OK;
}
