/* Single blocks: what they are, where they are, and all of them in a row. */
#include "query/shared/query.h"

#include "base/assert.h"
#include "graph/tops.h"
#include "snapshot/offheap.h"

#include <stdlib.h>

/* What graph_nodes() and graph_tops() make. */
static enum hg_status prepare_blocks(struct hg_snapshot *snapshot)
{
	struct hg_error *error = &snapshot->session->error;
	BASE_TRY(graph_nodes(&snapshot->graph, error));
	return graph_tops(&snapshot->graph, error);
}

/* The root at the top of a chain of dominators. */
static hg_node root_above(const struct hg_snapshot *snapshot, struct graph_position position)
{
	hg_node top = query_node(snapshot, graph_top(&snapshot->graph, position));
	bool is_root = top >= snapshot->snap.block_count && top != hg_virtual_root(snapshot);
	return is_root ? top : HG_NO_NODE;
}

/* For a block met in a walk. */
static void describe_block(struct hg_snapshot *snapshot, uint32_t rank,
	const struct snap_cell *cell, struct hg_block *out)
{
	const struct graph *g = &snapshot->graph;
	base_assert(rank < snapshot->snap.block_count);
	struct graph_position position = g->position[rank];
	*out = (struct hg_block){.node = rank,
		.reachable = graph_reaches(position),
		.is_continuation = snapshot->snap.has_continuations && cell->tag == SNAP_TAG_CONT,
		.tag = (uint8_t)cell->tag,
		.segment = query_segment(&snapshot->snap, cell->address),
		.address = snap_block_of(cell->address).a,
		.words = cell->wosize,
		.bytes = snap_block_bytes(cell->wosize),
		.idom = HG_NO_NODE,
		.root = HG_NO_NODE};
	out->location = query_location(&snapshot->snap, cell, &out->location_confidence);
	out->type = query_type(snapshot, rank, cell->tag, &out->type_confidence).n;
	if (!out->reachable) {
		out->offheap_bytes = snap_offheap_bytes(&snapshot->snap, rank);
		return;
	}
	base_assert(position.n < g->live_count);
	out->retained_bytes = graph_retained(g, position);
	base_assert(out->retained_bytes >= graph_shallow(g, position));
	out->offheap_bytes = graph_offheap(g, position);
	out->retained_offheap_bytes = graph_retained_offheap(g, position);
	out->idom = query_node(snapshot, g->idom[position.n]);
	out->root = root_above(snapshot, position);
}

static void describe_root(struct hg_snapshot *snapshot, hg_node node, struct hg_block *out)
{
	const struct graph *g = &snapshot->graph;
	struct graph_position position = query_position(snapshot, node);
	*out = (struct hg_block){
		.node = node, .is_root = true, .idom = HG_NO_NODE, .root = HG_NO_NODE};
	if (!graph_reaches(position))
		return;
	out->reachable = true;
	out->retained_bytes = graph_retained(g, position);
	out->retained_offheap_bytes = graph_retained_offheap(g, position);
	out->root = root_above(snapshot, position);
	if (position.n != 0)
		out->idom = query_node(snapshot, g->idom[position.n]);
}

void query_block(struct hg_snapshot *snapshot, hg_node node, struct hg_block *out)
{
	struct snap_cell cell;
	*out = (struct hg_block){.node = HG_NO_NODE, .idom = HG_NO_NODE, .root = HG_NO_NODE};
	if (query_begin(snapshot) != HG_OK)
		return;
	if (prepare_blocks(snapshot) != HG_OK) {
		snapshot->lost = true;
		return;
	}
	if (node >= snapshot->graph.node_count)
		return;
	if (node >= snapshot->snap.block_count)
		describe_root(snapshot, node, out);
	else if (snap_block(&snapshot->lookup, (struct snap_rank){node}, &cell))
		describe_block(snapshot, node, &cell, out);
}

const struct hg_block *hg_describe_block(struct hg_snapshot *snapshot, hg_node node)
{
	static const struct hg_block none = {
		.node = HG_NO_NODE, .idom = HG_NO_NODE, .root = HG_NO_NODE};
	if (!snapshot)
		return &none;
	query_block(snapshot, node, &snapshot->block);
	return &snapshot->block;
}

hg_node hg_block_at(struct hg_snapshot *snapshot, uint64_t address)
{
	struct snap_cell cell;
	struct snap_rank rank;
	if (query_begin(snapshot) != HG_OK || address >= SNAP_ADDRESS_LIMIT)
		return HG_NO_NODE;
	const struct snap *snap = &snapshot->snap;
	if (!snap_ranks_block_before(&snap->ranks, address, &rank) ||
		!snap_block(&snapshot->lookup, rank, &cell))
		return HG_NO_NODE;
	return address < snap_field_address(cell.address, cell.wosize) ? rank.n : HG_NO_NODE;
}

struct hg_objects {
	struct hg_snapshot *snapshot;
	struct snap_walk walk;
	struct snap_run run;
	struct snap_scan scan;
	uint32_t rank;
	struct hg_block block; /* the one met last */
};

enum hg_status hg_objects_open(struct hg_snapshot *snapshot, struct hg_objects **out)
{
	if (!out)
		return query_no_place(snapshot);
	*out = NULL;
	BASE_TRY(query_begin(snapshot));
	struct hg_error *error = &snapshot->session->error;
	BASE_TRY(prepare_blocks(snapshot));
	struct hg_objects *objects;
	BASE_TRY(query_alloc(snapshot, 1, sizeof(*objects), (void **)&objects));
	objects->snapshot = snapshot;
	enum hg_status status = snap_walk_init(&objects->walk, &snapshot->snap, error);
	if (status != HG_OK) {
		free(objects);
		return status;
	}
	snap_walk_range(&objects->walk, 0, snapshot->snap.entry_count);
	*out = objects;
	return HG_OK;
}

const struct hg_block *hg_objects_next(struct hg_objects *objects)
{
	if (!objects)
		return NULL;
	const struct snap *snap = &objects->snapshot->snap;
	struct snap_cell cell;
	/* There are more of them only in a file that has changed since. */
	if (objects->rank >= snap->block_count)
		return NULL;
	while (!snap_scan_next(&objects->scan, &cell)) {
		if (!snap_walk_next(&objects->walk, &objects->run))
			return NULL;
		objects->scan = snap_scan_run(snap, &objects->run);
	}
	describe_block(objects->snapshot, objects->rank++, &cell, &objects->block);
	return &objects->block;
}

void hg_objects_close(struct hg_objects *objects)
{
	if (!objects)
		return;
	snap_walk_release(&objects->walk);
	free(objects);
}

int query_by_retained(
	const struct hg_snapshot *snapshot, struct graph_position a, struct graph_position b)
{
	const struct graph *g = &snapshot->graph;
	uint64_t x = graph_retained(g, a), y = graph_retained(g, b);
	if (x != y)
		return x > y ? -1 : 1;
	return (g->node[a.n] > g->node[b.n]) - (g->node[a.n] < g->node[b.n]);
}

uint64_t query_field_to(struct hg_snapshot *snapshot, hg_node holder, hg_node target)
{
	const struct snap *snap = &snapshot->snap;
	struct snap_cell cell;
	if (holder >= snap->block_count ||
		!snap_block(&snapshot->lookup, (struct snap_rank){holder}, &cell))
		return HG_UNKNOWN;
	for (uint64_t j = 0; j < cell.field_count; j++)
		if (snap_resolve_node(snap, cell.fields[j]) == target)
			return j;
	return HG_UNKNOWN;
}
