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
 * A type is 4 bytes per block and its confidence 1; while propagating 4 more, and 8 for each block
 * of a round.
 */
#ifndef RETYPE_RETYPE_H
#define RETYPE_RETYPE_H

#include "retype/types.h"
#include "snapshot/snapshot.h"
#include "snapshot/walk.h"

struct retype_counts {
	uint64_t shape_clashes;    /* a type led to a block that no value of it can be */
	uint64_t type_conflicts;   /* blocks of the heap with types that do not go together */
	uint64_t static_conflicts; /* the same in static data: shared constants, legitimate */
	uint64_t seeds, undone_seeds;
	uint64_t edges, rounds;
};

struct retype {
	struct retype_types types;
	bool has_types;        /* there is a type table; else only tags tell */
	const char *path;      /* of the profile; "" none */
	const char *note;      /* why there is none, or what is odd about it; "" */
	struct base_file file; /* of the profile */
	struct base_arena arena;
	uint32_t *type;       /* by rank: a closed term, 0 unknown or only by tag */
	uint8_t *confidence;  /* by rank: an hg_confidence */
	uint32_t by_tag[256]; /* types of blocks that describe themselves: string, float, ... */
	struct retype_counts counts;
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
	if (retype->type && retype->type[rank]) {
		*confidence = (enum hg_confidence)retype->confidence[rank];
		return (struct retype_term){retype->type[rank]};
	}
	*confidence = retype->by_tag[tag] ? HG_EXACT : HG_UNKNOWN_ORIGIN;
	return (struct retype_term){retype->by_tag[tag]};
}

#endif
