/*
 * What the answers share: the snapshot that the public handle is of, and names of things.
 */
#ifndef QUERY_SHARED_QUERY_H
#define QUERY_SHARED_QUERY_H

#include "base/bits.h"
#include "graph/graph.h"
#include "query/shared/pairs.h"
#include "retype/retype.h"
#include "snapshot/process.h"
#include "snapshot/walk.h"

/* No class: of nodes that take no part. */
#define QUERY_NO_CLASS UINT32_MAX

struct query_places;
struct query_join;

/* The functions of closures, in the order of the first closure of each. */
struct query_functions {
	bool is_open;
	struct query_pairs codes; /* high and low half of an address */
	struct query_function {
		uint32_t rank;    /* of that closure */
		const char *name; /* "" if it is not known */
	} * all;
	uint64_t capacity;
};

static inline void query_functions_release(struct query_functions *functions)
{
	query_pairs_release(&functions->codes);
	free(functions->all);
}

struct hg_snapshot {
	struct hg_session *session;
	struct snap snap;
	struct graph graph;      /* once analysed */
	struct retype retype;    /* the same */
	struct snap_walk lookup; /* for single blocks */
	struct retype_options retype_options;
	struct query_pairs classes; /* classes by type and location: their parts */
	uint64_t *memprof_own;      /* bits by rank: memprof.h; NULL without any */
	struct retype_term memprof_type;
	struct query_places *places; /* in the source; NULL until the first question */
	struct query_functions functions;
	struct query_join *join; /* a trace beside it; NULL without one */
	struct hg_info info;
	uint64_t root_counts[HG_ROOT_KINDS]; /* for it */
	struct hg_totals totals;             /* once they were asked for */
	struct hg_chunk chunk;               /* asked for last */
	struct hg_block block;               /* the same */
	struct hg_memory memory;             /* the same */
	bool counted;                        /* the totals */
	bool reconciled;                     /* the memory */
	bool analysed;
	bool spent; /* an analysis began and did not end: what it used up is gone */
	bool lost;  /* memory ran out in a function that has no status */
};

/* Room for text in a place of the caller's: none if there is no place. */
static inline size_t query_room(const char *buffer, size_t size)
{
	return buffer ? size : 0;
}

/*
 * HG_ERROR_USAGE unless there is a snapshot and hg_snapshot_analyse() has succeeded; clears the
 * session's error.
 */
enum hg_status query_begin(struct hg_snapshot *snapshot);

/* For who has no place for the result: begins, and fails with HG_ERROR_USAGE. */
enum hg_status query_no_place(struct hg_snapshot *snapshot);

/* malloc() for results, which outlive arenas; zeroed, never NULL on success. */
enum hg_status query_alloc(struct hg_snapshot *snapshot, uint64_t count, size_t size, void **out);

/* Makes room for one more in a result array. */
enum hg_status query_grow(
	struct hg_snapshot *snapshot, void *array, uint64_t count, uint64_t *capacity, size_t size);

/* Location of a block as a sample of it or its header says. */
static inline uint32_t query_location(
	const struct snap *snap, const struct snap_cell *cell, enum hg_confidence *confidence)
{
	if (snap->sampled_count) {
		uint32_t location = snap_sampled_location(snap, cell->address);
		*confidence = location ? HG_EXACT : HG_UNKNOWN_ORIGIN;
		return location;
	}
	uint32_t id = snap_header_reserved(cell->header, snap->reserved);
	return snap_locations_find(&snap->locations, id, cell->tag, confidence);
}

/* Type of a block as was found, or as its tag says, or that it is Gc.Memprof's own; number 0 if
 * none of these. */
static inline struct retype_term query_type(const struct hg_snapshot *snapshot, uint32_t rank,
	unsigned tag, enum hg_confidence *confidence)
{
	struct retype_term type = retype_of(&snapshot->retype, rank, tag, confidence);
	if (type.n || !snapshot->memprof_own || !base_bit(snapshot->memprof_own, rank))
		return type;
	*confidence = HG_EXACT;
	return snapshot->memprof_type;
}

/* The segment that the header of a block lies in. */
static inline enum hg_segment query_segment(
	const struct snap *snap, struct snap_header_address address)
{
	const struct snap_chunk *chunk = snap_chunk_at(snap, address.a);
	return chunk ? chunk->segment : HG_SEGMENT_HEAP;
}

/* Position of a node; it reaches nothing if the node is unreachable or none. */
static inline struct graph_position query_position(const struct hg_snapshot *snapshot, hg_node node)
{
	if (node >= snapshot->graph.node_count)
		return (struct graph_position){GRAPH_NONE};
	return snapshot->graph.position[node];
}

/* Root slot 'number' of the file; and whether it points to a block of one of these types. */
struct hg_root_slot query_root_slot(const struct hg_snapshot *snapshot, uint64_t number);
bool query_root_points_to(
	struct hg_snapshot *snapshot, const struct hg_root_slot *slot, const bool *types);

/* HG_ERROR_USAGE if there is no such key. */
enum hg_status query_check_key(const struct hg_snapshot *snapshot, enum hg_key key);

/* Fills 'out' for a node, as hg_describe_block() says. */
void query_block(struct hg_snapshot *snapshot, hg_node node, struct hg_block *out);

/* The field of a block (or root, HG_UNKNOWN) that leads to 'target', the first one. */
uint64_t query_field_to(struct hg_snapshot *snapshot, hg_node holder, hg_node target);

/* HG_ERROR_USAGE: nothing matches a pattern, whose nearest names are named. */
enum hg_status query_nothing_matches(struct hg_snapshot *snapshot, const char *pattern);

/* The node at a position; needs graph_nodes(). */
static inline hg_node query_node(const struct hg_snapshot *snapshot, struct graph_position p)
{
	return snapshot->graph.node[p.n];
}

/* Order of two nodes by retained bytes, the larger first, then by node. */
int query_by_retained(
	const struct hg_snapshot *snapshot, struct graph_position a, struct graph_position b);

#endif
