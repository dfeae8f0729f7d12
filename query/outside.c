/* Pointers to no block, by where they lead. */
#include "query/shared/result.h"

#include "base/assert.h"
#include "base/hash.h"
#include "snapshot/walk.h"

#include <stdio.h>
#include <stdlib.h>

/* Memory of which the file says nothing is told apart in pieces of this size. */
enum { PIECE_SHIFT = 24 };

struct outside {
	struct hg_snapshot *snapshot;
	struct hg_outside_row *rows;
	uint64_t row_count, capacity, pointers;
	struct base_map by_start; /* of a region: its row */
};

/* The region that an address which leads to no block lies in. */
static struct snap_region region_of_address(const struct snap *snap, uint64_t address)
{
	struct snap_region region;
	const struct snap_chunk *chunk = snap_chunk_at(snap, snap_pointed_header(address).a);
	if (address < SNAP_ADDRESS_FIRST)
		return (struct snap_region){.kind = SNAP_REGION_LOW};
	if (address >= SNAP_ADDRESS_LIMIT)
		return (struct snap_region){SNAP_REGION_HIGH, SNAP_ADDRESS_LIMIT, NULL};
	/* The chunks of a segment are one: who would know them by their addresses? */
	if (chunk)
		return (struct snap_region){SNAP_REGION_CHUNK, 1 + (uint64_t)chunk->segment,
			hg_segment_name(chunk->segment)};
	if (snap_process_region(snap, address, &region))
		return region;
	return (struct snap_region){
		SNAP_REGION_UNKNOWN, address >> PIECE_SHIFT << PIECE_SHIFT, NULL};
}

static enum hg_status count_pointer(struct outside *o, uint64_t value, uint64_t holder)
{
	uint64_t row = o->row_count;
	bool added;
	BASE_TRY(base_map_add(&o->by_start, region_of_address(&o->snapshot->snap, value).start,
		&row, &added, &o->snapshot->session->error));
	if (added) {
		BASE_TRY(query_grow(
			o->snapshot, &o->rows, o->row_count, &o->capacity, sizeof(*o->rows)));
		o->rows[o->row_count++] = (struct hg_outside_row){value, 0, holder};
	}
	if (value < o->rows[row].address)
		o->rows[row].address = value;
	o->rows[row].pointers++;
	o->pointers++;
	return HG_OK;
}

static enum hg_status count_cell(struct outside *o, const struct snap_cell *cell)
{
	const struct snap *snap = &o->snapshot->snap;
	for (uint64_t i = snap_first_value(snap, cell); i < cell->field_count; i++) {
		uint64_t value = cell->fields[i];
		struct snap_header_address header;
		if (value & 1)
			continue;
		enum snap_outcome outcome = snap_resolve(snap, value, &header);
		if (outcome == SNAP_OUTSIDE || outcome == SNAP_DANGLING)
			BASE_TRY(count_pointer(o, value, snap_block_of(cell->address).a));
	}
	return HG_OK;
}

static enum hg_status count_heap(struct outside *o)
{
	const struct snap *snap = &o->snapshot->snap;
	struct snap_walk walk;
	struct snap_run run;
	BASE_TRY(snap_walk_init(&walk, snap, &o->snapshot->session->error));
	enum hg_status status = HG_OK;
	snap_walk_range(&walk, 0, snap->entry_count);
	while (status == HG_OK && snap_walk_next(&walk, &run)) {
		struct snap_scan scan = snap_scan_run(snap, &run);
		struct snap_cell cell;
		while (status == HG_OK && snap_scan_next(&scan, &cell))
			status = count_cell(o, &cell);
	}
	snap_walk_release(&walk);
	return status;
}

static int compare_pointers(const void *a, const void *b)
{
	const struct hg_outside_row *x = a, *y = b;
	if (x->pointers != y->pointers)
		return x->pointers > y->pointers ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

static uint64_t sum_of_pointers(const struct hg_outside_row *rows, uint64_t count)
{
	uint64_t pointers = 0;
	for (uint64_t i = 0; i < count; i++) {
		base_assert(i == 0 || compare_pointers(&rows[i - 1], &rows[i]) < 0);
		pointers += rows[i].pointers;
	}
	return pointers;
}

static enum hg_status give_outside(struct outside *o, struct hg_outside *out)
{
	out->count = o->row_count;
	out->pointers = o->pointers;
	if (o->row_count)
		qsort(o->rows, o->row_count, sizeof(*o->rows), compare_pointers);
	base_assert(sum_of_pointers(o->rows, o->row_count) == out->pointers);
	return query_keep_rows(
		o->snapshot, out, o->rows, o->row_count, sizeof(*o->rows), &out->rows);
}

enum hg_status hg_list_outside(struct hg_snapshot *snapshot, struct hg_outside **out)
{
	struct outside o = {.snapshot = snapshot};
	BASE_TRY(query_answer(snapshot, sizeof(**out), out));
	enum hg_status status = count_heap(&o);
	base_map_release(&o.by_start);
	if (status == HG_OK)
		status = give_outside(&o, *out);
	else
		free(o.rows);
	if (status != HG_OK)
		query_free(out);
	return status;
}

void hg_outside_release(struct hg_outside **outside)
{
	query_free(outside);
}

size_t hg_outside_name(
	const struct hg_snapshot *snapshot, uint64_t address, char *buffer, size_t size)
{
	size = query_room(buffer, size);
	if (size)
		buffer[0] = '\0';
	if (!snapshot)
		return 0;
	struct snap_region region = region_of_address(&snapshot->snap, address);
	unsigned long long start = (unsigned long long)region.start;
	int length = 0;
	switch (region.kind) {
	case SNAP_REGION_LOW:
		length = snprintf(buffer, size, "no address: the first page, or null");
		break;
	case SNAP_REGION_HIGH:
		length = snprintf(buffer, size, "no address: more than 48 bits");
		break;
	case SNAP_REGION_CHUNK:
		length = snprintf(buffer, size, "%s, but no block", region.name);
		break;
	case SNAP_REGION_FILE:
		length = snprintf(buffer, size, "%s", region.name);
		break;
	case SNAP_REGION_MEMORY:
		length = snprintf(buffer, size, "memory mapped at 0x%llx", start);
		break;
	case SNAP_REGION_UNKNOWN:
		length = snprintf(buffer, size, "memory not recorded, around 0x%llx", start);
		break;
	}
	return length < 0 ? 0 : (size_t)length;
}
