/* The secret of the process, hashes of bytes, and maps that grow when they are half full. */
#include "base/hash.h"

#include "base/grow.h"

#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_SLOTS = 64 };

static struct base_secret secret;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A kernel that has no random numbers yet is just booting: nobody has prepared a file for it. */
static void draw_secret(void)
{
	struct timespec now;
	if (getrandom(&secret, sizeof(secret), GRND_NONBLOCK) != (ssize_t)sizeof(secret)) {
		clock_gettime(CLOCK_REALTIME, &now);
		secret.add = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)getpid();
		secret.multiply = (uint64_t)(uintptr_t)&now * UINT64_C(0x9e3779b97f4a7c15);
	}
	secret.multiply |= 1;
}

const struct base_secret *base_process_secret(void)
{
	pthread_once(&once, draw_secret);
	return &secret;
}

uint64_t base_hash_bytes(const struct base_secret *with, const void *bytes, size_t length)
{
	const uint8_t *at = bytes;
	uint64_t hash = base_hash(with, length), word;
	for (; length >= sizeof(word); at += sizeof(word), length -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = base_hash_join(with, hash, word);
	}
	word = 0;
	if (length)
		memcpy(&word, at, length);
	return base_hash_join(with, hash, word);
}

/* The slot of a key, or the free one where it would be; the map has slots. */
static struct base_map_slot *slot_of_key(const struct base_map *map, uint64_t key, uint64_t *probes)
{
	uint64_t at = base_hash(&map->secret, key) & map->mask;
	for (; map->slots[at].value && map->slots[at].key != key; at = (at + 1) & map->mask)
		++*probes;
	return &map->slots[at];
}

static enum hg_status grow_map(struct base_map *map, struct hg_error *error)
{
	struct base_map larger = *map;
	uint64_t size = map->slots ? 2 * (map->mask + 1) : FIRST_SLOTS;
	larger.mask = size - 1;
	larger.secret = *base_process_secret();
	larger.slots = base_huge_alloc(size, sizeof(*larger.slots));
	if (!larger.slots)
		return base_no_memory(error, size * sizeof(*larger.slots));
	memset(larger.slots, 0, size * sizeof(*larger.slots));
	for (uint64_t i = 0; map->slots && i <= map->mask; i++)
		if (map->slots[i].value)
			*slot_of_key(&larger, map->slots[i].key, &larger.probes) = map->slots[i];
	free(map->slots);
	*map = larger;
	return HG_OK;
}

static enum hg_status reserve_slot(struct base_map *map, struct hg_error *error)
{
	bool is_full = !map->slots || 2 * (map->count + 1) > map->mask + 1;
	return is_full ? grow_map(map, error) : HG_OK;
}

enum hg_status base_map_set(
	struct base_map *map, uint64_t key, uint64_t value, struct hg_error *error)
{
	BASE_TRY(reserve_slot(map, error));
	struct base_map_slot *slot = slot_of_key(map, key, &map->probes);
	map->count += slot->value == 0;
	*slot = (struct base_map_slot){key, value + 1};
	return HG_OK;
}

enum hg_status base_map_add(
	struct base_map *map, uint64_t key, uint64_t *value, bool *added, struct hg_error *error)
{
	*added = false;
	BASE_TRY(reserve_slot(map, error));
	struct base_map_slot *slot = slot_of_key(map, key, &map->probes);
	*added = slot->value == 0;
	if (*added) {
		*slot = (struct base_map_slot){key, *value + 1};
		map->count++;
	} else {
		*value = slot->value - 1;
	}
	return HG_OK;
}

void base_map_release(struct base_map *map)
{
	free(map->slots);
	*map = (struct base_map){0};
}
