/*
 * Shortest paths from the virtual root: breadth-first search over the compact graph.
 *
 * Nodes are numbered in the order met, so that a holder on a shortest path has a smaller number
 * than what it holds.  Fields are followed in order and roots in theirs, tier by tier: the same
 * paths every time, from lasting roots wherever there are such.
 * 8 bytes per live node, beside the compact graph's 10 per block.
 */
#ifndef GRAPH_PATHS_H
#define GRAPH_PATHS_H

#include "graph/compact.h"

struct graph_paths {
	struct base_arena arena;
	struct graph_compact compact;
	uint32_t count;   /* nodes met; 0 is the virtual root */
	uint32_t most;    /* that there is room for: all live nodes */
	uint32_t *slot;   /* of each */
	uint32_t *holder; /* number of the node it was met from; holder[0] = 0 */
};

enum hg_status graph_paths_open(
	struct graph_paths *paths, struct graph *graph, struct hg_error *error);
void graph_paths_close(struct graph_paths *paths);

/* Number of a node, GRAPH_NONE if it is unreachable; and back. */
uint32_t graph_paths_number(const struct graph_paths *paths, uint32_t node);
uint32_t graph_paths_node(const struct graph_paths *paths, uint32_t number);

/*
 * Nodes of the roots from which a node is reached in whatever way, the nearest first, of all tiers.
 * From the arena, together with some 12 bytes per node and 4 per pointer.
 */
enum hg_status graph_paths_roots_to(const struct graph_paths *paths, uint32_t number,
	struct base_arena *arena, uint32_t **roots, uint32_t *count, struct hg_error *error);

#endif
