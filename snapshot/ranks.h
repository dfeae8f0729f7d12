/*
 * Addresses -> numbers.
 *
 * The heap is divided into granules of 32 KiB; those that hold a header or a field are numbered in
 * order of addresses.  A granule has 64 lines of 64 words, and a line two bits per word: "a header
 * begins here" and "kept": a header, or a field that may be a pointer.  With the counts of bits in
 * the lines before,
 *
 *     rank of a block = headers before it,
 *     slot of a word  = kept words before it,
 *
 * cost one load and one population count.  The slot is the word's place in the compact graph.  A
 * header bit without the kept bit marks an infix header, which is no block of its own.
 *
 * 24 bytes per 64 words: about 1.5 bytes per block in a heap of lists, tables and trees.
 * (Jacobson, "Space-efficient static trees and graphs", 1989, for rank by counted bitmaps.)
 */
#ifndef SNAPSHOT_RANKS_H
#define SNAPSHOT_RANKS_H

#include "base/arena.h"
#include "snapshot/header.h"

#include <stdbool.h>

enum {
	SNAP_GRANULE_SHIFT = 15, /* bytes */
	SNAP_GRANULE_LINES = 64,
	SNAP_LEAF_SHIFT = 12, /* granules per leaf of the table */
	SNAP_TOP_ENTRIES = 1 << (48 - SNAP_GRANULE_SHIFT - SNAP_LEAF_SHIFT)
};

/* Numbers of different kinds are different types, so that none can pass for another. */
struct snap_rank {
	uint32_t n;
};
struct snap_slot {
	uint32_t n;
};

struct snap_line {
	uint64_t header;
	uint64_t kept;
	uint32_t kept_before;
	uint32_t blocks_before;
};

/* Granule numbers (address >> 15, of 33 bits) collected by a loader, in the order met. */
struct snap_granules {
	uint64_t *numbers;
	uint64_t count, capacity;
	uint64_t last; /* the one added last; 0 before: chunks begin after the first page */
};

struct snap_ranks {
	struct snap_line *lines; /* granule 0 is empty and stands for all absent ones */
	uint32_t *top;           /* leaf number by the high bits of an address; 0: no granules */
	uint32_t *leaves;        /* granule by the middle bits; 0: absent */
	uint64_t *numbers;       /* address >> 15 of each granule; [0] unused */
	uint64_t granule_count;  /* absent one included */
	uint64_t first_word, word_span; /* the granules lie within [first, first + span) */
	uint64_t slot_count;
};

enum hg_status snap_granules_add(struct snap_granules *granules, uint64_t first_address,
	uint64_t last_address, struct hg_error *error);
void snap_granules_release(struct snap_granules *granules);

/*
 * Allocates lines for the granules seen (sorting and freeing them).  The number of blocks bounds
 * the cost: a file whose few blocks are strewn over the address space is refused as corrupt.
 */
enum hg_status snap_ranks_init(struct snap_ranks *ranks, struct snap_granules *granules,
	struct base_arena *arena, uint64_t blocks, struct hg_error *error);

/* Counts bits, after all are set; the number of blocks comes out at *blocks. */
enum hg_status snap_ranks_count(struct snap_ranks *ranks, uint64_t *blocks, struct hg_error *error);

/* Words are numbered by their address >> 3. */
static inline uint64_t snap_header_word(struct snap_header_address header)
{
	return header.a >> 3;
}

static inline struct snap_header_address snap_word_header(uint64_t word)
{
	return (struct snap_header_address){word << 3};
}

/* The line of a word; all absent words share an empty one. */
static inline struct snap_line *snap_ranks_line(const struct snap_ranks *ranks, uint64_t word)
{
	uint32_t leaf = ranks->top[word >> (SNAP_GRANULE_SHIFT - 3 + SNAP_LEAF_SHIFT)];
	uint64_t middle = word >> (SNAP_GRANULE_SHIFT - 3) & ((1 << SNAP_LEAF_SHIFT) - 1);
	uint32_t granule = ranks->leaves[((uint64_t)leaf << SNAP_LEAF_SHIFT) + middle];
	return ranks->lines + (uint64_t)granule * SNAP_GRANULE_LINES + (word >> 6 & 63);
}

static inline struct snap_line *snap_ranks_line_of(
	const struct snap_ranks *ranks, struct snap_header_address header)
{
	return snap_ranks_line(ranks, snap_header_word(header));
}

/* Whether a header may belong to a granule: the cheap test of pass 1, and a bound for the table. */
static inline bool snap_ranks_spans(
	const struct snap_ranks *ranks, struct snap_header_address header)
{
	return snap_header_word(header) - ranks->first_word < ranks->word_span;
}

static inline bool snap_line_is_block(
	const struct snap_line *line, struct snap_header_address header)
{
	return (line->header & line->kept) >> (snap_header_word(header) & 63) & 1;
}

static inline struct snap_slot snap_line_slot(
	const struct snap_line *line, struct snap_header_address header)
{
	uint64_t word = snap_header_word(header);
	uint64_t below = ((uint64_t)1 << (word & 63)) - 1;
	uint32_t in_line = (uint32_t)__builtin_popcountll(line->kept & below);
	return (struct snap_slot){line->kept_before + in_line};
}

static inline struct snap_rank snap_line_rank(
	const struct snap_line *line, struct snap_header_address header)
{
	uint64_t word = snap_header_word(header);
	uint64_t below = ((uint64_t)1 << (word & 63)) - 1;
	uint32_t in_line = (uint32_t)__builtin_popcountll(line->header & line->kept & below);
	return (struct snap_rank){line->blocks_before + in_line};
}

/* The header of the block with this rank, or with this slot; it must exist. */
struct snap_header_address snap_ranks_header(const struct snap_ranks *ranks, struct snap_rank rank);
struct snap_header_address snap_ranks_slot_header(
	const struct snap_ranks *ranks, struct snap_slot slot);

/* The last block whose header is at or before an address. */
bool snap_ranks_block_before(
	const struct snap_ranks *ranks, uint64_t address, struct snap_rank *rank);

#endif
