/*
 * Series of Spacetime.  Input: one byte, then the series; bit 0 of that byte is 'strict'.
 */
#include "tests/fuzz/fuzz.h"

#include "trace/spacetime/snapshot.h"
#include "trace/spacetime/walk.h"

#include <stdlib.h>

static enum hg_status check_step(void *data, const struct spacetime_step *step)
{
	const struct spacetime_walk *walk = data;
	CHECK(step->caller < walk->frame_count);
	CHECK(step->kind >= SPACETIME_NODE && step->kind <= SPACETIME_C_CALLS);
	return HG_OK;
}

static void read_calls(const struct spacetime_series *series)
{
	struct spacetime_tables tables;
	struct spacetime_walk walk = {0};
	struct hg_error error;
	enum hg_status status = spacetime_read_tables(series, &tables, &error);
	for (uint64_t i = 0; i < tables.frame_count; i++)
		CHECK((uint64_t)tables.frames[i].first + tables.frames[i].count <=
			tables.location_count);
	for (uint64_t i = 0; i < tables.location_count; i++)
		CHECK(!tables.locations[i].known || tables.locations[i].file < tables.files.count);
	if (status == HG_OK)
		CHECK(spacetime_walk_init(&walk, &tables, check_step, &walk, &error) == HG_OK);
	for (uint64_t i = 0; status == HG_OK && i < 2 * series->thread_count && i < 16; i++) {
		bool any;
		spacetime_walk_trie(&walk, series, series->tries[i], &any);
	}
	for (uint64_t i = 1; i < walk.frame_count; i++)
		CHECK(walk.frames[i].caller < i);
	spacetime_walk_release(&walk);
	spacetime_tables_release(&tables);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct spacetime_series series;
	struct hg_error error;
	if (size == 0)
		return 0;
	base_error_clear(&error);
	enum hg_status status = spacetime_open(&series, data + 1, size - 1, data[0] & 1, &error);
	if (status != HG_OK) {
		CHECK(status == HG_ERROR_INPUT || status == HG_ERROR_LIMIT);
		check_line(error.message, sizeof(error.message));
		return 0;
	}
	CHECK(series.snapshot_count + series.event_count == series.moment_count);
	for (uint64_t i = 0; i < series.moment_count; i++) {
		struct spacetime_snapshot snapshot;
		if (series.moments[i].is_event)
			continue;
		spacetime_read_snapshot(&series, &series.moments[i], &snapshot, &error);
		spacetime_snapshot_release(&snapshot);
	}
	if (series.complete)
		read_calls(&series);
	spacetime_close(&series);
	return 0;
}
