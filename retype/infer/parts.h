/*
 * What the files of the propagation share: a run of it over one snapshot (propagate.c), the
 * families of seeds (seed_*.c), and what blocks tell of themselves (blocks.c).
 */
#ifndef RETYPE_INFER_PARTS_H
#define RETYPE_INFER_PARTS_H

#include "retype/types/map.h"
#include "retype/retype.h"
#include "snapshot/find.h"

/* A block of a round, and the type it had when the round began. */
struct retype_front {
	uint32_t rank;
	struct retype_term type;
	struct snap_header_address header;
};

/* Blocks that a round has reached: listed while they are few, by bits in any case. */
struct retype_round {
	uint64_t *bits; /* by rank */
	struct retype_front *listed;
	uint64_t count; /* of those listed */
	bool dense;     /* too many: only the bits tell */
};

/* What retype_fit() said, of (term, tag, wosize). */
struct retype_fit_entry {
	uint64_t key;
	struct retype_fit fit;
	struct retype_term narrowed; /* of several types those that fit */
	bool leads_on;               /* its fields have types */
	bool is_plain;               /* it fits, as any block of its shape does */
};
struct retype_join_entry {
	uint32_t a, b, joined;
};
/* A proposal, which waits while the memory that it needs is fetched. */
struct retype_waiting {
	const struct snap_line *line;
	struct snap_header_address header; /* as far as its value tells */
	struct retype_term type;
	uint32_t rank;
	uint32_t holder; /* rank of the block that it is a field of */
};
enum { RETYPE_WAITING = 32 };
enum {
	RETYPE_FIT_SHIFT = 10,
	RETYPE_FIT_ENTRIES = 1 << RETYPE_FIT_SHIFT,
	RETYPE_JOIN_ENTRIES = 1 << 8
};

struct retyping {
	struct retype *retype;
	struct retype_types *types;
	struct snap *snap;
	const struct retype_options *options;
	struct hg_error *error;
	enum hg_status status;   /* of the first failure within a round */
	struct base_arena arena; /* until the run ends */

	struct retype_block *blocks; /* by rank */
	/* Blocks with types that do not go together, until the round ends. */
	struct retype_dispute *disputes;
	uint64_t dispute_count, dispute_capacity;
	uint64_t *disputed;     /* bits by rank */
	struct retype_map lied; /* by rank: a type of several that are all contradicted */
	struct retype_map lies; /* by rank: contradictions that are counted already */
	uint64_t *candidates;   /* bits by rank, for sweeps over some blocks */
	uint64_t *described;    /* bits by rank: closures, objects, custom blocks */
	uint64_t listed_most;
	struct retype_round now, next;
	struct retype_waiting waiting[RETYPE_WAITING];
	unsigned waiting_count;
	uint32_t holder; /* whose fields are proposed; RETYPE_NO_HOLDER: none's */
	bool is_short;   /* a round so short that the next one begins while memory is fetched */
	/* Types when a dense round began, by rank, of blocks that it still has to look at but has
	 * changed already: few, as most blocks get one type, once. */
	struct retype_map round_types;

	/* Changes of a stratum that may have to be undone; unused while seeds are exact. */
	bool undoable;
	uint64_t *changed;              /* bits by rank */
	struct retype_map types_before; /* by rank, of those changed that had a type */
	uint64_t *given_up; /* bits by rank: had a type until its origins were given up; or NULL */

	/* Proposals are looked at by this instead of being taken; see blame.c. */
	void (*watch)(
		struct retyping *r, uint32_t rank, struct snap_header_address header, bool fits);
	struct retype_stratum *stratum;

	struct snap_finder finder; /* of the block being looked at */
	struct snap_finder aside;  /* of others that tell what it is */
	struct snap_finder inside; /* of one whose fields decide between types */
	struct retype_map extensions, classes;
	struct retype_term any_function;
	struct retype_counts counts;
	struct retype_fit_entry *fits;
	struct retype_join_entry *joins;
};

/* propagate.c */

enum hg_status retyping_init(struct retyping *r, struct retype *retype, struct snap *snap,
	const struct retype_options *options, struct hg_error *error);
void retyping_release(struct retyping *r);

/* Where a value leads; false if to no block. */
bool retyping_resolve(const struct retyping *r, uint64_t value, uint32_t *rank,
	struct snap_header_address *header, bool *is_infix);
uint32_t retyping_rank(const struct retyping *r, struct snap_header_address header);

/* A block's tag and wosize, without going to the heap for most. */
void retyping_shape(struct retyping *r, uint32_t rank, struct snap_header_address header,
	unsigned *tag, uint64_t *wosize);

/* The fit of a type, through short-cuts (RETYPE_INNER) to the type it is then. */
struct retype_fit retyping_fit(
	struct retyping *r, struct retype_term *type, unsigned tag, uint64_t wosize);

/* Says that a block, or what a value leads to, is of a type. */
void retyping_propose(struct retyping *r, uint32_t rank, struct snap_header_address header,
	struct retype_term type);
void retyping_propose_value(struct retyping *r, uint64_t value, struct retype_term type);

struct retype_term retyping_join(struct retyping *r, struct retype_term a, struct retype_term b);

/* Gives a block another type, that it has from now on. */
void retyping_change(struct retyping *r, uint32_t rank, struct snap_header_address header,
	struct retype_term type);

/* The type a block had before the stratum, or has while seeds are exact. */
static inline uint32_t retyping_type_before(const struct retyping *r, uint32_t rank)
{
	uint32_t before = 0;
	bool changed = r->undoable && r->changed[rank >> 6] >> (rank & 63) & 1;
	if (!changed)
		return r->blocks[rank].type;
	retype_map_number(&r->types_before, rank, &before);
	return before;
}

/* Proposes the types of its fields' blocks, from its own. */
void retyping_spread(
	struct retyping *r, uint32_t rank, struct retype_term type, const struct snap_cell *cell);

/* Rounds until nothing changes. */
enum hg_status retyping_settle(struct retyping *r);

/* Counts and notes that a block is no value of a type, as 'count' fields say. */
void retyping_clash(struct retyping *r, uint32_t rank, struct retype_term type, uint32_t holder,
	unsigned count);

/* disputes.c */

/* The block gets another type of which neither says all that the other does. */
void retyping_dispute(struct retyping *r, uint32_t rank, struct snap_header_address header,
	struct retype_term type);
/* At the end of a round: what those blocks become. */
void retyping_settle_disputes(struct retyping *r);

/* sweep.c */

/* Notes the shape of every block. */
enum hg_status retyping_note_shapes(struct retyping *r);

/* Every block whose bit is set (NULL: every block), in order of addresses. */
typedef void retyping_visit_fn(
	struct retyping *r, uint32_t rank, const struct snap_cell *cell, void *context);
enum hg_status retyping_sweep(
	struct retyping *r, const uint64_t *bits, retyping_visit_fn *visit, void *context);

/* The same for blocks with a tag, or for those of them that had no type before the stratum. */
enum hg_status retyping_sweep_tag(struct retyping *r, unsigned tag, bool untyped_only,
	retyping_visit_fn *visit, void *context);

/* The i-th of the numbers 0 .. count - 1, in the order that the options ask for. */
uint64_t retyping_step(const struct retyping *r, uint64_t i, uint64_t count);
static inline uint64_t retyping_in_order(const struct retyping *r, uint64_t i, uint64_t count)
{
	bool as_is = !r->options->reversed && !r->options->shuffled;
	return __builtin_expect(as_is, 1) ? i : retyping_step(r, i, count);
}

/* Whether a block lies in the program's static data. */
bool retyping_is_static(const struct retyping *r, struct snap_header_address header);
/* Whether a type is several types that do not go together. */
bool retyping_is_set(const struct retyping *r, struct retype_term type);

/* Words of the bits by rank. */
static inline uint64_t retyping_bit_words(const struct retyping *r)
{
	return r->snap->block_count / 64 + 1;
}
static inline bool retyping_bit(const uint64_t *bits, uint32_t rank)
{
	return bits[rank >> 6] >> (rank & 63) & 1;
}
static inline void retyping_set_bit(uint64_t *bits, uint32_t rank)
{
	bits[rank >> 6] |= (uint64_t)1 << (rank & 63);
}
static inline void retyping_clear_bit(uint64_t *bits, uint32_t rank)
{
	bits[rank >> 6] &= ~((uint64_t)1 << (rank & 63));
}

/* blocks.c: what blocks tell of themselves */

/* The extension constructor by its slot; NULL if the value is none or the profile has none. */
const struct retype_extension *retyping_extension(struct retyping *r, uint64_t slot);
/* Whether a value is the slot of an extension constructor. */
bool retyping_is_slot(struct retyping *r, uint64_t value);
/* The class of an object; NULL if it is not known. */
const struct retype_class *retyping_class(struct retyping *r, const struct snap_cell *object);

/*
 * How many fields of a block hold what the type says they cannot: of the first ones, one level
 * deep.
 */
unsigned retyping_misfits(struct retyping *r, uint32_t rank, struct snap_header_address header,
	struct retype_term type);

/* Whether a value may be of a type, by its shape. */
bool retyping_may_be(struct retyping *r, uint64_t value, struct retype_term type);

/* Whether its values are integers, all of them. */
bool retyping_is_immediate(const struct retyping *r, struct retype_term type);

/* strata.c */

/* A seed as it is kept to find whose fault a clash is. */
struct retype_seed {
	uint32_t origin, rank;
	struct snap_header_address header;
};

/* The stratum that is being run. */
struct retype_stratum {
	enum hg_confidence sure;
	unsigned family; /* that is proposing */
	struct retype_map guilty;
	/* While seeds are gathered instead of proposed. */
	bool gathering;
	struct retype_seed *seeds;
	uint64_t seed_count, seed_capacity;
	struct retype_seed *queue; /* blocks to be looked at for the current origin */
	uint64_t queue_count, queue_capacity;
	uint32_t *origins; /* by rank: the first that leads there; 0 none */
	uint32_t origin;
	/* Too many runs found somebody guilty: who leads to what a guilty one leads to is, too. */
	bool is_strict;
	bool gave_up; /* somebody was found guilty for that only, in this run */
};

enum hg_status retyping_run_strata(struct retyping *r);

/*
 * Proposes a seed, unless its origin was found guilty or it is not as sure as the current stratum.
 * 'origin' is the number, within the family, of what the seed is from: all from one number are
 * undone together.
 */
void retyping_seed(struct retyping *r, enum hg_confidence sure, uint32_t origin, uint32_t rank,
	struct snap_header_address header, struct retype_term type);
void retyping_seed_value(struct retyping *r, enum hg_confidence sure, uint32_t origin,
	uint64_t value, struct retype_term type);

/* blame.c */

/* Whether a block has become several types at once in this stratum, and is no constant. */
bool retyping_is_conflict(
	const struct retyping *r, uint32_t rank, struct snap_header_address header);
/* Adds the origins that led to clashes and conflicts to the guilty ones. */
enum hg_status retyping_blame(struct retyping *r);

/* The families. */
enum hg_status retyping_seed_globals(struct retyping *r);
enum hg_status retyping_seed_definitions(struct retyping *r);
enum hg_status retyping_seed_recognised(struct retyping *r);
enum hg_status retyping_seed_places(struct retyping *r);
enum hg_status retyping_seed_closures(struct retyping *r);
enum hg_status retyping_seed_objects(struct retyping *r);
/* Gives objects that are known by their methods the name of their class. */
enum hg_status retyping_name_objects(struct retyping *r);
enum hg_status retyping_seed_exceptions(struct retyping *r);
enum hg_status retyping_seed_slots(struct retyping *r);
enum hg_status retyping_seed_customs(struct retyping *r);

#endif
