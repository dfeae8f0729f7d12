/*
 * What a set of nodes holds as a whole: what the roots do not reach once it is gone, and what it
 * leads to that others hold, too.
 *
 * One breadth-first search over a compact graph.  In each tier of roots nodes of the set are put
 * aside at first; what is found without them, the others hold; what is found when their turn comes
 * is lost with the set.  Edges are those that the dominators are made of (strong.h), so that of a
 * single node as much is lost as it retains.  8 bytes per live node, beside the compact graph's 10
 * per block.
 */
#ifndef GRAPH_SETS_H
#define GRAPH_SETS_H

#include "graph/compact.h"

struct graph_removal {
	struct base_arena arena;
	struct graph_compact compact;
	uint32_t count;   /* nodes met, all of which have a number; 0 is the virtual root */
	uint32_t most;    /* that there is room for: all live nodes */
	uint32_t *slot;   /* of each number, with a bit */
	uint32_t *holder; /* number of the node it was met from, which avoids the set */
	struct {
		uint32_t first, end;
	} lost[SNAP_TIERS]; /* numbers of what only the set holds, the set included */
	uint64_t *set;      /* a bit per slot */
	uint64_t *aside;    /* the same: of those that were put aside */
	uint32_t *waiting;  /* their slots */
	uint64_t waiting_count;
	bool avoids;      /* the set */
	uint64_t *shared; /* a bit per number; once asked for */
};

/* 'nodes' are any but the virtual root, each once. */
enum hg_status graph_removal_open(struct graph_removal *removal, struct graph *graph,
	const uint32_t *nodes, uint64_t count, struct hg_error *error);
void graph_removal_close(struct graph_removal *removal);

/*
 * Finds what the set leads to and does not hold alone.  The holder of each of these is then the
 * last node, on a shortest path that avoids the set, to which the set does not lead.
 */
enum hg_status graph_removal_share(struct graph_removal *removal, struct hg_error *error);

uint32_t graph_removal_node(const struct graph_removal *removal, uint32_t number);

#endif
