/*
 * What a loaded ELF core is besides the neutral model: the image, the runtime in it, and what waits
 * until blocks have ranks.  The parts of the loader fill it: blocks are met area by area (heap.h),
 * static ones are found by the pointers to them (static.h), and what is not a block is turned into
 * nodes (nodes.h).
 */
#ifndef SNAPSHOT_CORE_STATE_H
#define SNAPSHOT_CORE_STATE_H

#include "base/grow.h"
#include "base/hash.h"
#include "snapshot/runtime/runtime.h"
#include "snapshot/snapshot.h"

/* In the offset of an index entry, which is the address after its last block: one block whose
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

/* Memory outside the heap that a block owns, by its address until there are ranks. */
struct elfcore_offheap {
	struct snap_header_address address;
	uint64_t start, end;
	uint64_t view;              /* bytes of it that the block sees */
	uint64_t owner, owner_data; /* as in struct snap_custom */
	bool is_file;
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
	uint64_t *load_ends; /* of the memory without a gap that begins with a load */

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

#endif
