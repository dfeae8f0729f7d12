/*
 * What the parts of the loader of ELF cores share (elfcore.c): blocks are met area by area
 * (heap.c), static ones are found by the pointers to them (static.c), and what is
 * not a block is turned into nodes once there are ranks (nodes.c).
 */
#ifndef SNAPSHOT_CORE_PARTS_H
#define SNAPSHOT_CORE_PARTS_H

#include "base/grow.h"
#include "base/hash.h"
#include "snapshot/runtime/runtime.h"
#include "snapshot/snapshot.h"

/* In the offset of an index entry, which is the address behind its last block: one block whose
 * words are not where they should be, and the place of its copy. */
#define ELFCORE_COPY ((uint64_t)1 << 63)

/* What a granule holds: nothing of the heap, only the heap, or both and the areas have to be asked.
 */
enum { ELFCORE_GRANULE_OUT, ELFCORE_GRANULE_HEAP, ELFCORE_GRANULE_SHARED };

struct elfcore_list {
	uint64_t *items;
	uint64_t count, capacity;
};

static inline enum hg_status elfcore_append(
	struct elfcore_list *list, uint64_t item, struct hg_error *error)
{
	BASE_TRY(
		base_grow(&list->items, list->count, &list->capacity, sizeof(*list->items), error));
	list->items[list->count++] = item;
	return HG_OK;
}

/* A suspended fiber: held by its continuation, it holds what its frames do. */
struct elfcore_fiber {
	struct snap_header_address continuation;
	uint64_t root;               /* its number among the snapshot's roots */
	uint64_t first_value, count; /* in fiber_values */
};

/* Off-heap bytes of a block, by its address until there are ranks. */
struct elfcore_offheap {
	struct snap_header_address address;
	uint64_t bytes, owner;
};

/* A sample and the block it is of. */
struct elfcore_sampled {
	struct snap_header_address address;
	uint64_t sample; /* index in runtime.samples */
};

struct elfcore {
	struct snap *snap;
	struct snap_image image;
	struct snap_runtime runtime;
	bool has_image, has_runtime;

	/* While loading: granules of the heap, so that most pointers are told at a glance. */
	uint32_t *granule_top; /* leaf by the high bits of an address; 0 none */
	uint8_t *granules;     /* leaves: an ELFCORE_GRANULE for each */
	uint64_t granule_count, granule_capacity;
	struct base_map static_seen; /* addresses of headers, as in these lists */
	struct elfcore_list statics; /* in the order found */
	struct elfcore_list customs, continuations;

	/* Resident: words of copied blocks, each [header][fields]. */
	struct elfcore_list copies;
	struct elfcore_list copied; /* addresses of these blocks' headers, ascending */

	struct elfcore_fiber *fibers;
	uint64_t fiber_count, fiber_capacity;
	struct elfcore_list fiber_values;
	struct elfcore_offheap *offheap;
	uint64_t offheap_count, offheap_capacity;
	struct elfcore_list conservative; /* indexes in runtime.roots */
	struct elfcore_sampled *sampled;  /* by address */
	uint64_t sampled_count;
};

static inline struct elfcore *elfcore_of(const struct snap *snap)
{
	return snap->format_data;
}

/* The blocks of all areas; then those of static data that they and the roots lead to. */
enum hg_status elfcore_load_heap(struct elfcore *core, struct hg_error *error);
enum hg_status elfcore_load_static(struct elfcore *core, struct hg_error *error);

/* A word of a block or a root while loading: static blocks it leads to are noted. */
enum hg_status elfcore_meet(struct elfcore *core, uint64_t value, struct hg_error *error);

/* Whether a word needs to be looked at: even, and out of the heap. */
static inline bool elfcore_leads_out(const struct elfcore *core, uint64_t value)
{
	if (value & 7 || value - SNAP_ADDRESS_FIRST >= SNAP_ADDRESS_LIMIT - SNAP_ADDRESS_FIRST)
		return false;
	uint64_t granule = value >> SNAP_GRANULE_SHIFT;
	uint64_t leaf = core->granule_top[granule >> SNAP_LEAF_SHIFT];
	uint8_t mark = core->granules[(leaf << SNAP_LEAF_SHIFT) +
				      (granule & ((1 << SNAP_LEAF_SHIFT) - 1))];
	return mark == ELFCORE_GRANULE_OUT ||
	       (mark == ELFCORE_GRANULE_SHARED &&
		       !snap_runtime_area(&core->runtime, snap_pointed_header(value).a));
}

/* Roots, fibers, ephemerons, off-heap bytes, samples: what needs no ranks, and what does. */
enum hg_status elfcore_load_nodes(struct elfcore *core, struct hg_error *error);
enum hg_status elfcore_finalise(struct snap *snap, struct hg_error *error);

/* For struct snap_process. */
size_t elfcore_code_name(const struct snap *snap, uint64_t value, char *buffer, size_t size);
size_t elfcore_custom_name(
	const struct snap *snap, struct snap_rank rank, char *buffer, size_t size);
size_t elfcore_call_frame(
	const struct snap *snap, struct snap_rank rank, uint64_t frame, char *buffer, size_t size);
size_t elfcore_call_stack(
	const struct snap *snap, struct snap_header_address address, char *buffer, size_t size);
bool elfcore_code_symbol(const struct snap *snap, uint64_t address, struct snap_code_symbol *out);
uint64_t elfcore_code_places(const struct snap *snap, struct snap_range code,
	struct snap_location *out, uint64_t capacity);
bool elfcore_code_line(const struct snap *snap, uint64_t address, struct snap_location *out);
bool elfcore_sample_id(const struct snap *snap, struct snap_rank rank, int64_t *id);

#endif
