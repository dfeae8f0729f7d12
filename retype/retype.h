/*
 * Retyping: finds what tells the types of a snapshot's program, and gives every block a type by it
 * (infer/).  Callers ask here for a block's type, how sure it is, and what did not go together.
 */
#ifndef RETYPE_RETYPE_H
#define RETYPE_RETYPE_H

#include "retype/infer/result.h"
#include "retype/infer/value_blocks.h"
#include "retype/types/types.h"
#include "snapshot/snapshot.h"
#include "snapshot/walk.h"

struct retype {
	struct retype_types types;
	bool has_types; /* there is a type table; else only tags tell */
	enum hg_type_state state;
	const char *path;      /* of the profile; "" none */
	const char *reason;    /* of the state, where it needs one; "" */
	const char *note;      /* the state and its reason, as they are shown; "" */
	struct base_file file; /* of the profile */
	struct base_arena arena;
	struct retype_block *blocks; /* by rank; NULL without types */
	uint32_t by_tag[256]; /* types of blocks that describe themselves: string, float, ... */
	struct retype_counts counts;
	struct infer_value_blocks value_blocks;
	struct retype_clash *clashes; /* in the order met; the first ones, if there are millions */
	uint64_t clash_count;
};

struct retype_options {
	const char *profile;            /* exe.prof in format hgprof, or NULL: looked for */
	const char *const *directories; /* of .cmt files, for historical dumps */
	size_t directory_count;
	bool required;        /* fail without types */
	bool without_samples; /* types of sampled blocks are not told by where they were made */
	bool unneeded;        /* read what is named or required, but look for nothing */
	/* Bits by rank: blocks to which no root leads; NULL: none is known. */
	const uint64_t *unreached;
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
