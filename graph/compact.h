/*
 * The compact graph: one 32-bit word for every kept word of the heap (ranks.h), in order of
 * addresses, so that the number of a word needs no table.
 *
 *     header  bit 31: visited; else bit 30: no edges, bit 29: has links besides its fields,
 *             low 29 bits: a label
 *     edge    bit 31: no more of its block; low 31 bits: slot of the target's header.  A field
 *             that turned out to lead nowhere is an edge to its own block.
 *
 * The edge of the last field comes first, so that a stack filled in this order yields the first
 * field first.  After the heap's words come those of the nodes that are no blocks: for each root a
 * header and an edge, then the virtual root with an edge to every root that it holds; the edges of
 * the last tier come first, and the headers of all tiers but the first have the bit of links,
 * because they are looked at closely.  About 10 bytes per block; built for the search, freed, and
 * built again when paths are asked for.
 */
#ifndef GRAPH_COMPACT_H
#define GRAPH_COMPACT_H

#include "graph/graph.h"

#define GRAPH_VISITED ((uint32_t)1 << 31)
#define GRAPH_LEAF ((uint32_t)1 << 30)
#define GRAPH_LINKS ((uint32_t)1 << 29)
#define GRAPH_LABEL (GRAPH_LINKS - 1) /* as a size: "too large for the label" */

#define GRAPH_LAST ((uint32_t)1 << 31)
#define GRAPH_TARGET (GRAPH_LAST - 1)

struct graph_compact {
	const struct snap *snap;
	uint32_t *words;
	uint32_t heap_slots; /* kept words of the heap */
	uint64_t count;      /* of all words */
};

/* Slots of blocks with fields that dangle, once for each field. */
struct graph_dangling {
	uint32_t *slots; /* from malloc */
	uint64_t count, capacity;
};

/*
 * Labels are the words of each block, header included; GRAPH_LABEL for larger ones.  The outcomes
 * of kept words are added to *census, and those that dangle to *dangling, which the caller frees
 * also after a failure; both may be NULL together.  The words belong to the arena.
 */
enum hg_status graph_compact_build(struct graph_compact *compact, struct snap *snap,
	struct base_arena *arena, struct snap_census *census, struct graph_dangling *dangling,
	struct hg_error *error);

static inline struct snap_slot graph_compact_root_slot(const struct graph_compact *c, uint64_t root)
{
	return (struct snap_slot){c->heap_slots + 2 * (uint32_t)root};
}

/* The root whose header has this slot, which is after the heap; NULL for the virtual root. */
static inline const struct snap_root *graph_compact_root(
	const struct graph_compact *c, struct snap_slot slot)
{
	uint32_t root = (slot.n - c->heap_slots) / 2;
	return root < c->snap->root_count ? &c->snap->roots[root] : NULL;
}

static inline struct snap_slot graph_compact_virtual_root(const struct graph_compact *c)
{
	return graph_compact_root_slot(c, c->snap->root_count);
}

/* Slot of the header of a node, and back. */
struct snap_slot graph_compact_slot(const struct graph_compact *compact, uint32_t node);
uint32_t graph_compact_node(const struct graph_compact *compact, struct snap_slot slot);

#endif
