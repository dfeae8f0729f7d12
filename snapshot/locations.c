/* Locations by number, and what the ids in headers mean. */
#include "snapshot/locations.h"

#include "base/assert.h"
#include "snapshot/header.h"

#include <stdlib.h>

/* A meaning takes 32 bits in the map, two of them for the confidence. */
#define LOCATION_LIMIT (UINT32_C(1) << 30)

enum hg_status snap_locations_init(struct snap_locations *locations, struct hg_error *error)
{
	uint32_t none;
	*locations = (struct snap_locations){.wrong_closures_from = UINT32_MAX};
	enum hg_status status =
		snap_locations_add(locations, &(struct snap_location){0}, &none, error);
	base_assert(status != HG_OK || none == 0);
	return status;
}

void snap_locations_release(struct snap_locations *locations)
{
	free(locations->items);
	base_map_release(&locations->by_id);
	base_pool_release(&locations->pool);
	*locations = (struct snap_locations){0};
}

enum hg_status snap_locations_add(struct snap_locations *locations,
	const struct snap_location *location, uint32_t *number, struct hg_error *error)
{
	base_assert(!location->file || !location->name);
	if (locations->count == locations->capacity) {
		uint32_t capacity = locations->capacity ? 2 * locations->capacity : 64;
		if (capacity > LOCATION_LIMIT)
			return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET, "too many locations");
		struct snap_location *items = realloc(locations->items, capacity * sizeof(*items));
		if (!items)
			return base_no_memory(error, capacity * sizeof(*items));
		locations->items = items;
		locations->capacity = capacity;
	}
	*number = locations->count++;
	locations->items[*number] = *location;
	return HG_OK;
}

enum hg_status snap_locations_set(struct snap_locations *locations, uint32_t id,
	struct snap_meaning meaning, struct hg_error *error)
{
	base_assert(meaning.location < locations->count && (unsigned)meaning.confidence < 4);
	uint64_t packed = (uint64_t)meaning.location << 2 | (uint64_t)meaning.confidence;
	return base_map_set(&locations->by_id, id, packed, error);
}

bool snap_locations_get(
	const struct snap_locations *locations, uint32_t id, struct snap_meaning *meaning)
{
	uint64_t packed;
	if (!base_map_get(&locations->by_id, id, &packed))
		return false;
	meaning->location = (uint32_t)(packed >> 2);
	meaning->confidence = (enum hg_confidence)(packed & 3);
	base_assert(meaning->location < locations->count);
	return true;
}

uint32_t snap_locations_find(const struct snap_locations *locations, uint32_t id, unsigned tag,
	enum hg_confidence *confidence)
{
	struct snap_meaning meaning;
	*confidence = HG_UNKNOWN_ORIGIN;
	if (!snap_locations_get(locations, id, &meaning) || meaning.location == 0)
		return 0;
	bool is_doubtful = tag == SNAP_TAG_CLOSURE && id >= locations->wrong_closures_from;
	*confidence = is_doubtful ? HG_GUESSED : meaning.confidence;
	return meaning.location;
}

bool snap_locations_know(const struct snap_locations *locations, uint32_t id)
{
	struct snap_meaning unused;
	return id < locations->first_id || snap_locations_get(locations, id, &unused);
}
