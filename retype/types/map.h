/* Other names of base_map. */
#ifndef RETYPE_TYPES_MAP_H
#define RETYPE_TYPES_MAP_H

#include "base/hash.h"

#define retype_map base_map
#define retype_map_get base_map_get
#define retype_map_set base_map_set
#define retype_map_number base_map_number
#define retype_map_clear base_map_release

static inline uint64_t retype_map_hash(uint64_t hash, uint64_t number)
{
	return base_hash_join(base_secret(), base_hash(base_secret(), hash), number);
}

static inline uint64_t retype_map_hash_string(uint64_t hash, const void *bytes, uint64_t length)
{
	return retype_map_hash(hash, base_hash_bytes(base_secret(), bytes, length));
}

#endif
