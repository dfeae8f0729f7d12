#include "retype/cmt400_map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* 'number' + 1, so that 0 is free. */
struct cmt_map_slot {
	uint64_t key;
	uint64_t value;
};

/* Random, so that a hostile file cannot choose keys that collide; no result depends on it. */
static uint64_t random_seed(void)
{
	uint64_t seed;
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed))
		seed = (uint64_t)(uintptr_t)&seed * UINT64_C(0x9E3779B97F4A7C15);
	return seed | 1;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static struct cmt_map_slot *slot_of(const struct cmt_map *map, uint64_t key)
{
	uint64_t at = mix(key ^ map->seed, UINT64_C(0x9E3779B97F4A7C15)) & map->mask;
	while (map->slots[at].value && map->slots[at].key != key)
		at = (at + 1) & map->mask;
	return &map->slots[at];
}

static enum hg_status grow(struct cmt_map *map, struct hg_error *error)
{
	struct cmt_map larger = *map;
	uint64_t size = map->slots ? 2 * (map->mask + 1) : 64;
	if (!map->slots)
		larger.seed = random_seed();
	larger.mask = size - 1;
	larger.slots = calloc(size, sizeof(*larger.slots));
	if (!larger.slots)
		return base_no_memory(error, size * sizeof(*larger.slots));
	for (uint64_t i = 0; map->slots && i <= map->mask; i++)
		if (map->slots[i].value)
			*slot_of(&larger, map->slots[i].key) = map->slots[i];
	free(map->slots);
	*map = larger;
	return HG_OK;
}

void cmt_map_release(struct cmt_map *map)
{
	free(map->slots);
	*map = (struct cmt_map){0};
}

bool cmt_map_find(const struct cmt_map *map, uint64_t key, uint32_t *number)
{
	if (!map->slots)
		return false;
	const struct cmt_map_slot *slot = slot_of(map, key);
	if (!slot->value)
		return false;
	*number = (uint32_t)(slot->value - 1);
	return true;
}

enum hg_status cmt_map_set(
	struct cmt_map *map, uint64_t key, uint32_t number, struct hg_error *error)
{
	if (!map->slots || 2 * (map->used + 1) > map->mask + 1)
		BASE_TRY(grow(map, error));
	struct cmt_map_slot *slot = slot_of(map, key);
	if (!slot->value)
		map->used++;
	*slot = (struct cmt_map_slot){key, (uint64_t)number + 1};
	return HG_OK;
}

uint64_t cmt_map_hash(uint64_t hash, uint64_t number)
{
	return mix(hash ^ UINT64_C(0xD6E8FEB86659FD93), number ^ UINT64_C(0xA0761D6478BD642F)) +
	       UINT64_C(0x9E3779B97F4A7C15) * (hash ^ number);
}

uint64_t cmt_map_hash_string(uint64_t hash, const void *bytes, uint64_t length)
{
	const uint8_t *at = bytes;
	uint64_t word;
	hash = cmt_map_hash(hash, length);
	for (; length >= sizeof(word); at += sizeof(word), length -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = cmt_map_hash(hash, word);
	}
	word = 0;
	memcpy(&word, at, length);
	return cmt_map_hash(hash, word);
}
