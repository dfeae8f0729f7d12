#include "retype/map.h"

static enum hg_status grow(struct retype_map *map, struct hg_error *error)
{
	struct retype_map bigger = {.mask = map->slots ? 2 * map->mask + 1 : 255};
	bigger.slots = calloc(bigger.mask + 1, sizeof(*bigger.slots));
	if (!bigger.slots)
		return base_no_memory(error, (bigger.mask + 1) * sizeof(*bigger.slots));
	for (uint64_t i = 0; map->slots && i <= map->mask; i++)
		if (map->slots[i].key)
			bigger.slots[retype_map_place(&bigger, map->slots[i].key)] = map->slots[i];
	bigger.count = map->count;
	free(map->slots);
	*map = bigger;
	return HG_OK;
}

enum hg_status retype_map_set(
	struct retype_map *map, uint64_t key, uint64_t value, struct hg_error *error)
{
	if (!map->slots || 2 * map->count > map->mask)
		BASE_TRY(grow(map, error));
	struct retype_map_slot *slot = &map->slots[retype_map_place(map, key)];
	map->count += slot->key == 0;
	*slot = (struct retype_map_slot){key, value};
	return HG_OK;
}

void retype_map_clear(struct retype_map *map)
{
	free(map->slots);
	*map = (struct retype_map){0};
}
