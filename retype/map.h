/*
 * A small hash table from numbers to numbers, for what is looked up once per kind of block and not
 * once per block.
 */
#ifndef RETYPE_MAP_H
#define RETYPE_MAP_H

#include "base/error.h"

#include <stdbool.h>
#include <stdlib.h>

struct retype_map {
	struct retype_map_slot {
		uint64_t key, value; /* key 0: free */
	} * slots;
	uint64_t mask, count;
};

static inline uint64_t retype_map_place(const struct retype_map *map, uint64_t key)
{
	uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15);
	at = (at ^ at >> 32) & map->mask;
	while (map->slots[at].key && map->slots[at].key != key)
		at = (at + 1) & map->mask;
	return at;
}

/* Keys are not 0. */
static inline bool retype_map_get(const struct retype_map *map, uint64_t key, uint64_t *value)
{
	if (!map->slots)
		return false;
	const struct retype_map_slot *slot = &map->slots[retype_map_place(map, key)];
	*value = slot->value;
	return slot->key != 0;
}

/* Adds or replaces. */
enum hg_status retype_map_set(
	struct retype_map *map, uint64_t key, uint64_t value, struct hg_error *error);

/* Frees it; the map is empty then and may be used again. */
void retype_map_clear(struct retype_map *map);

#endif
