/* By the order of positions, in which what a tier of roots holds is together. */
#include "query/retention/passing.h"

#include "base/bits.h"

/* Where what the roots of a tier hold ends; 0 if there are none.  What lower tiers hold is behind.
 */
static uint32_t end_of_tier(const struct hg_snapshot *snapshot, enum snap_tier tier)
{
	const struct snap *snap = &snapshot->snap;
	const struct graph *graph = &snapshot->graph;
	uint32_t end = 0;
	for (uint64_t i = 0; i < snap->root_count; i++) {
		struct graph_position p = graph->position[snap_root_node(snap, i)];
		if (graph_reaches(p) && snap_root_in_tier(snap, &snap->roots[i], tier) &&
			p.n + graph->extent[p.n] > end)
			end = p.n + graph->extent[p.n];
	}
	return end;
}

enum hg_status query_find_passing(
	struct hg_snapshot *snapshot, const struct query_retention *tree, uint64_t **out)
{
	const struct graph *graph = &snapshot->graph;
	uint32_t first = end_of_tier(snapshot, SNAP_TIER_LAST);
	uint32_t end = end_of_tier(snapshot, SNAP_TIER_PASSING);
	BASE_TRY(query_alloc(snapshot, base_bit_words(tree->count), sizeof(**out), (void **)out));
	for (uint32_t i = 1; i < tree->count; i++)
		if (tree->nodes[i].depth == 1)
			base_bit_set(*out, i);
	for (uint32_t p = 1; p < graph->live_count; p += graph->extent[p]) {
		uint32_t node = tree->of_position[p];
		if (node != QUERY_NO_CLASS && (p < first || p >= end))
			base_bit_clear(*out, node);
	}
	return HG_OK;
}
