/*
 * Location sources.  Input: one byte that says what the ids mean (modulo 3) and whether the program
 * was native (bit 7), then the source.
 */
#include "tests/fuzz/fuzz.h"

#include "base/cursor.h"
#include "snapshot/header.h"
#include "snapshot/legacy/location_source.h"

enum { EVERY_ID = 1100, LOST_BIT = 1 << 21, NATIVE = 0x80 };

static void check_location(const struct snap_locations *locations, uint32_t number)
{
	CHECK(number < locations->count);
	const struct snap_location *location = &locations->items[number];
	CHECK(!location->file || !location->name);
	CHECK((location->file || location->name) == (number != 0));
	CHECK(!location->file || strlen(location->file) <= 4096);
	CHECK(!location->name || strlen(location->name) <= 64);
}

static void look_up(const struct snap_locations *locations, uint32_t id, unsigned tag)
{
	enum hg_confidence confidence;
	uint32_t number = snap_locations_find(locations, id, tag, &confidence);
	check_location(locations, number);
	CHECK((confidence == HG_UNKNOWN_ORIGIN) == (number == 0));
	CHECK(confidence <= HG_EXACT);
}

/* All small ids, and all that the input may have meant. */
static void look_up_all(const struct snap_locations *locations, const uint8_t *data, size_t size)
{
	for (uint32_t id = 0; id < EVERY_ID; id++) {
		look_up(locations, id, 0);
		look_up(locations, id, SNAP_TAG_CLOSURE);
		look_up(locations, id ^ LOST_BIT, 0);
	}
	look_up(locations, UINT32_MAX, 0);
	struct base_cursor c = base_cursor_over(data, size);
	uint64_t id;
	for (unsigned i = 0; i < EVERY_ID && base_cursor_be(&c, 4, &id); i++) {
		look_up(locations, (uint32_t)id, 0);
		look_up(locations, (uint32_t)id & (LOST_BIT - 1), 0);
		base_cursor_seek(&c, i + 1);
	}
	for (uint32_t number = 0; number < locations->count; number++)
		check_location(locations, number);
}

/* A source that is refused leaves the predefined ids, and nothing of its own. */
static void check_predefined(const struct snap_locations *locations,
	const struct snap_locations *fresh, const struct hg_error *error)
{
	check_line(error->message, sizeof(error->message));
	CHECK(locations->count == fresh->count && locations->entries == 0 &&
		locations->conflicts == 0);
	CHECK(locations->by_id.count == fresh->by_id.count &&
		locations->pool.bytes == fresh->pool.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct snap_locations locations, fresh;
	struct hg_error error;
	if (size == 0)
		return 0;
	enum snap_ids ids = (enum snap_ids)((data[0] & ~NATIVE) % 3);
	bool native = data[0] & NATIVE;
	base_error_clear(&error);
	CHECK(snap_source_init(&locations, ids, native, &error) == HG_OK);
	CHECK(snap_source_init(&fresh, ids, native, &error) == HG_OK);
	enum hg_status status =
		snap_source_load(&locations, ids, native, data + 1, size - 1, &error);
	CHECK(status == HG_OK || status == HG_ERROR_INPUT || status == HG_ERROR_LIMIT);
	if (status == HG_OK)
		CHECK(locations.count <= fresh.count + locations.entries);
	else
		check_predefined(&locations, &fresh, &error);
	look_up_all(&locations, data + 1, size - 1);
	snap_locations_release(&locations);
	snap_locations_release(&fresh);
	CHECK(locations.count == 0 && !locations.items);
	return 0;
}
