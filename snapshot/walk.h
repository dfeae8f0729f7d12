/*
 * Walking the blocks of a snapshot in order of addresses.
 *
 * A walk yields runs: blocks as they lie in memory, [header][fields]..., in the mapping of the file
 * where that can be; or the block records of OCamlmemprof, which are read where they lie, too.
 * Other formats are transcoded into the walk's scratch memory, where blocks without recorded fields
 * are a bare header (elided).  snap_scan() steps from block to block inside a run and is inlined
 * into every consumer: there is no call per block.
 */
#ifndef SNAPSHOT_WALK_H
#define SNAPSHOT_WALK_H

#include "base/cursor.h"
#include "snapshot/snapshot.h"

/* A word where a file has it: not at a multiple of 8. */
typedef uint64_t snap_field __attribute__((aligned(1), may_alias));

struct snap_run {
	struct snap_header_address address; /* of the first block */
	const snap_field *words;
	size_t count;
	uint32_t stride;      /* words from block to block; 0: as their sizes say */
	unsigned dead_colors; /* a bit for each color of headers that begin no block; black in
				 slots: see snap_is_free_slots() */
	bool elided;          /* blocks with tags of opaque contents are headers only */

	/* Instead of all this: block records, with others of one byte among them; or NULL. */
	const uint8_t *records, *records_end;
	uint32_t record_count; /* of blocks */
};

/*
 * A block record of OCamlmemprof: its code, address of field 0, tag, wosize, id, then the fields of
 * blocks that have such (8 bytes each, little endian as all of it).
 */
enum {
	SNAP_RECORD_BLOCK = 0x01,
	SNAP_RECORD_BYTES = 1 + 8 + 1 + 8 + 8,
	/* No later header exists: blocks are given one with room for ids of 21 bits. */
	SNAP_RECORD_RESERVED = 21
};

/* A place in a run. */
struct snap_scan {
	const snap_field *next, *end;
	struct snap_header_address address;
	unsigned reserved;
	unsigned opaque; /* the lowest tag whose blocks have no fields to look at */
	unsigned dead_colors;
	uint32_t stride;
	bool elided;
	const uint8_t *records, *records_end;
	uint32_t record_count;
};

/* One block of a run. */
struct snap_cell {
	struct snap_header_address address;
	uint64_t header;
	uint64_t wosize;
	unsigned tag;
	const snap_field *fields;
	uint64_t field_count; /* of fields that are values: 0 for opaque and unrecorded ones */
};

struct snap_walk {
	const struct snap *snap;
	uint64_t entry, entry_end; /* still to come */
	uint32_t blocks_left;      /* of the current entry */
	struct base_cursor cursor; /* at its next block */
	/* Of the next block, for formats that do not record it. */
	struct snap_header_address address;
	uint64_t offset;   /* of the current entry */
	uint64_t *scratch; /* owned */
	size_t scratch_words;
	struct snap_scan scan; /* of the current run, for snap_block() */
	uint64_t found_entry;
	uint32_t found_next;    /* rank of the next block of it; 0: no place to go on from */
	struct snap_cell found; /* the block before that; no fields: it is not kept */
};

/*
 * A walk over index entries [first, end), or a part of it.  It may be set to another range again by
 * snap_walk_range() without new allocations.
 */
enum hg_status snap_walk_init(
	struct snap_walk *walk, const struct snap *snap, struct hg_error *error);
void snap_walk_range(struct snap_walk *walk, uint64_t first, uint64_t end);
void snap_walk_release(struct snap_walk *walk);

/* One walk for each thread. */
enum hg_status snap_walks_open(
	const struct snap *snap, unsigned count, struct snap_walk **out, struct hg_error *error);
void snap_walks_close(struct snap_walk *walks, unsigned count);

/* False at the end of the range. */
bool snap_walk_next(struct snap_walk *walk, struct snap_run *run);

static inline struct snap_scan snap_scan_run(const struct snap *snap, const struct snap_run *run)
{
	unsigned opaque = snap->no_fields ? 0 : SNAP_TAG_ABSTRACT;
	/* Runs of records have no words, not even none after a pointer. */
	const snap_field *end = run->words ? run->words + run->count : NULL;
	return (struct snap_scan){run->words, end, run->address, snap->reserved, opaque,
		run->dead_colors, run->stride, run->elided, run->records, run->records_end,
		run->record_count};
}

/* Loaders have checked the records; bounds are checked again, as files may change. */
static inline bool snap_scan_record(struct snap_scan *s, struct snap_cell *cell)
{
	while (s->record_count && (size_t)(s->records_end - s->records) >= SNAP_RECORD_BYTES) {
		const uint8_t *p = s->records;
		if (__builtin_expect(*p != SNAP_RECORD_BLOCK, 0)) {
			s->records++;
			continue;
		}
		uint64_t id = base_load_u64le(p + 18);
		cell->address = snap_pointed_header(base_load_u64le(p + 1));
		cell->tag = p[9];
		cell->wosize = base_load_u64le(p + 10);
		cell->header = snap_header_make(
			SNAP_RECORD_RESERVED, (uint32_t)id, cell->wosize, cell->tag);
		cell->field_count = cell->tag < s->opaque ? cell->wosize : 0;
		cell->fields = (const snap_field *)(const void *)(p + SNAP_RECORD_BYTES);
		if (cell->field_count > (size_t)(s->records_end - p - SNAP_RECORD_BYTES) / 8 ||
			cell->address.a >= SNAP_ADDRESS_LIMIT - 8 * cell->field_count)
			break;
		s->records = p + SNAP_RECORD_BYTES + 8 * cell->field_count;
		s->record_count--;
		return true;
	}
	s->record_count = 0;
	return false;
}

/* Steps over the slots without headers after the free one just met. */
static inline bool snap_scan_free_slots(struct snap_scan *s, uint64_t slots)
{
	if (slots > (uint64_t)(s->end - s->next) / s->stride) {
		s->next = s->end;
		return false;
	}
	s->next += slots * s->stride;
	s->address.a += 8 * slots * s->stride;
	return true;
}

/*
 * Free blocks, free slots and fragments of raw images are stepped over.  In a file that has changed
 * there may be more blocks than were counted: who numbers them stops at snap->block_count.
 */
static inline bool snap_scan_next(struct snap_scan *s, struct snap_cell *cell)
{
	if (s->records)
		return snap_scan_record(s, cell);
	while (s->next < s->end) {
		uint64_t header = *s->next;
		uint64_t wosize = snap_header_wosize(header, s->reserved);
		unsigned tag = snap_header_tag(header);
		uint64_t fields = tag < s->opaque ? wosize : 0;
		uint64_t step = 1 + (s->elided ? fields : wosize);
		cell->address = s->address;
		cell->header = header;
		cell->wosize = wosize;
		cell->tag = tag;
		cell->fields = s->next + 1;
		cell->field_count = fields;
		/* Loaders have seen to that; the file may have changed since. */
		if (step > (uint64_t)(s->end - s->next)) {
			s->next = s->end;
			return false;
		}
		s->next += s->stride ? s->stride : step;
		s->address.a += 8 * (s->stride ? s->stride : 1 + wosize);
		if (wosize != 0 && !(s->dead_colors >> snap_header_color(header) & 1))
			return true;
		if (s->stride && snap_is_free_slots(header) && !snap_scan_free_slots(s, wosize))
			return false;
	}
	return false;
}

/* The first field of a block that is a value: closures begin with code and its description. */
static inline uint64_t snap_first_value(const struct snap *snap, const struct snap_cell *cell)
{
	if (cell->tag != SNAP_TAG_CLOSURE || !snap->has_closinfo || cell->field_count < 2)
		return 0;
	/* runtime/caml/mlvalues.h: arity 8 bits, start of the environment 55 bits, 1 */
	uint64_t start = cell->fields[1] << 8 >> 9;
	return start < cell->field_count ? start : cell->field_count;
}

/* The index entry of a block: the last that begins at or before its rank. */
uint64_t snap_entry_of(const struct snap *snap, struct snap_rank rank);

/*
 * Finds one block by rank, fastest when ranks ascend.  The cell's fields live in the walk until it
 * moves on; use no other function on it in between.  False only if the file changed behind our
 * back.
 */
bool snap_block(struct snap_walk *walk, struct snap_rank rank, struct snap_cell *cell);

/* An infix header among the fields of a closure: it tells its own distance from the block. */
static inline bool snap_is_infix_header(uint64_t word, uint64_t field, unsigned reserved)
{
	return snap_header_tag(word) == SNAP_TAG_INFIX &&
	       snap_header_wosize(word, reserved) == field + 1;
}

#endif
