/*
 * The header word of an OCaml block (runtime/caml/mlvalues.h, byterun/mlvalues.h of the memprof
 * compilers), for any number R of reserved bits, 0 to 31:
 *
 *     reserved R | wosize 54-R | colour 2 | tag 8
 *
 * In memprof snapshots the reserved bits are the location id: R = 21 gives 21/33/2/8.
 */
#ifndef SNAPSHOT_HEADER_H
#define SNAPSHOT_HEADER_H

#include <stdbool.h>
#include <stdint.h>

enum {
	SNAP_TAG_CONT = 245, /* of OCaml 5 */
	SNAP_TAG_CLOSURE = 247,
	SNAP_TAG_OBJECT = 248,
	SNAP_TAG_INFIX = 249,
	SNAP_TAG_FORWARD = 250,
	SNAP_TAG_ABSTRACT = 251, /* from here on a block has no fields that are values */
	SNAP_TAG_STRING = 252,
	SNAP_TAG_DOUBLE = 253,
	SNAP_TAG_DOUBLE_ARRAY = 254,
	SNAP_TAG_CUSTOM = 255
};

/* Words of ephemerons and weak arrays (runtime/caml/weak.h): word 0 links them. */
enum { SNAP_EPHEMERON_DATA = 1, SNAP_EPHEMERON_FIRST_KEY = 2 };

enum { SNAP_COLOR_WHITE, SNAP_COLOR_GRAY, SNAP_COLOR_BLUE, SNAP_COLOR_BLACK };

static inline unsigned snap_header_tag(uint64_t header)
{
	return (unsigned)(header & 0xff);
}

static inline unsigned snap_header_color(uint64_t header)
{
	return (unsigned)(header >> 8 & 3);
}

/* Number of fields; the two shifts drop the reserved bits and are as cheap as one. */
static inline uint64_t snap_header_wosize(uint64_t header, unsigned reserved)
{
	return (header << reserved) >> (reserved + 10);
}

static inline uint32_t snap_header_reserved(uint64_t header, unsigned reserved)
{
	return reserved ? (uint32_t)(header >> (64 - reserved)) : 0;
}

static inline uint64_t snap_header_max_wosize(unsigned reserved)
{
	return UINT64_MAX >> (reserved + 10);
}

/* The parts must fit; the colour is white. */
static inline uint64_t snap_header_make(
	unsigned reserved, uint32_t reserved_value, uint64_t wosize, unsigned tag)
{
	uint64_t high = reserved ? (uint64_t)reserved_value << (64 - reserved) : 0;
	return high | wosize << 10 | tag;
}

/*
 * A free slot of a pool of OCaml 5.5: its wosize says how many free slots follow, which have no
 * headers (runtime/shared_heap.c, POOL_FREE_HEADER).  Blocks in pools never have this colour.
 */
static inline bool snap_is_free_slots(uint64_t header)
{
	return snap_header_color(header) == SNAP_COLOR_BLACK &&
	       snap_header_tag(header) == SNAP_TAG_ABSTRACT;
}

static inline bool snap_tag_has_fields(unsigned tag)
{
	return tag < SNAP_TAG_ABSTRACT;
}

/* User addresses of every 64-bit Linux fit; what lies above is a damaged file. */
#define SNAP_ADDRESS_LIMIT ((uint64_t)1 << 48)

/* No system maps anything below; granule 0 does not occur, and numbers below are no addresses. */
#define SNAP_ADDRESS_FIRST ((uint64_t)0x10000)

/* Addresses [start, end). */
struct snap_range {
	uint64_t start, end;
};

/*
 * Where a block is has two spellings, a word apart, and each has a type, so that none can pass for
 * the other.  The model stores and hands on the address of the header.  Pointers, the tables of the
 * runtime and all output have that of field 0.  Words of fields, bounds of memory and addresses of
 * anything else are plain numbers.
 */
struct snap_header_address {
	uint64_t a;
};
struct snap_block_address {
	uint64_t a; /* of field 0 */
};

static inline struct snap_block_address snap_block_of(struct snap_header_address header)
{
	return (struct snap_block_address){header.a + 8};
}

static inline struct snap_header_address snap_header_of(struct snap_block_address block)
{
	return (struct snap_header_address){block.a - 8};
}

/* The header of the block to whose field 0 a word points. */
static inline struct snap_header_address snap_pointed_header(uint64_t value)
{
	return snap_header_of((struct snap_block_address){value});
}

/* The address of a field, also of the one past the end: there the block ends. */
static inline uint64_t snap_field_address(struct snap_header_address header, uint64_t field)
{
	return snap_block_of(header).a + 8 * field;
}

/* What a block takes, header included. */
static inline uint64_t snap_block_bytes(uint64_t wosize)
{
	return 8 * (wosize + 1);
}

#endif
