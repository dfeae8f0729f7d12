/* The largest children of a node: a heap that keeps as many as are wanted, sorted at the end. */
#include "query/shared/children.h"

#include "base/assert.h"

#include <stdlib.h>

static bool retains_less(
	const struct hg_snapshot *s, struct graph_position a, struct graph_position b)
{
	return query_by_retained(s, a, b) > 0;
}

/* A heap whose top comes last of all, so that it can be replaced by something larger. */
static void sift_down(const struct hg_snapshot *snapshot, struct graph_position *heap,
	uint64_t count, uint64_t at)
{
	for (;;) {
		uint64_t child = 2 * at + 1;
		if (child >= count)
			return;
		if (child + 1 < count && retains_less(snapshot, heap[child + 1], heap[child]))
			child++;
		if (!retains_less(snapshot, heap[child], heap[at]))
			return;
		struct graph_position other = heap[at];
		heap[at] = heap[child];
		heap[child] = other;
		at = child;
	}
}

/* Takes the last ones out one by one: what they leave is in order. */
static void sort_heap(
	const struct hg_snapshot *snapshot, struct graph_position *heap, uint64_t count)
{
	for (uint64_t left = count; left > 1; left--) {
		struct graph_position last = heap[0];
		heap[0] = heap[left - 1];
		heap[left - 1] = last;
		sift_down(snapshot, heap, left - 1, 0);
	}
}

enum hg_status query_children_open(struct query_children *children, struct hg_snapshot *snapshot,
	struct graph_position position, uint64_t most, uint64_t min_bytes)
{
	const struct graph *g = &snapshot->graph;
	uint64_t eligible = 0;
	*children = (struct query_children){0};
	for (struct graph_position c = graph_first_child(g, position); graph_reaches(c);
		c = graph_next_child(g, position, c)) {
		children->total++;
		children->hidden_bytes += graph_retained(g, c);
		eligible += graph_retained(g, c) >= min_bytes;
	}
	uint64_t room = most && most < eligible ? most : eligible;
	BASE_TRY(query_alloc(
		snapshot, room, sizeof(*children->positions), (void **)&children->positions));
	struct graph_position *heap = children->positions;
	for (struct graph_position c = graph_first_child(g, position); graph_reaches(c) && room;
		c = graph_next_child(g, position, c)) {
		if (graph_retained(g, c) < min_bytes)
			continue;
		if (children->shown < room) {
			heap[children->shown++] = c;
			if (children->shown == room)
				for (uint64_t i = room / 2; i-- > 0;)
					sift_down(snapshot, heap, room, i);
		} else if (retains_less(snapshot, heap[0], c)) {
			heap[0] = c;
			sift_down(snapshot, heap, room, 0);
		}
	}
	sort_heap(snapshot, heap, children->shown);
	base_assert(children->shown == room && room <= children->total);
	for (uint64_t i = 0; i < children->shown; i++) {
		base_assert(i == 0 || query_by_retained(snapshot, heap[i - 1], heap[i]) < 0);
		base_assert(children->hidden_bytes >= graph_retained(g, heap[i]));
		children->hidden_bytes -= graph_retained(g, heap[i]);
	}
	return HG_OK;
}

void query_children_release(struct query_children *children)
{
	free(children->positions);
	*children = (struct query_children){0};
}
