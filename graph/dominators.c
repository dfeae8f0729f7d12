/* Semidominators in one pass from the last node to the first, then the climb, or the buckets. */
#include "graph/dominators.h"

#include "base/assert.h"

#include <string.h>

/* Distance at which memory is asked for before it is needed; measured. */
enum { AHEAD = 24 };

/* Climbing steps per node before the buckets take over; ordinary heaps need 1 to 2. */
enum { STEPS_PER_NODE = 8 };

/*
 * The forest of nodes processed so far, side by side because both are read together: 'label' is the
 * least semidominator (climb) or the node that has it (buckets) on the compressed path.
 */
struct link {
	uint32_t ancestor, label;
};

_Static_assert(sizeof(struct link) == GRAPH_SCRATCH, "the scratch holds a link per node");

void graph_group_edges(uint32_t count, uint64_t edges, const struct graph_preorder *from,
	const struct graph_preorder *to, uint32_t *first, struct graph_preorder *sources)
{
	for (uint64_t i = 0; i < edges; i++)
		first[to[i].n + 1]++;
	for (uint32_t i = 0; i < count; i++)
		first[i + 1] += first[i];
	for (uint64_t i = 0; i < edges; i++) {
		if (i + AHEAD < edges)
			__builtin_prefetch(&first[to[i + AHEAD].n], 1);
		sources[first[to[i].n]++] = from[i];
	}
	/* Each entry now stands where the next one began. */
	for (uint32_t i = count; i > 0; i--)
		first[i] = first[i - 1];
	first[0] = 0;
	base_assert(first[count] == edges);
}

/*
 * Least label on the path from v to the root of its tree, the root excluded; nodes from 'linked' on
 * are in the forest.  Halves the path on the way.
 */
static inline uint32_t least_label(struct link *forest, uint32_t v, uint32_t linked)
{
	uint32_t least = forest[v].label;
	uint32_t above = forest[v].ancestor;
	while (above >= linked) {
		struct link next = forest[above];
		if (next.label < least)
			least = next.label;
		if (next.label < forest[v].label)
			forest[v].label = next.label;
		forest[v].ancestor = next.ancestor;
		v = next.ancestor;
		if (v < linked)
			break;
		if (forest[v].label < least)
			least = forest[v].label;
		above = forest[v].ancestor;
	}
	return least;
}

static void find_semidominators(const struct graph_flow *flow, struct link *forest, uint32_t *semi)
{
	const uint32_t *first = flow->first;
	const struct graph_preorder *predecessors = flow->predecessors;
	for (uint32_t v = 0; v < flow->count; v++)
		forest[v] = (struct link){flow->parent[v].n, v};
	semi[0] = 0;
	for (uint32_t v = flow->count - 1; v > 0; v--) {
		uint32_t least = flow->parent[v].n;
		for (uint32_t k = first[v + 1]; k-- > first[v];) {
			uint32_t u = predecessors[k].n;
			if (k >= AHEAD)
				__builtin_prefetch(&forest[predecessors[k - AHEAD].n], 1);
			uint32_t candidate = u <= v ? u : least_label(forest, u, v + 1);
			if (candidate < least)
				least = candidate;
		}
		base_assert(least < v);
		semi[v] = least;
		forest[v].label = least;
	}
}

/* The nearest common ancestor of parent and semidominator; false when it takes too long. */
static bool climb(const struct graph_flow *flow, const uint32_t *semi, bool bounded,
	struct graph_preorder *idom)
{
	uint64_t steps_left = bounded ? (uint64_t)STEPS_PER_NODE * flow->count : UINT64_MAX;
	idom[0].n = 0;
	for (uint32_t v = 1; v < flow->count; v++) {
		uint32_t d = flow->parent[v].n;
		while (d > semi[v]) {
			d = idom[d].n;
			if (steps_left-- == 0)
				return false;
		}
		base_assert(d < v);
		idom[v].n = d;
	}
	return true;
}

/* The node of least semidominator on the path from v; as least_label(). */
static uint32_t least_node(struct link *forest, const uint32_t *semi, uint32_t v, uint32_t linked)
{
	uint32_t least = forest[v].label;
	uint32_t above = forest[v].ancestor;
	while (above >= linked) {
		struct link next = forest[above];
		if (semi[next.label] < semi[least])
			least = next.label;
		if (semi[next.label] < semi[forest[v].label])
			forest[v].label = next.label;
		forest[v].ancestor = next.ancestor;
		v = next.ancestor;
		if (v < linked)
			break;
		if (semi[forest[v].label] < semi[least])
			least = forest[v].label;
		above = forest[v].ancestor;
	}
	return least;
}

/* 'bucket' and 'next' are zeroed: lists of the nodes with one semidominator; 0 ends them. */
static void empty_buckets(const struct graph_flow *flow, struct link *forest, const uint32_t *semi,
	uint32_t *bucket, uint32_t *next, struct graph_preorder *idom)
{
	for (uint32_t v = 0; v < flow->count; v++)
		forest[v] = (struct link){flow->parent[v].n, v};
	for (uint32_t w = flow->count - 1; w > 0; w--) {
		uint32_t parent = flow->parent[w].n;
		next[w] = bucket[semi[w]];
		bucket[semi[w]] = w;
		for (uint32_t v = bucket[parent]; v; v = next[v]) {
			uint32_t u = least_node(forest, semi, v, w);
			idom[v].n = semi[u] < semi[v] ? u : parent;
		}
		bucket[parent] = 0;
	}
	idom[0].n = 0;
	for (uint32_t w = 1; w < flow->count; w++) {
		if (idom[w].n != semi[w])
			idom[w] = idom[idom[w].n];
		base_assert(idom[w].n < w);
	}
}

/* The scratch is the forest until the dominators, which grow elsewhere, are copied over it. */
static enum hg_status use_buckets(const struct graph_flow *flow, const uint32_t *semi,
	void *scratch, struct base_arena *arena, struct hg_error *error)
{
	uint32_t *bucket, *next;
	struct graph_preorder *idom;
	BASE_TRY(base_arena_alloc(arena, flow->count, sizeof(*idom), (void **)&idom, error));
	BASE_TRY(base_arena_zalloc(arena, flow->count, sizeof(*bucket), (void **)&bucket, error));
	BASE_TRY(base_arena_alloc(arena, flow->count, sizeof(*next), (void **)&next, error));
	empty_buckets(flow, scratch, semi, bucket, next, idom);
	memcpy(scratch, idom, flow->count * sizeof(*idom));
	base_arena_free(arena, next);
	base_arena_free(arena, bucket);
	base_arena_free(arena, idom);
	return HG_OK;
}

enum hg_status graph_dominators(const struct graph_flow *flow, enum graph_method method,
	void *scratch, uint32_t *semi, struct base_arena *arena, struct graph_preorder **idom,
	struct hg_error *error)
{
	find_semidominators(flow, scratch, semi);
	/* The forest has done its work: dominators grow in its place. */
	*idom = scratch;
	if (method == GRAPH_METHOD_BUCKETS ||
		!climb(flow, semi, method == GRAPH_METHOD_ADAPTIVE, *idom))
		return use_buckets(flow, semi, scratch, arena, error);
	return HG_OK;
}
