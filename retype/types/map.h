/*
 * A hash table from numbers to numbers, for what is looked up once per kind of block or name and
 * not once per block.  Keys are mixed with a random seed, so that no file can choose ones that
 * collide; no result depends on it.
 */
#ifndef RETYPE_TYPES_MAP_H
#define RETYPE_TYPES_MAP_H

#include "base/error.h"

#include <stdbool.h>
#include <stdlib.h>

/* A zeroed map is empty. */
struct retype_map {
	struct retype_map_slot {
		uint64_t key, value; /* value + 1; 0: free */
	} * slots;
	uint64_t mask, count, seed;
};

static inline uint64_t retype_map_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The slot of a key, or the free one where it would be; the map has slots. */
static inline struct retype_map_slot *retype_map_slot(const struct retype_map *map, uint64_t key)
{
	uint64_t at = retype_map_mix(key ^ map->seed, UINT64_C(0x9e3779b97f4a7c15)) & map->mask;
	while (map->slots[at].value && map->slots[at].key != key)
		at = (at + 1) & map->mask;
	return &map->slots[at];
}

/* False, and *value as it was, if the key has none. */
static inline bool retype_map_get(const struct retype_map *map, uint64_t key, uint64_t *value)
{
	const struct retype_map_slot *slot = map->slots ? retype_map_slot(map, key) : NULL;
	if (!slot || !slot->value)
		return false;
	*value = slot->value - 1;
	return true;
}

/* The same for values that have 32 bits. */
static inline bool retype_map_number(const struct retype_map *map, uint64_t key, uint32_t *number)
{
	uint64_t value;
	if (!retype_map_get(map, key, &value))
		return false;
	*number = (uint32_t)value;
	return true;
}

/* Adds or replaces; UINT64_MAX is no value. */
enum hg_status retype_map_set(
	struct retype_map *map, uint64_t key, uint64_t value, struct hg_error *error);

/* Frees it; the map is empty then and may be used again. */
void retype_map_clear(struct retype_map *map);

/* A key for several numbers and a string, equal for equal ones; others may have it, too. */
uint64_t retype_map_hash(uint64_t hash, uint64_t number);
uint64_t retype_map_hash_string(uint64_t hash, const void *bytes, uint64_t length);

#endif
