/*
 * Of heapgraph.h: classes, which are blocks that share a key; root slots; the table of types, and
 * what contradicts it; pointers to no block.
 */
#ifndef HEAPGRAPH_CLASSES_H
#define HEAPGRAPH_CLASSES_H

#include "heapgraph/nodes.h"

enum hg_key {
	HG_BY_LOCATION,
	HG_BY_TAG,
	HG_BY_MODULE,
	HG_BY_ROOT,
	HG_BY_TYPE,
	HG_BY_TYPE_LOCATION,
	HG_BY_CALL_STACK, /* of blocks that Gc.Memprof tracks */
	HG_BY_FUNCTION,   /* of closures only: the function that each calls in the end */
	HG_KEYS
};

/* "location", ...; and back, false when there is no such key. */
HG_API const char *hg_key_name(enum hg_key key);
HG_API bool hg_key_parse(const char *name, enum hg_key *out);

/*
 * A row.  Blocks and bytes count reachable and unreachable ones; retained bytes are the sum over
 * blocks of the class that no other block of it dominates.  Of a root: blocks and bytes are its
 * direct targets, retained bytes those of its node.
 */
struct hg_class {
	uint32_t id; /* for hg_class_name() */
	enum hg_confidence confidence;
	uint64_t blocks, bytes, retained_bytes;
	/*
	 * If Gc.Memprof tracks some of the blocks: 'blocks' and 'bytes' are of those that it tracks
	 * where the key is a location or call stack.  The bytes of all that were allocated alike,
	 * by the rate with which words were sampled, and the standard error of that; HG_UNKNOWN.
	 */
	uint64_t estimated_bytes, estimated_error;
	uint64_t offheap_bytes, retained_offheap_bytes; /* the same of memory outside the heap */
};

struct hg_top {
	enum hg_key key;
	size_t count;
	struct hg_class **rows; /* by retained bytes (hg_options.weight) descending, then name */
	uint64_t blocks, bytes; /* of all rows */
	uint64_t offheap_bytes;
};

/*
 * 'type' may be NULL; else it is a POSIX extended regular expression: only blocks that have a type
 * which matches count, and of roots those that point to such a block.
 */
HG_API enum hg_status hg_list_top(
	struct hg_snapshot *snapshot, enum hg_key key, const char *type, struct hg_top **out);
HG_API void hg_top_release(struct hg_top **top);

/*
 * Name of a class.  For HG_BY_ROOT use hg_kind_of_root() and hg_root_name() with the id as node;
 * the parts of a class by type and location, which has the name "TYPE @ LOCATION", tells
 * hg_class_parts().
 */
HG_API size_t hg_class_name(const struct hg_snapshot *snapshot, enum hg_key key, uint32_t id,
	char *buffer, size_t size);
HG_API void hg_class_parts(
	const struct hg_snapshot *snapshot, uint32_t id, uint32_t *type, uint32_t *location);

/*
 * Root slots: each with the block that it points to.  Several are one of the runtime's stacks that
 * a continuation holds: 'target' is none then, 'targets' are its blocks.
 */
struct hg_root_slot {
	hg_node node;   /* for hg_kind_of_root(), hg_root_name() */
	hg_node target; /* for hg_describe_block(); HG_NO_NODE: an integer, code, out of the heap */
	uint64_t targets, bytes; /* the reachable blocks it points to, 0 or 1 but of stacks */
	uint64_t retained_bytes; /* of the slot: what it alone keeps */
	bool reachable;          /* false of a stack that only garbage holds */
	uint64_t offheap_bytes, retained_offheap_bytes; /* as 'bytes', of memory outside the heap */
};

struct hg_root_slots {
	size_t count;
	struct hg_root_slot **rows; /* by retained bytes as in hg_top, then in order of the file */
	uint64_t with_target;       /* of these, slots that point to a block */
};

/* 'type' as in hg_list_top(): only slots that point to such a block. */
HG_API enum hg_status hg_list_root_slots(
	struct hg_snapshot *snapshot, const char *type, struct hg_root_slots **out);
HG_API void hg_root_slots_release(struct hg_root_slots **slots);

/*
 * The table of types: one row for each declared type whose blocks were met, whatever its arguments,
 * and one for each other kind of type (tuples by size, functions, ...).  All rows together are the
 * typed blocks.
 */
struct hg_declared {
	uint32_t id; /* for hg_declared_text() */
	uint64_t blocks, bytes;
	uint64_t offheap_bytes;
};

struct hg_types {
	size_t count;
	struct hg_declared **rows; /* by bytes descending, then name */
	uint64_t blocks, bytes;    /* of all rows */
};

/* 'unused' adds the declared types that no block has. */
HG_API enum hg_status hg_list_types(
	struct hg_snapshot *snapshot, bool unused, struct hg_types **out);
HG_API void hg_types_release(struct hg_types **types);

/* "('a, 'b) Hashtbl.t", "record", "{ mutable size : int; ... }", "Stdlib__Hashtbl" */
enum hg_declared_part { HG_DECLARED_NAME, HG_DECLARED_KIND, HG_DECLARED_LAYOUT, HG_DECLARED_UNIT };
HG_API size_t hg_declared_text(const struct hg_snapshot *snapshot, uint32_t id,
	enum hg_declared_part part, char *buffer, size_t size);

/*
 * Shape clashes: where types led to blocks that no value of them can be, by type and place.  All
 * rows together are hg_totals.shape_clashes, unless there are more than a million.
 */
struct hg_clash {
	uint32_t type;     /* what was said of the blocks; for hg_type_name() */
	uint32_t found;    /* the type that they have; 0: none */
	uint32_t holder;   /* of the blocks whose fields say so; 0: a root, or not known */
	uint32_t location; /* where the blocks were allocated, for hg_location_name(); 0: none */
	uint64_t words;    /* of the blocks, without header */
	unsigned tag;
	uint64_t clashes;
	uint64_t address; /* of the first of the blocks */
};

struct hg_clashes {
	size_t count;
	struct hg_clash **rows; /* by number of clashes descending, then address */
	uint64_t clashes;       /* of all rows */
};

HG_API enum hg_status hg_list_clashes(struct hg_snapshot *snapshot, struct hg_clashes **out);
HG_API void hg_clashes_release(struct hg_clashes **clashes);

/*
 * Where pointers lead that lead to no block: out of the recorded heap, or into it but not to a
 * block (dangling).  All rows together are hg_totals.outside_pointers, dangling_pointers and
 * unreachable_dangling_pointers.
 */
struct hg_outside_row {
	uint64_t address; /* the lowest that they hold; for hg_outside_name() */
	uint64_t pointers;
	uint64_t holder; /* address of the first block that holds one */
};

struct hg_outside {
	size_t count;
	struct hg_outside_row **rows; /* by number of pointers descending, then address */
	uint64_t pointers;            /* of all rows */
};

HG_API enum hg_status hg_list_outside(struct hg_snapshot *snapshot, struct hg_outside **out);
HG_API void hg_outside_release(struct hg_outside **outside);

/* "/usr/lib/libfoo.so", "memory mapped at 0x7f1200000000", "heap, but no block" */
HG_API size_t hg_outside_name(
	const struct hg_snapshot *snapshot, uint64_t address, char *buffer, size_t size);

#endif
