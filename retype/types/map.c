#include "retype/types/map.h"

#include <string.h>
#include <sys/random.h>

static uint64_t random_seed(void)
{
	uint64_t seed;
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed))
		seed = (uint64_t)(uintptr_t)&seed * UINT64_C(0x9E3779B97F4A7C15);
	return seed | 1;
}

static enum hg_status grow(struct retype_map *map, struct hg_error *error)
{
	struct retype_map larger = *map;
	uint64_t size = map->slots ? 2 * (map->mask + 1) : 64;
	if (!map->slots)
		larger.seed = random_seed();
	larger.mask = size - 1;
	larger.slots = calloc(size, sizeof(*larger.slots));
	if (!larger.slots)
		return base_no_memory(error, size * sizeof(*larger.slots));
	for (uint64_t i = 0; map->slots && i <= map->mask; i++)
		if (map->slots[i].value)
			*retype_map_slot(&larger, map->slots[i].key) = map->slots[i];
	free(map->slots);
	*map = larger;
	return HG_OK;
}

enum hg_status retype_map_set(
	struct retype_map *map, uint64_t key, uint64_t value, struct hg_error *error)
{
	if (!map->slots || 2 * (map->count + 1) > map->mask + 1)
		BASE_TRY(grow(map, error));
	struct retype_map_slot *slot = retype_map_slot(map, key);
	map->count += slot->value == 0;
	*slot = (struct retype_map_slot){key, value + 1};
	return HG_OK;
}

void retype_map_clear(struct retype_map *map)
{
	free(map->slots);
	*map = (struct retype_map){0};
}

uint64_t retype_map_hash(uint64_t hash, uint64_t number)
{
	return retype_map_mix(
		       hash ^ UINT64_C(0xD6E8FEB86659FD93), number ^ UINT64_C(0xA0761D6478BD642F)) +
	       UINT64_C(0x9E3779B97F4A7C15) * (hash ^ number);
}

uint64_t retype_map_hash_string(uint64_t hash, const void *bytes, uint64_t length)
{
	const uint8_t *at = bytes;
	uint64_t word;
	hash = retype_map_hash(hash, length);
	for (; length >= sizeof(word); at += sizeof(word), length -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = retype_map_hash(hash, word);
	}
	word = 0;
	memcpy(&word, at, length);
	return retype_map_hash(hash, word);
}
