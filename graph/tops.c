/*
 * The child of the virtual root that a position stands below.  Children are intervals of positions
 * without gaps, so it is the last child that begins at the position or before: a bit for each
 * position, and for every 512 of them the last one set before.  An eighth of a byte per node, and
 * the answer takes the same time at any depth.
 */
#include "graph/tops.h"

enum { BITS = 64, GROUP = 512 };

enum hg_status graph_tops(struct graph *g, struct hg_error *error)
{
	size_t words = g->live_count / BITS + 1, groups = g->live_count / GROUP + 1;
	struct graph_position root = {0}, child = graph_first_child(g, root);
	if (g->tops)
		return HG_OK;
	uint32_t *before;
	uint64_t *bits;
	BASE_TRY(base_arena_alloc(&g->arena, groups, sizeof(*before), (void **)&before, error));
	BASE_TRY(base_arena_zalloc(&g->arena, words, sizeof(*bits), (void **)&bits, error));
	for (size_t group = 0, last = 0; group < groups; group++) {
		before[group] = (uint32_t)last;
		for (; child.n < (group + 1) * GROUP && graph_reaches(child);
			child = graph_next_child(g, root, child)) {
			bits[child.n / BITS] |= UINT64_C(1) << child.n % BITS;
			last = child.n;
		}
	}
	g->before_group = before;
	g->tops = bits;
	return HG_OK;
}

struct graph_position graph_top(const struct graph *g, struct graph_position p)
{
	uint32_t word = p.n / BITS, first = p.n / GROUP * (GROUP / BITS);
	uint64_t bits = g->tops[word] << (BITS - 1 - p.n % BITS);
	if (bits)
		return (struct graph_position){p.n - (uint32_t)__builtin_clzll(bits)};
	while (word > first) {
		bits = g->tops[--word];
		if (bits)
			return (struct graph_position){
				word * BITS + BITS - 1 - (uint32_t)__builtin_clzll(bits)};
	}
	return (struct graph_position){g->before_group[p.n / GROUP]};
}
