/*
 * Hashing of what stands in files.  Whoever writes a file must not be able to choose keys that meet
 * in one place of a table: every hash depends on a secret of the process, drawn once at random.  So
 * no result may depend on a hash, nor on the order in which a table has its entries.
 *
 * A key is multiplied by a random odd number, and what comes out by another one, so that all bits
 * of the hash depend on all bits of the key.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/error.h"

#include <stdbool.h>
#include <stdlib.h>

struct base_secret {
	uint64_t add, multiply; /* multiply is odd */
};

/* Lives as long as the process; the same for every caller. */
const struct base_secret *base_process_secret(void);

/* Both halves of the product, folded. */
static inline uint64_t base_fold(uint64_t a, uint64_t b)
{
	__extension__ unsigned __int128 product = (unsigned __int128)a * b;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* After one multiplication, keys at equal distances still have hashes at equal distances. */
static inline uint64_t base_hash(const struct base_secret *secret, uint64_t key)
{
	uint64_t once = base_fold(key ^ secret->add, secret->multiply);
	return base_fold(once ^ secret->multiply, UINT64_C(0xa0761d6478bd642f));
}

/* Of several numbers: begin with any, and join one after the other. */
static inline uint64_t base_hash_join(
	const struct base_secret *secret, uint64_t hash, uint64_t number)
{
	return base_hash(secret, hash + number);
}

uint64_t base_hash_bytes(const struct base_secret *secret, const void *bytes, size_t length);

/*
 * Numbers by keys, both of 64 bits; a zeroed map is empty.  Keys are any but 'value' is not
 * UINT64_MAX.  Open addressing, at most half full.
 */
struct base_map {
	struct base_map_slot {
		uint64_t key, value; /* value + 1; 0: free */
	} * slots;
	uint64_t mask, count;
	struct base_secret secret; /* a copy, so that looking a key up is no call */
	uint64_t probes; /* of slots taken by other keys, by all calls that change the map */
};

/* False, and *value as it was, if the key has none. */
static inline bool base_map_get(const struct base_map *map, uint64_t key, uint64_t *value)
{
	if (!map->slots)
		return false;
	uint64_t at = base_hash(&map->secret, key) & map->mask;
	while (map->slots[at].value && map->slots[at].key != key)
		at = (at + 1) & map->mask;
	if (!map->slots[at].value)
		return false;
	*value = map->slots[at].value - 1;
	return true;
}

/* The same for values of 32 bits. */
static inline bool base_map_number(const struct base_map *map, uint64_t key, uint32_t *number)
{
	uint64_t value;
	if (!base_map_get(map, key, &value))
		return false;
	*number = (uint32_t)value;
	return true;
}

/* Sets the value of a key, whether it has one or not. */
enum hg_status base_map_set(
	struct base_map *map, uint64_t key, uint64_t value, struct hg_error *error);

/* Sets the value of a key that has none; else false, with the value it has at *value. */
enum hg_status base_map_add(
	struct base_map *map, uint64_t key, uint64_t *value, bool *added, struct hg_error *error);

/* The same for a map that is but a set of keys. */
static inline enum hg_status base_map_note(
	struct base_map *map, uint64_t key, bool *added, struct hg_error *error)
{
	uint64_t none = 0;
	return base_map_add(map, key, &none, added, error);
}

/* Frees it; the map is empty then and may be used again. */
void base_map_release(struct base_map *map);

#endif
