/*
 * The neutral model of a heap snapshot: what every loader fills and everything else reads.
 *
 * A snapshot is a read-only mapping of a file, cut by an index into pieces of at most a few hundred
 * blocks whose place in the file is known, in order of addresses.  A walk (walk.h) turns entries
 * into runs of blocks as they lay in memory.  Ranks (ranks.h) number the blocks by address.
 *
 * Loaders validate the whole structure of the file once, so that later walks over it cannot fail.
 */
#ifndef SNAPSHOT_SNAPSHOT_H
#define SNAPSHOT_SNAPSHOT_H

#include "base/assert.h"
#include "base/file.h"
#include "base/pool.h"
#include "base/session.h"
#include "snapshot/formats.h"
#include "snapshot/header.h"
#include "snapshot/locations.h"
#include "snapshot/ranks.h"
#include "snapshot/told.h"
#include "snapshot/units.h"

/* A piece of the address space of the heap; the loaders keep the order of the file. */
struct snap_chunk {
	uint64_t start, end; /* bytes; word aligned */
	uint64_t offset;     /* of its record, for messages */
	enum hg_segment segment;
};

/* Consecutive blocks, at ascending addresses; 24 bytes for some hundred blocks. */
struct snap_index_entry {
	struct snap_header_address address; /* of the first block */
	uint64_t offset; /* of the first block in the file, or what the format needs instead */
	uint32_t first_rank;
	uint32_t blocks;
};

/* Who holds a root node. */
enum snap_hold {
	SNAP_HOLD_ALWAYS, /* the virtual root */
	SNAP_HOLD_LAST,  /* the same, but only what no other root does: values of finalisers, copies
			    of globals */
	SNAP_HOLD_BLOCK, /* a block, through a link: the stack of a suspended fiber */
};

/*
 * Roots that the virtual root holds come in tiers, and those of a tier hold only what no lower one
 * reaches: an edge from a node of a tier to a node of a lower one retains nothing.  So a list that
 * a function copies just then belongs to the global that it is in, and not to both.
 */
enum snap_tier {
	SNAP_TIER_LASTING, /* globals and the like: what the program keeps */
	SNAP_TIER_PASSING, /* stacks, registers, local roots: gone when a call returns */
	SNAP_TIER_LAST,    /* values of finalisers, copies of globals */
	SNAP_TIERS
};

/* One root slot; the node of root i is block_count + i. */
struct snap_root {
	uint64_t value;   /* the pointer it holds; 0: only links lead on */
	const char *name; /* in the pool or static */
	uint64_t index;   /* printed as name[index]; HG_UNKNOWN: the name stands alone */
	enum hg_root_kind kind;
	enum snap_hold hold;
};

/* An edge that is no field: from or to a node that is not a block, or ephemeron data. */
struct snap_link {
	uint32_t from, to; /* nodes */
};

/* Data that lives as long as the ephemeron and all its keys do (Ephemeron, Weak). */
struct snap_ephemeron {
	uint32_t self, data;           /* nodes; data HG_NO_NODE: none, or no block */
	uint32_t first_key, key_count; /* in ephemeron_keys: ranks */
};

/* Memory outside the heap that a block refers to and frees with itself (offheap.h). */
struct snap_outside {
	uint64_t start, end; /* both 0: nobody knows where it is */
	uint64_t view;       /* bytes of it that are the block's; others may share the memory */
	uint32_t rank;
	bool is_file; /* a file is mapped there */
};

/* Bytes outside the heap that a block owns (Bigarray data and the like). */
struct snap_offheap {
	uint32_t rank;
	uint64_t bytes;
};

/* Where a block was allocated, when something else than its header tells. */
struct snap_sampled {
	struct snap_header_address address;
	uint32_t location;
	uint32_t words; /* of its words those that were sampled */
	uint32_t call;  /* that allocated it, in snap.told; 0: the process knows, or nobody */
	double rate;    /* with which each word was; 0 unknown */
};

/* The place a block has left for another one, in a heap that was copied in just then. */
struct snap_forward {
	struct snap_header_address from, to;
};

/* Where an even word in a field leads. */
enum snap_outcome {
	SNAP_BLOCK,     /* to field 0 of a block */
	SNAP_INFIX,     /* to a function inside a closure block */
	SNAP_FORWARDED, /* to where a block was until it was moved */
	SNAP_ATOM,      /* to a block without fields, which is no node */
	SNAP_CODE,      /* to the program's code */
	SNAP_OUTSIDE,   /* out of every chunk: to memory that is not of the heap */
	SNAP_DANGLING,  /* into a chunk, but to no block */
	SNAP_OUTCOMES
};

/* Whether it leads to a block. */
static inline bool snap_outcome_is_block(enum snap_outcome outcome)
{
	return outcome <= SNAP_FORWARDED;
}

/* How the words in fields turned out. */
struct snap_census {
	uint64_t outcomes[SNAP_OUTCOMES];
	uint64_t immediates; /* odd words */
};

/* Memory that is no block, in bytes; HG_UNKNOWN if the format does not tell. */
struct snap_accounts {
	uint64_t free; /* free blocks and free slots, headers included */
	uint64_t free_blocks;
	uint64_t fragments;    /* too small for a block, and what is left over in pools */
	uint64_t heap;         /* address space of the major heap, all of it */
	uint64_t minor;        /* address space of the minor heaps in use */
	uint64_t damaged;      /* where blocks did not follow each other */
	uint64_t large_blocks; /* of 5.x: Gc.stat counts two words more for each */
	/* Of 5.x, live or dead: what the counters of the runtime are compared with. */
	uint64_t pool_blocks, pool_words, all_large_blocks, all_large_words;
};

struct snap {
	struct hg_session *session;
	const struct snap_format *format;
	const struct snap_process *process; /* process.h; NULL if the file has none */
	const char *path;
	bool accept_partial;
	struct base_file file;
	struct base_pool pool;
	struct base_arena arena; /* ranks */

	unsigned reserved;      /* R of the headers in runs */
	bool has_closinfo;      /* closures tell in field 1 where their values begin (4.12) */
	bool has_continuations; /* blocks of SNAP_TAG_CONT hold the address of a stack */
	bool native;
	bool integers_recorded; /* false: an integer field says only that it is one */
	bool no_fields;         /* blocks are recorded, but not what they hold: no edge is known */
	bool all_roots_alike;   /* passing roots are counted among the lasting ones */

	struct snap_chunk *chunks; /* by address once loaded */
	uint64_t chunk_count, chunk_capacity;
	struct snap_index_entry *entries; /* by address once loaded */
	uint64_t entry_count, entry_capacity;
	struct snap_root *roots;
	uint64_t root_count, root_capacity;
	struct snap_link *links; /* sorted by 'from'; the values of roots are not listed */
	uint64_t link_count, link_capacity;
	struct snap_ephemeron *ephemerons;
	uint64_t ephemeron_count;
	uint32_t *ephemeron_keys;
	struct snap_outside *outside; /* by start, then end */
	uint64_t outside_count, outside_capacity;
	struct snap_offheap *offheap; /* by rank; made of the former when reachability is known */
	uint64_t offheap_count, offheap_capacity;
	uint64_t unplaced_bytes;      /* of these, those of which nobody knows where they are */
	uint64_t mapped_bytes;        /* files that blocks map, which are not in offheap */
	struct snap_sampled *sampled; /* by address */
	uint64_t sampled_count, sampled_capacity;
	struct snap_told told; /* call stacks of some of these */
	/* What a profiler in the program tracks, also blocks that are none by now; HG_UNKNOWN. */
	uint64_t tracked_count, tracked_stacks; /* with their call stack */
	double sampling_rate;                   /* of all of these; 0 unknown */
	struct snap_forward *forwards;          /* by 'from' */
	uint64_t forward_count, forward_capacity;

	uint64_t block_count;
	uint64_t static_count;         /* of these, in static data */
	uint64_t word_count;           /* headers included */
	uint64_t field_count;          /* of the blocks with fields */
	uint64_t largest_block;        /* words in the longest run element, header included */
	struct snap_granules granules; /* seen by the loader */
	struct snap_ranks ranks;       /* after snap_rank_blocks() */
	struct snap_census strays; /* after snap_rank_blocks(): words that cannot lead to a block */

	struct snap_range *codes; /* values of code pointers: by address, disjoint */
	uint64_t code_count, code_capacity;
	struct snap_range atoms; /* headers of blocks without fields */
	const struct snap_unit *units;
	uint64_t unit_count;
	bool clamped_locations; /* columns are cut to 8 and 10 bits in the program (before 5.2) */
	struct snap_locations locations;
	void *format_data; /* of the format, in the pool */

	const char *program, *trigger, *ocaml_version;
	const char *executable;                   /* of a core: where it is, or was; "" */
	const char *method, *capture_consistency; /* words of cores that heapgraph wrote; "" */
	enum hg_capture_method capture_method;    /* what these words say, if they are known */
	enum hg_moment capture_moment;
	uint64_t time; /* ns since 1970; HG_UNKNOWN */
	const char *profile, *profile_note;
	enum hg_moment moment; /* of the process, as its memory tells */
	const char *notes[16]; /* what could not be read, a line each */
	unsigned note_count;
	const char *partial; /* what a file cut short lacks, or NULL */
	uint64_t partial_offset;
	uint64_t pid, index;              /* HG_UNKNOWN */
	uint64_t live_words, live_blocks; /* as Gc.stat counts; HG_UNKNOWN if not recorded */
	struct snap_accounts accounts;
};

/*
 * Opens and loads; on failure *snap needs no release.  'input' as in hg_snapshot_open().
 */
enum hg_status snap_open(struct snap *snap, struct hg_session *session,
	const struct hg_input *input, struct hg_error *error);
void snap_release(struct snap *snap);

/* Why there is no profile, of locations or of types, when only files that were named are used. */
#define SNAP_NO_PROFILE_LOOKED_FOR                                                                 \
	"no profile is looked for with --no-host-files; name one with --prof"

/* HG_ERROR_INPUT if the file was cut or written to since it was opened. */
enum hg_status snap_check_file(const struct snap *snap, struct hg_error *error);

/* For loaders: add what they find.  Granules and index entries follow from the blocks. */
enum hg_status snap_add_chunk(struct snap *snap, uint64_t start, uint64_t end,
	enum hg_segment segment, uint64_t offset, struct hg_error *error);
/* Ranges of code come in order of addresses, and do not overlap. */
enum hg_status snap_add_code(
	struct snap *snap, uint64_t start, uint64_t end, struct hg_error *error);
enum hg_status snap_add_link(struct snap *snap, uint32_t from, uint32_t to, struct hg_error *error);
enum hg_status snap_add_root(struct snap *snap, enum hg_root_kind kind, const char *name,
	uint64_t index, uint64_t value, struct hg_error *error);

/* Blocks per index entry, and the size of a block that ends it: how far a look-up by rank has to
 * walk, against 24 bytes each. */
enum { SNAP_ENTRY_BLOCKS = 128, SNAP_ENTRY_WORDS = 4096 };

/* For snap_adder_block(): an index entry of SNAP_ENTRY_BLOCKS blocks. */
enum hg_status snap_add_entry(struct snap *snap, struct snap_header_address address,
	uint64_t offset, struct hg_error *error);

/* Takes the blocks of a loader; what it counts stays in registers until the end. */
struct snap_adder {
	struct snap *snap;
	uint64_t blocks, words, fields, largest;
	uint64_t granule; /* the last one seen */
	uint32_t room;    /* blocks that the current entry still takes */
};

static inline struct snap_adder snap_adder_start(struct snap *snap)
{
	return (struct snap_adder){.snap = snap, .granule = snap->granules.last};
}

/* Ends the index entry and adds up: where blocks do not follow each other, and after the last. */
static inline void snap_adder_end(struct snap_adder *a)
{
	struct snap *snap = a->snap;
	base_assert(a->room == 0 || (snap->entry_count && a->room < SNAP_ENTRY_BLOCKS));
	if (a->room)
		snap->entries[snap->entry_count - 1].blocks -= a->room;
	snap->block_count += a->blocks;
	snap->word_count += a->words;
	snap->field_count += a->fields;
	if (a->largest > snap->largest_block)
		snap->largest_block = a->largest;
	*a = snap_adder_start(snap);
}

/*
 * A block, whose entry in the file is at 'offset'.  The caller has checked that it lies in its
 * chunk, after the block before, and calls snap_adder_end() where a chunk begins.
 */
static inline enum hg_status snap_adder_block(struct snap_adder *a,
	struct snap_header_address address, uint64_t offset, uint64_t wosize, unsigned tag,
	struct hg_error *error)
{
	uint64_t fields = snap_tag_has_fields(tag) ? wosize : 0;
	base_assert(wosize > 0 && address.a % 8 == 0 && address.a >= SNAP_ADDRESS_FIRST);
	if (a->room == 0) {
		snap_adder_end(a);
		enum hg_status status = snap_add_entry(a->snap, address, offset, error);
		if (status != HG_OK)
			return status;
		a->room = SNAP_ENTRY_BLOCKS;
	}
	a->room--;
	a->blocks++;
	a->words += wosize + 1;
	a->fields += fields;
	if (fields + 1 > a->largest)
		a->largest = fields + 1;
	uint64_t last = address.a + 8 * fields;
	if (address.a >> SNAP_GRANULE_SHIFT != a->granule ||
		last >> SNAP_GRANULE_SHIFT != a->granule) {
		enum hg_status status =
			snap_granules_add(&a->snap->granules, address.a, last, error);
		if (status != HG_OK)
			return status;
		a->granule = a->snap->granules.last;
	}
	/* The walk to a block after this one would be long. */
	if (fields >= SNAP_ENTRY_WORDS)
		snap_adder_end(a);
	return HG_OK;
}

/*
 * After the last block: puts chunks and index entries in order of addresses, checks that chunks do
 * not overlap, numbers the blocks.  snap_in_chunk() works from here on.
 */
enum hg_status snap_end_blocks(struct snap *snap, struct hg_error *error);

/* What is missing from a file cut short; HG_OK if the session accepts that, else the failure. */
enum hg_status snap_cut_short(
	struct snap *snap, uint64_t offset, const char *what, struct hg_error *error);

void snap_census_add(struct snap_census *to, const struct snap_census *from);

/* The chunk that holds an address; NULL if none does. */
const struct snap_chunk *snap_chunk_at(const struct snap *snap, uint64_t address);

/* For a word that leads to no block: SNAP_ATOM, SNAP_CODE, SNAP_OUTSIDE or SNAP_DANGLING. */
enum snap_outcome snap_resolve_stray(const struct snap *snap, uint64_t value);

/*
 * Where an even word leads: the one place that knows.  The block it belongs to goes to *header
 * when snap_outcome_is_block().
 */
enum snap_outcome snap_resolve(
	const struct snap *snap, uint64_t value, struct snap_header_address *header);

/* The links of a node: [*first, *end) of snap->links. */
void snap_links(const struct snap *snap, uint32_t node, uint64_t *first, uint64_t *end);

/* Where a block was sampled; 0 if it was not. */
uint32_t snap_sampled_location(const struct snap *snap, struct snap_header_address address);
/* The call that allocated it, if that is told; else 0. */
uint32_t snap_sampled_call(const struct snap *snap, struct snap_header_address address);

/* Node of the block an even word leads to, or HG_NO_NODE. */
uint32_t snap_resolve_node(const struct snap *snap, uint64_t value);

/* The tier of a root that the virtual root holds; a fiber is in that of what reaches it. */
static inline enum snap_tier snap_root_tier(const struct snap *snap, const struct snap_root *root)
{
	base_assert(root->hold != SNAP_HOLD_BLOCK);
	if (root->hold == SNAP_HOLD_LAST)
		return SNAP_TIER_LAST;
	bool passes = root->kind == HG_ROOT_STACK || root->kind == HG_ROOT_LOCAL;
	return passes && !snap->all_roots_alike ? SNAP_TIER_PASSING : SNAP_TIER_LASTING;
}

/* Whether the virtual root holds it, in this tier. */
static inline bool snap_root_in_tier(
	const struct snap *snap, const struct snap_root *root, enum snap_tier tier)
{
	return root->hold != SNAP_HOLD_BLOCK && snap_root_tier(snap, root) == tier;
}

/* Node numbers: blocks, roots, the virtual root. */
static inline uint32_t snap_root_node(const struct snap *snap, uint64_t root)
{
	base_assert(root < snap->root_count);
	return (uint32_t)(snap->block_count + root);
}
static inline uint32_t snap_virtual_root(const struct snap *snap)
{
	return (uint32_t)(snap->block_count + snap->root_count);
}

#endif