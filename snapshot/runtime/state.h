/*
 * What the reader of a runtime has found: one struct that its parts fill, each a part of it, and
 * the loader reads.  Strings and arrays live until snap_runtime_close().
 */
#ifndef SNAPSHOT_RUNTIME_STATE_H
#define SNAPSHOT_RUNTIME_STATE_H

#include "base/hash.h"
#include "snapshot/header.h"
#include "snapshot/image/image.h"
#include "snapshot/runtime/layout.h"
#include "snapshot/units.h"

#define SNAP_NO_INDEX UINT32_MAX

enum snap_area_kind {
	SNAP_AREA_CHUNK, /* of the major heap of 4.x: blocks, free ones included, side by side */
	SNAP_AREA_POOL,  /* of 5.x: slots of one size */
	SNAP_AREA_LARGE, /* of 5.x: one block */
	SNAP_AREA_MINOR, /* blocks side by side */
};

/* A part of the heap from the header of its first block to the end of its last. */
struct snap_area {
	uint64_t start, end;
	enum snap_area_kind kind;
	uint32_t slot_words; /* of a pool, header included; 0 otherwise */
	uint32_t domain;     /* its index, SNAP_NO_INDEX if its domain has ended */
};

struct snap_domain {
	uint64_t state; /* address of its caml_domain_state */
	uint64_t id;
	struct snap_range minor;          /* all of its minor heap, the unused part included */
	struct snap_innermost *innermost; /* of the thread that runs its current stack, or NULL */
};

/* A stack of OCaml frames: of a thread, with the stacks of the fibers that it is running. */
struct snap_stack {
	const char *name;   /* "main", "thread 2", "domain 1", "domain 1 thread 2" */
	uint32_t domain;    /* index */
	uint32_t systhread; /* position in the domain's ring of threads; 0 for its current one */
	uint64_t frames, fibers;
	bool repaired; /* its saved innermost frame was stale, and was found by unwinding */
	bool complete; /* walked to its end */
};

/* A place outside the heap that holds a value which is a pointer. */
struct snap_runtime_root {
	enum hg_root_kind kind;
	/*
	 * 'val' of Gc.finalise: is kept until its function has run, but keeps nothing alive; or a
	 * copy of another global.
	 */
	bool last;
	/* A word of a frame whose live slots are not known: no root unless it is a block. */
	bool conservative;
	uint32_t stack; /* index in stacks, SNAP_NO_INDEX: none */
	/*
	 * global: the unit ("Stdlib__Map"); stack: function, source position and, if there are
	 * several, the stack; named value: its name; C global: its symbol.
	 */
	const char *name;
	uint64_t index;        /* field of the unit's block, slot of the frame, or HG_UNKNOWN */
	uint64_t slot_address; /* HG_UNKNOWN for registers */
	uint64_t value;
};

struct snap_runtime_roots {
	struct snap_runtime_root *items;
	uint64_t count, capacity;
};

enum snap_sample_source { SNAP_SAMPLE_NORMAL, SNAP_SAMPLE_MARSHAL, SNAP_SAMPLE_CUSTOM };

/* A block that Gc.Memprof tracks. */
struct snap_sample {
	uint64_t block; /* weak: deleted or not yet written if odd */
	uint64_t samples;
	uint64_t wosize;    /* as sampled: of a custom block its off-heap words */
	uint64_t user_data; /* what the program's callback returned; an odd word is an integer */
	uint64_t stash;     /* 5.3, before the callback ran: address of {count, slots[]}, else 0 */
	bool is_settled;    /* the callback has returned that, and none runs now */
	enum snap_sample_source source;
	double rate; /* with which each word was sampled; 0 unknown */
};

/* Of the runtime's own counters; HG_UNKNOWN where the version has none. */
struct snap_runtime_statistics {
	uint64_t heap_words, top_heap_words, heap_chunks;
	uint64_t minor_collections, major_collections, compactions;
	/* 5.x, as of the last sweep */
	uint64_t pool_words, pool_live_words, pool_live_blocks, pool_frag_words;
	uint64_t large_words, large_blocks;
};

struct snap_runtime {
	struct snap_image *image;
	struct base_pool pool;
	const struct snap_layout *layout; /* 'own_layout' once the version is known */
	struct snap_layout own_layout;
	const char *version; /* "4.13.1", or "4.13" when only the symbols tell */
	bool is_5;
	bool sought_sampling_rate;
	unsigned reserved_bits;

	struct snap_area *areas; /* by address, disjoint */
	uint64_t area_count, area_capacity;
	struct snap_domain *domains;
	uint32_t domain_count;
	struct snap_range minor_heaps; /* the address space of all minor heaps */
	struct snap_range *statics;    /* data of the program's units, by address, disjoint */
	uint64_t static_count;
	struct snap_range *codes; /* code of the program's units and of plugins, the same */
	uint64_t code_count;
	struct snap_range atoms; /* headers of the 256 blocks without fields; 0, 0 not found */
	uint64_t page_table_entries, page_table_size; /* 4.x: address and slots; 0: none */

	unsigned garbage_colour; /* 5.x: color of blocks that the last cycle found dead */
	uint64_t ephemeron_none; /* the value in empty fields of ephemerons */

	struct snap_unit *units; /* in the order of the program's lists, plugins last */
	uint64_t unit_count, unit_capacity;
	struct snap_runtime_roots roots;
	uint64_t root_slots[HG_ROOT_KINDS]; /* slots seen, those that hold integers included */
	struct snap_stack *stacks;
	uint64_t stack_count, stack_capacity;
	struct snap_block_address *ephemerons; /* in the order of the lists */
	uint64_t ephemeron_count, ephemeron_capacity;
	double sampling_rate; /* of 4.x, once there are samples; 0 unknown */
	struct snap_sample *samples;
	uint64_t sample_count, sample_capacity;

	/*
	 * A thread was stopped in one, or on its way into one: blocks may be forwarded or half
	 * copied, and in a compaction of 4.x pointers are inverted.
	 */
	bool in_minor_collection, in_compaction;
	struct snap_runtime_statistics statistics;

	const char *notes[16]; /* one line each: what could not be read */
	unsigned note_count;
	uint64_t budget; /* work budget: how much of lists and stacks will still be followed */
	bool gave_up;    /* it was not enough */

	struct snap_found *found; /* of a program without symbols; NULL: it has some */

	struct base_map custom_kinds; /* identifiers by the address of the operations */
	struct snap_frame_table *frames;
	struct snap_bytecode *bytecode;   /* NULL: a native program */
	struct base_map strings;          /* of the image by address: pointers to copies */
	struct snap_innermost *innermost; /* frames, one per thread of the image */
};

/* The headers' layout is that of runtime->reserved_bits. */
static inline uint64_t snap_runtime_wosize(const struct snap_runtime *runtime, uint64_t header)
{
	return snap_header_wosize(header, runtime->reserved_bits);
}

/* A bit for each color of headers that begin no block of an area. */
static inline unsigned snap_dead_colors(
	const struct snap_runtime *runtime, enum snap_area_kind kind)
{
	if (kind == SNAP_AREA_MINOR)
		return 0;
	if (!runtime->is_5)
		return 1u << SNAP_COLOR_BLUE;
	bool counted = kind == SNAP_AREA_POOL && runtime->layout->counted_free_slots == 1;
	return 1u << runtime->garbage_colour | (counted ? 1u << SNAP_COLOR_BLACK : 0);
}

#endif
