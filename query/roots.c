/*
 * Root slots, each with the block that it points to.  Retained bytes are those of the slot's own
 * node: what would be freed if this slot alone were cleared.
 */
#include "query/shared/result.h"
#include "query/shared/types.h"

#include "base/assert.h"

#include <stdlib.h>

/* Adds a block that the slot points to, unless nothing reaches it. */
static void add_root_target(
	const struct hg_snapshot *snapshot, uint32_t target, struct hg_root_slot *slot)
{
	const struct graph *g = &snapshot->graph;
	if (target == HG_NO_NODE || !graph_reaches(g->position[target]))
		return;
	slot->targets++;
	slot->bytes += graph_shallow(g, g->position[target]);
	slot->offheap_bytes += graph_offheap(g, g->position[target]);
}

/* A stack that a continuation holds has a link for each block; they come in order. */
static void add_linked_targets(const struct hg_snapshot *snapshot, struct hg_root_slot *slot)
{
	const struct snap *snap = &snapshot->snap;
	uint64_t first, end;
	snap_links(snap, slot->node, &first, &end);
	for (uint64_t i = first; i < end; i++)
		if (i == first || snap->links[i].to != snap->links[i - 1].to)
			add_root_target(snapshot, snap->links[i].to, slot);
}

struct hg_root_slot query_root_slot(const struct hg_snapshot *snapshot, uint64_t number)
{
	const struct snap *snap = &snapshot->snap;
	const struct graph *g = &snapshot->graph;
	base_assert(number < snap->root_count);
	struct hg_root_slot slot = {.node = snap_root_node(snap, number)};
	slot.target = snap_resolve_node(snap, snap->roots[number].value);
	base_assert(slot.node < g->node_count);
	/* Else it is a fiber that only garbage holds. */
	slot.reachable = graph_reaches(g->position[slot.node]);
	add_root_target(snapshot, slot.target, &slot);
	if (slot.reachable) {
		slot.retained_bytes = graph_retained(g, g->position[slot.node]);
		slot.retained_offheap_bytes = graph_retained_offheap(g, g->position[slot.node]);
		add_linked_targets(snapshot, &slot);
	}
	return slot;
}

bool query_root_points_to(
	struct hg_snapshot *snapshot, const struct hg_root_slot *slot, const bool *types)
{
	struct snap_cell cell;
	enum hg_confidence confidence;
	return slot->target != HG_NO_NODE &&
	       snap_block(&snapshot->lookup, (struct snap_rank){slot->target}, &cell) &&
	       types[query_type(snapshot, slot->target, cell.tag, &confidence).n];
}

/* By retained bytes, the largest first, then in the order of the file. */
static int compare_slots_by(
	const struct hg_root_slot *a, const struct hg_root_slot *b, uint64_t x, uint64_t y)
{
	if (x != y)
		return x > y ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

static int compare_slots_of_heap(const void *left, const void *right)
{
	const struct hg_root_slot *a = left, *b = right;
	return compare_slots_by(a, b, a->retained_bytes, b->retained_bytes);
}

static int compare_slots_in_total(const void *left, const void *right)
{
	const struct hg_root_slot *a = left, *b = right;
	return compare_slots_by(a, b, a->retained_bytes + a->retained_offheap_bytes,
		b->retained_bytes + b->retained_offheap_bytes);
}

static enum hg_status collect_root_slots(
	struct hg_snapshot *snapshot, const bool *types, struct hg_root_slots *out)
{
	uint64_t count = snapshot->snap.root_count;
	struct hg_root_slot *rows;
	int (*compare)(const void *, const void *) = snapshot->session->weight == HG_WEIGHT_TOTAL
							     ? compare_slots_in_total
							     : compare_slots_of_heap;
	BASE_TRY(query_alloc(snapshot, count, sizeof(*rows), (void **)&rows));
	for (uint64_t i = 0; i < count; i++) {
		struct hg_root_slot slot = query_root_slot(snapshot, i);
		if (types && !query_root_points_to(snapshot, &slot, types))
			continue;
		rows[out->count++] = slot;
		out->with_target += slot.target != HG_NO_NODE || slot.targets != 0;
	}
	if (out->count)
		qsort(rows, out->count, sizeof(*rows), compare);
	base_assert(out->with_target <= out->count);
	for (size_t i = 1; i < out->count; i++)
		base_assert(compare(&rows[i - 1], &rows[i]) < 0);
	return query_keep_rows(snapshot, out, rows, out->count, sizeof(*rows), &out->rows);
}

enum hg_status hg_list_root_slots(
	struct hg_snapshot *snapshot, const char *type, struct hg_root_slots **out)
{
	bool *types = NULL;
	BASE_TRY(query_answer(snapshot, sizeof(**out), out));
	enum hg_status status = query_types_of_pattern(snapshot, type, &types);
	if (status == HG_OK) {
		status = collect_root_slots(snapshot, types, *out);
		free(types);
	}
	if (status != HG_OK)
		query_free(out);
	return status;
}

void hg_root_slots_release(struct hg_root_slots **slots)
{
	query_free(slots);
}
