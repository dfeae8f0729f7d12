/*
 * Retyping: a type for every block of a snapshot, from what is known to be typed (seeds) along the
 * fields of blocks.
 *
 * Rounds: each types the blocks that the blocks typed in the round before hold, from their types as
 * they were then, and joins what a block gets from several sides by retype_join().  So the result
 * depends neither on the order within a round nor on threads.  Strata: seeds that are exact (fields
 * of units, places and samples with one type that fits) run to their end first, then inferred ones
 * (captures of closures, places with several types, objects by their methods, at last exceptions).
 * What a later stratum typed or changed is as sure as its seeds.  A seed that is not exact, and
 * leads to a block of another shape, is undone.
 *
 * 8 bytes per block; while propagating about 2 more: bits, and lists of 16 bytes for each block of
 * a round, if it has at most a 64th of all.
 */
#ifndef RETYPE_RETYPE_H
#define RETYPE_RETYPE_H

#include "retype/types/types.h"
#include "snapshot/snapshot.h"
#include "snapshot/walk.h"

struct retype_counts {
	uint64_t shape_clashes;    /* a type led to a block that no value of it can be */
	uint64_t type_conflicts;   /* blocks of the heap with types that do not go together */
	uint64_t static_conflicts; /* the same in static data: shared constants, legitimate */
	uint64_t seeds, undone_seeds;
	uint64_t given_up; /* blocks without a type, that had one until too much was wrong */
	uint64_t edges, rounds;
};

/* What is known of a block; together, as a proposal looks at all of it. */
struct retype_block {
	uint32_t type;      /* a closed term; 0 unknown or only by tag */
	uint16_t shape;     /* wosize << 8 | tag, where RETYPE_LONG stands for all longer ones */
	uint8_t confidence; /* an hg_confidence */
};
enum { RETYPE_LONG = 255 };

/* A type led to a block that no value of it can be, so many times. */
struct retype_clash {
	uint32_t rank;   /* of the block */
	uint32_t type;   /* what was said of it */
	uint32_t holder; /* rank of the block whose type says so of a field; or RETYPE_NO_HOLDER */
	uint32_t count;
};
#define RETYPE_NO_HOLDER UINT32_MAX

struct retype {
	struct retype_types types;
	bool has_types;        /* there is a type table; else only tags tell */
	const char *path;      /* of the profile; "" none */
	const char *note;      /* why there is none, or what is odd about it; "" */
	struct base_file file; /* of the profile */
	struct base_arena arena;
	struct retype_block *blocks; /* by rank; NULL without types */
	uint32_t by_tag[256]; /* types of blocks that describe themselves: string, float, ... */
	struct retype_counts counts;
	struct retype_clash *clashes; /* in the order met; the first ones, if there are millions */
	uint64_t clash_count, clash_capacity;
};

struct retype_options {
	const char *profile;            /* exe.prof in format hgprof, or NULL: looked for */
	const char *const *directories; /* of .cmt files, for historical dumps */
	size_t directory_count;
	bool required;     /* fail without types */
	bool reversed;     /* for tests: within rounds the other way round */
	uint32_t shuffled; /* for tests: within rounds in some order, by this seed; 0: no */
};

/* Finds and reads what tells types; the snapshot is loaded and ranked. */
enum hg_status retype_open(struct retype *retype, struct snap *snap,
	const struct retype_options *options, struct hg_error *error);
/* Types the blocks, if there are types: without them only tags tell. */
enum hg_status retype_run(struct retype *retype, struct snap *snap,
	const struct retype_options *options, struct hg_error *error);
void retype_release(struct retype *retype);

/* The type of a block: what was found, else what its tag says; with how sure that is. */
static inline struct retype_term retype_of(
	const struct retype *retype, uint32_t rank, unsigned tag, enum hg_confidence *confidence)
{
	if (retype->blocks && retype->blocks[rank].type) {
		*confidence = (enum hg_confidence)retype->blocks[rank].confidence;
		return (struct retype_term){retype->blocks[rank].type};
	}
	*confidence = retype->by_tag[tag] ? HG_EXACT : HG_UNKNOWN_ORIGIN;
	return (struct retype_term){retype->by_tag[tag]};
}

#endif
