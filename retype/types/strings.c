/*
 * Interned strings: the bytes are in the pool of the types, the table has their addresses.
 */
#include "retype/types/strings.h"

#include "base/assert.h"
#include "base/hash.h"

#include <string.h>

/* 'text' is NULL in an empty slot. */
struct interned {
	const char *text;
	uint32_t length, hash;
};

/*
 * A table of its own, as base_map finds by the number of a key and not by what it says: lengths and
 * parts of hashes beside the pointer spare most looks at other strings.
 */
struct retype_strings {
	struct interned *slots; /* at most half of them taken */
	uint64_t count, mask;
	const char *empty; /* the one copy of "" */
};

enum { FIRST_STRING_SLOTS = 1024 };

static struct interned *string_slot(
	const struct retype_strings *strings, const void *bytes, size_t length, uint32_t hash)
{
	uint64_t at = hash & strings->mask;
	for (;; at = (at + 1) & strings->mask) {
		struct interned *slot = &strings->slots[at];
		if (!slot->text || (slot->hash == hash && slot->length == length &&
					   memcmp(slot->text, bytes, length) == 0))
			return slot;
	}
}

static enum hg_status resize_strings(
	struct retype_strings *strings, uint64_t size, struct hg_error *error)
{
	struct interned *bigger = calloc(size, sizeof(*bigger));
	base_assert((size & (size - 1)) == 0 && strings->count < size / 2);
	if (!bigger)
		return base_no_memory(error, size * sizeof(*bigger));
	for (uint64_t i = 0; strings->slots && i <= strings->mask; i++) {
		if (!strings->slots[i].text)
			continue;
		uint64_t at = strings->slots[i].hash & (size - 1);
		while (bigger[at].text)
			at = (at + 1) & (size - 1);
		bigger[at] = strings->slots[i];
	}
	free(strings->slots);
	strings->slots = bigger;
	strings->mask = size - 1;
	return HG_OK;
}

static enum hg_status add_string(struct retype_types *types, const void *bytes, size_t length,
	uint32_t hash, const char **copy)
{
	struct retype_strings *strings = types->strings;
	if (strings->count > strings->mask / 2)
		BASE_TRY(resize_strings(strings, 4 * (strings->mask + 1), types->error));
	BASE_TRY(base_pool_string(&types->pool, bytes, length, copy, types->error));
	*string_slot(strings, bytes, length, hash) =
		(struct interned){*copy, (uint32_t)length, hash};
	strings->count++;
	base_assert(strings->count <= strings->mask / 2 + 1);
	return HG_OK;
}

const char *retype_intern(struct retype_types *types, const void *bytes, size_t length)
{
	struct retype_strings *strings = types->strings;
	/* Strings end at a NUL, which no name has. */
	length = length ? strnlen(bytes, length) : 0;
	if (length == 0 || length > UINT32_MAX)
		return strings->empty;
	uint32_t hash = (uint32_t)base_hash_bytes(base_process_secret(), bytes, length);
	const char *copy = string_slot(strings, bytes, length, hash)->text;
	if (copy)
		return copy;
	enum hg_status status = add_string(types, bytes, length, hash, &copy);
	if (status == HG_OK)
		return copy;
	retype_keep_status(types, status);
	return strings->empty;
}

const char *retype_interned(const struct retype_types *types, const char *string)
{
	size_t length = strlen(string);
	if (length == 0)
		return types->strings->empty;
	uint32_t hash = (uint32_t)base_hash_bytes(base_process_secret(), string, length);
	return string_slot(types->strings, string, length, hash)->text;
}

enum hg_status retype_strings_init(struct retype_types *types)
{
	types->strings = calloc(1, sizeof(*types->strings));
	if (!types->strings)
		return base_no_memory(types->error, sizeof(*types->strings));
	types->strings->empty = "";
	return resize_strings(types->strings, FIRST_STRING_SLOTS, types->error);
}

void retype_strings_release(struct retype_types *types)
{
	if (types->strings)
		free(types->strings->slots);
	free(types->strings);
	types->strings = NULL;
}
