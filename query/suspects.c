/*
 * Leak suspects, by the rules of Eclipse MAT: a node at the top of the dominator tree that retains
 * a tenth of the reachable bytes, and the accumulation point: down the largest children as long as
 * one has at least 7/10 of its dominator, or to the beginning of a list.
 */
#include "query/shared/children.h"
#include "query/shared/result.h"

#include "base/assert.h"

#include <stdlib.h>

enum { SHARE = 10, DROP_TENTHS = 7, MOST_DEPTH = 1000, SAMPLE = 4096, SHORTEST_LIST = 16 };

/* Adds to what a location or type retains, and keeps the one that retains most so far. */
static void tally_retained(
	uint64_t *bytes, uint32_t key, uint64_t retained, uint32_t *most, uint64_t *most_bytes)
{
	bytes[key] += retained;
	if (key && bytes[key] > *most_bytes) {
		*most = key;
		*most_bytes = bytes[key];
	}
}

/*
 * The location and the type that retain most among the children; sampled from the largest of them.
 */
static enum hg_status main_parts(
	struct hg_snapshot *snapshot, struct graph_position position, struct hg_suspect *out)
{
	struct query_children children;
	uint64_t *locations;
	uint64_t count = snapshot->snap.locations.count;
	uint64_t types = retype_term_count(&snapshot->retype.types);
	BASE_TRY(query_children_open(&children, snapshot, position, SAMPLE, 0));
	out->children = children.total;
	enum hg_status status =
		query_alloc(snapshot, count + types + 1, sizeof(*locations), (void **)&locations);
	for (uint64_t i = 0; i < children.shown && status == HG_OK; i++) {
		struct hg_block block;
		query_block(snapshot, query_node(snapshot, children.positions[i]), &block);
		tally_retained(locations, block.location, block.retained_bytes, &out->location,
			&out->location_bytes);
		tally_retained(locations + count, block.type, block.retained_bytes, &out->type,
			&out->type_bytes);
	}
	if (status == HG_OK)
		free(locations);
	/* Children retain different bytes, and all of them what their dominator does. */
	base_assert(out->location_bytes <= graph_retained(&snapshot->graph, position));
	base_assert(out->type_bytes <= graph_retained(&snapshot->graph, position));
	query_children_release(&children);
	return status;
}

static enum hg_status largest_child(
	struct hg_snapshot *snapshot, struct graph_position position, struct graph_position *child)
{
	struct query_children children;
	BASE_TRY(query_children_open(&children, snapshot, position, 1, 0));
	*child = children.shown ? children.positions[0] : (struct graph_position){GRAPH_NONE};
	query_children_release(&children);
	return HG_OK;
}

static bool keeps_most(const struct hg_snapshot *snapshot, struct graph_position holder,
	struct graph_position child)
{
	const struct graph *g = &snapshot->graph;
	return graph_reaches(child) &&
	       10 * graph_retained(g, child) >= DROP_TENTHS * graph_retained(g, holder);
}

/* Cells of a list, nodes of a tree: the same location, tag and size. */
static bool are_alike(
	struct hg_snapshot *snapshot, struct graph_position a, struct graph_position b)
{
	struct hg_block x, y;
	query_block(snapshot, query_node(snapshot, a), &x);
	query_block(snapshot, query_node(snapshot, b), &y);
	return !x.is_root && !y.is_root && x.location == y.location && x.type == y.type &&
	       x.tag == y.tag && x.words == y.words;
}

/* How many blocks from here on are alike, each keeping nearly all of what the one before keeps. */
static enum hg_status chain_length(
	struct hg_snapshot *snapshot, struct graph_position at, uint64_t *length)
{
	for (*length = 1; *length < HG_LONGEST_CHAIN; ++*length) {
		struct graph_position child;
		BASE_TRY(largest_child(snapshot, at, &child));
		if (!keeps_most(snapshot, at, child) || !are_alike(snapshot, at, child))
			return HG_OK;
		at = child;
	}
	return HG_OK;
}

/* Goes down, but not into a list: what it keeps is gathered in the list. */
static enum hg_status accumulation_point(struct hg_snapshot *snapshot,
	struct graph_position position, struct graph_position *point, uint64_t *chain)
{
	*point = position;
	for (unsigned depth = 0; depth < MOST_DEPTH; depth++) {
		struct graph_position child;
		BASE_TRY(chain_length(snapshot, *point, chain));
		BASE_TRY(largest_child(snapshot, *point, &child));
		if (*chain >= SHORTEST_LIST || !keeps_most(snapshot, *point, child))
			return HG_OK;
		*point = child;
	}
	return HG_OK;
}

struct suspecting {
	struct hg_snapshot *snapshot;
	struct hg_suspect *rows;
	uint64_t row_count, capacity, threshold;
};

static enum hg_status add_suspect(struct suspecting *s, struct graph_position position)
{
	const struct graph *g = &s->snapshot->graph;
	struct graph_position point;
	if (graph_retained(g, position) < s->threshold)
		return HG_OK;
	struct hg_suspect row = {.node = query_node(s->snapshot, position),
		.retained_bytes = graph_retained(g, position)};
	BASE_TRY(accumulation_point(s->snapshot, position, &point, &row.chain));
	base_assert(graph_retained(g, point) <= row.retained_bytes);
	base_assert(row.chain >= 1 && row.chain <= HG_LONGEST_CHAIN);
	row.accumulation = query_node(s->snapshot, point);
	BASE_TRY(main_parts(s->snapshot, point, &row));
	BASE_TRY(query_grow(s->snapshot, &s->rows, s->row_count, &s->capacity, sizeof(*s->rows)));
	s->rows[s->row_count++] = row;
	return HG_OK;
}

/* Blocks right below the virtual root or below a root. */
static enum hg_status suspect_below(
	struct suspecting *s, struct graph_position position, bool roots)
{
	struct query_children children;
	BASE_TRY(query_children_open(&children, s->snapshot, position, 0, s->threshold));
	enum hg_status status = HG_OK;
	for (uint64_t i = 0; i < children.shown && status == HG_OK; i++) {
		struct graph_position child = children.positions[i];
		bool is_root = query_node(s->snapshot, child) >= s->snapshot->snap.block_count;
		status = is_root && roots ? suspect_below(s, child, false) : add_suspect(s, child);
	}
	query_children_release(&children);
	return status;
}

static int compare_suspects(const void *a, const void *b)
{
	const struct hg_suspect *x = a, *y = b;
	if (x->retained_bytes != y->retained_bytes)
		return x->retained_bytes > y->retained_bytes ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

static enum hg_status list_suspects(struct hg_snapshot *snapshot, struct hg_suspects *out)
{
	struct suspecting s = {.snapshot = snapshot};
	enum hg_status status = HG_OK;
	BASE_TRY(graph_nodes(&snapshot->graph, &snapshot->session->error));
	s.threshold = graph_retained(&snapshot->graph, (struct graph_position){0}) / SHARE;
	if (s.threshold)
		status = suspect_below(&s, (struct graph_position){0}, true);
	if (status != HG_OK) {
		free(s.rows);
		return status;
	}
	if (s.row_count)
		qsort(s.rows, s.row_count, sizeof(*s.rows), compare_suspects);
	for (uint64_t i = 1; i < s.row_count; i++)
		base_assert(compare_suspects(&s.rows[i - 1], &s.rows[i]) < 0);
	out->count = s.row_count;
	return query_keep_rows(snapshot, out, s.rows, s.row_count, sizeof(*s.rows), &out->rows);
}

enum hg_status hg_list_suspects(struct hg_snapshot *snapshot, struct hg_suspects **out)
{
	BASE_TRY(query_answer(snapshot, sizeof(**out), out));
	enum hg_status status = list_suspects(snapshot, *out);
	if (status != HG_OK)
		query_free(out);
	return status;
}

void hg_suspects_release(struct hg_suspects **suspects)
{
	query_free(suspects);
}
