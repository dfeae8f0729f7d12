/*
 * Location sources.  Input: one byte that says what the ids mean (modulo 3) and whether the program
 * was native (bit 7), then the source.
 */
#include "tests/fuzz/fuzz.h"

#include "base/cursor.h"
#include "snapshot/header.h"
#include "snapshot/legacy/sites.h"

enum { EVERY_ID = 1100, LOST_BIT = 1 << 21, NATIVE = 0x80 };

static void check_location(const struct snap_sites *sites, uint32_t number)
{
	CHECK(number < sites->count);
	const struct snap_location *location = &sites->locations[number];
	CHECK(!location->file || !location->name);
	CHECK((location->file || location->name) == (number != 0));
	CHECK(!location->file || strlen(location->file) <= 4096);
	CHECK(!location->name || strlen(location->name) <= 64);
}

static void look_up(const struct snap_sites *sites, uint32_t id, unsigned tag)
{
	enum hg_confidence confidence;
	uint32_t number = snap_sites_find(sites, id, tag, &confidence);
	check_location(sites, number);
	CHECK((confidence == HG_UNKNOWN_ORIGIN) == (number == 0));
	CHECK(confidence <= HG_EXACT);
}

/* All small ids, and all that the input may have meant. */
static void look_up_all(const struct snap_sites *sites, const uint8_t *data, size_t size)
{
	for (uint32_t id = 0; id < EVERY_ID; id++) {
		look_up(sites, id, 0);
		look_up(sites, id, SNAP_TAG_CLOSURE);
		look_up(sites, id ^ LOST_BIT, 0);
	}
	look_up(sites, UINT32_MAX, 0);
	struct base_cursor c = base_cursor_over(data, size);
	uint64_t id;
	for (unsigned i = 0; i < EVERY_ID && base_cursor_be(&c, 4, &id); i++) {
		look_up(sites, (uint32_t)id, 0);
		look_up(sites, (uint32_t)id & (LOST_BIT - 1), 0);
		base_cursor_seek(&c, i + 1);
	}
	for (uint32_t number = 0; number < sites->count; number++)
		check_location(sites, number);
}

/* A source that is refused leaves the predefined ids, and nothing of its own. */
static void check_predefined(const struct snap_sites *sites, const struct snap_sites *fresh,
	const struct hg_error *error)
{
	check_line(error->message, sizeof(error->message));
	CHECK(sites->count == fresh->count && sites->entries == 0 && sites->conflicts == 0);
	CHECK(sites->by_id.used == fresh->by_id.used && sites->pool.bytes == fresh->pool.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct snap_sites sites, fresh;
	struct hg_error error;
	if (size == 0)
		return 0;
	enum snap_ids ids = (enum snap_ids)((data[0] & ~NATIVE) % 3);
	bool native = data[0] & NATIVE;
	base_error_clear(&error);
	CHECK(snap_sites_init(&sites, ids, native, &error) == HG_OK);
	CHECK(snap_sites_init(&fresh, ids, native, &error) == HG_OK);
	enum hg_status status = snap_sites_load(&sites, data + 1, size - 1, &error);
	CHECK(status == HG_OK || status == HG_ERROR_INPUT || status == HG_ERROR_LIMIT);
	CHECK(sites.ids == ids && sites.native == native);
	if (status == HG_OK)
		CHECK(sites.count <= fresh.count + sites.entries);
	else
		check_predefined(&sites, &fresh, &error);
	look_up_all(&sites, data + 1, size - 1);
	snap_sites_release(&sites);
	snap_sites_release(&fresh);
	CHECK(sites.count == 0 && !sites.locations);
	return 0;
}
