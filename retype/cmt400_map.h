/*
 * A table from 64-bit keys to 32-bit numbers: open addressing, for keys that readers make up.  The
 * keys are mixed with a random seed, so that no file can choose ones that collide.
 */
#ifndef RETYPE_CMT400_MAP_H
#define RETYPE_CMT400_MAP_H

#include "base/error.h"

#include <stdbool.h>

struct cmt_map {
	struct cmt_map_slot *slots;
	uint64_t mask, used;
	uint64_t seed;
};

/* A zeroed table is empty. */
void cmt_map_release(struct cmt_map *map);

/* The number of a key; false if it has none. */
bool cmt_map_find(const struct cmt_map *map, uint64_t key, uint32_t *number);

/* Sets or replaces. */
enum hg_status cmt_map_set(
	struct cmt_map *map, uint64_t key, uint32_t number, struct hg_error *error);

/* A key for several numbers and a string, equal for equal ones; others may have it, too. */
uint64_t cmt_map_hash(uint64_t hash, uint64_t number);
uint64_t cmt_map_hash_string(uint64_t hash, const void *bytes, uint64_t length);

#endif
