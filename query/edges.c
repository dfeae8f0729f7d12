/* All pointers in a row: fields by address of their block, what blocks hold otherwise, roots. */
#include "query/shared/query.h"

#include "base/assert.h"

#include <stdlib.h>

struct hg_edges {
	struct hg_snapshot *snapshot;
	struct snap_walk walk;
	struct snap_run run;
	struct snap_scan scan;
	struct snap_cell cell; /* of the node, if that is a block */
	uint32_t node;         /* whose edges come; HG_NO_NODE before the first one */
	uint64_t field;        /* to look at next; of a root 0 is its value */
	uint64_t link, last_link;
	struct hg_edge edge; /* the one met last */
};

const char *hg_edge_kind_name(enum hg_edge_kind kind)
{
	static const char *const names[] = {
		"field", "ephemeron", "fiber", "root", "passing", "last"};
	return (size_t)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "?";
}

enum hg_status hg_edges_open(struct hg_snapshot *snapshot, struct hg_edges **out)
{
	if (!out)
		return query_no_place(snapshot);
	*out = NULL;
	BASE_TRY(query_begin(snapshot));
	struct hg_edges *edges;
	BASE_TRY(query_alloc(snapshot, 1, sizeof(*edges), (void **)&edges));
	edges->snapshot = snapshot;
	edges->node = HG_NO_NODE;
	enum hg_status status =
		snap_walk_init(&edges->walk, &snapshot->snap, &snapshot->session->error);
	if (status != HG_OK) {
		free(edges);
		return status;
	}
	snap_walk_range(&edges->walk, 0, snapshot->snap.entry_count);
	*out = edges;
	return HG_OK;
}

static bool next_cell(struct hg_edges *edges)
{
	const struct snap *snap = &edges->snapshot->snap;
	while (!snap_scan_next(&edges->scan, &edges->cell)) {
		if (!snap_walk_next(&edges->walk, &edges->run))
			return false;
		edges->scan = snap_scan_run(snap, &edges->run);
	}
	return true;
}

/* On to the next node, with no edge of it told; false at the end. */
static bool next_source(struct hg_edges *edges)
{
	const struct snap *snap = &edges->snapshot->snap;
	uint32_t node = edges->node == HG_NO_NODE ? 0 : edges->node + 1;
	if (node >= snap_virtual_root(snap))
		return false;
	if (node < snap->block_count) {
		/* Else there are fewer of them than before: the file has changed. */
		if (!next_cell(edges))
			return false;
		edges->field = snap_first_value(snap, &edges->cell);
	} else {
		edges->field = 0;
	}
	edges->node = node;
	snap_links(snap, node, &edges->link, &edges->last_link);
	return true;
}

/* How a root holds what it points to. */
static enum hg_edge_kind kind_of_root_edge(const struct snap *snap, uint32_t node)
{
	static const enum hg_edge_kind kinds[SNAP_TIERS] = {[SNAP_TIER_LASTING] = HG_EDGE_ROOT,
		[SNAP_TIER_PASSING] = HG_EDGE_PASSING,
		[SNAP_TIER_LAST] = HG_EDGE_LAST};
	const struct snap_root *root = &snap->roots[node - snap->block_count];
	return root->hold == SNAP_HOLD_BLOCK ? HG_EDGE_FIBER : kinds[snap_root_tier(snap, root)];
}

/* The next field that is a pointer to a block. */
static bool next_field_edge(struct hg_edges *edges)
{
	const struct snap *snap = &edges->snapshot->snap;
	while (edges->field < edges->cell.field_count) {
		uint64_t field = edges->field++, value = edges->cell.fields[field];
		uint32_t to = value & 1 ? HG_NO_NODE : snap_resolve_node(snap, value);
		if (to != HG_NO_NODE) {
			edges->edge = (struct hg_edge){edges->node, to, field, HG_EDGE_FIELD};
			return true;
		}
	}
	return false;
}

static bool next_root_edge(struct hg_edges *edges)
{
	const struct snap *snap = &edges->snapshot->snap;
	if (edges->field++)
		return false;
	uint32_t to = snap_resolve_node(snap, snap->roots[edges->node - snap->block_count].value);
	edges->edge =
		(struct hg_edge){edges->node, to, HG_UNKNOWN, kind_of_root_edge(snap, edges->node)};
	return to != HG_NO_NODE;
}

/* A link from a root is as its value; blocks hold stacks so, and keys the data of ephemerons. */
static bool next_link_edge(struct hg_edges *edges)
{
	const struct snap *snap = &edges->snapshot->snap;
	if (edges->link == edges->last_link)
		return false;
	uint32_t to = snap->links[edges->link++].to;
	enum hg_edge_kind kind = edges->node >= snap->block_count
					 ? kind_of_root_edge(snap, edges->node)
				 : to >= snap->block_count ? HG_EDGE_FIBER
							   : HG_EDGE_EPHEMERON;
	edges->edge = (struct hg_edge){edges->node, to, HG_UNKNOWN, kind};
	return true;
}

const struct hg_edge *hg_edges_next(struct hg_edges *edges)
{
	if (!edges)
		return NULL;
	const struct snap *snap = &edges->snapshot->snap;
	for (;;) {
		bool is_block = edges->node < snap->block_count;
		bool any = edges->node != HG_NO_NODE &&
			   ((is_block ? next_field_edge(edges) : next_root_edge(edges)) ||
				   next_link_edge(edges));
		base_assert(!any || edges->edge.to < snap_virtual_root(snap));
		if (any)
			return &edges->edge;
		if (!next_source(edges))
			return NULL;
	}
}

void hg_edges_close(struct hg_edges *edges)
{
	if (!edges)
		return;
	snap_walk_release(&edges->walk);
	free(edges);
}
