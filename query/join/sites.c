/*
 * Places of allocation with what else is known of their blocks: the classes by location, and for
 * each the type and the root that most of its blocks have.
 */
#include "query/join/join.h"

#include "base/grow.h"
#include "graph/tops.h"
#include "query/shared/result.h"
#include "query/shared/types.h"

/* How many blocks of a location have something in common. */
struct join_tally {
	struct query_pairs pairs; /* of the location and that */
	uint64_t *blocks;
	uint64_t count, capacity;
};

static void release_tally(struct join_tally *tally)
{
	query_pairs_release(&tally->pairs);
	free(tally->blocks);
}

static enum hg_status add_to_tally(
	struct join_tally *tally, uint32_t location, uint32_t what, struct hg_error *error)
{
	uint32_t number;
	BASE_TRY(query_pairs_number(&tally->pairs, location, what, &number, error));
	if (number == tally->count) {
		BASE_TRY(base_grow(&tally->blocks, tally->count, &tally->capacity,
			sizeof(*tally->blocks), error));
		tally->blocks[tally->count++] = 0;
	}
	tally->blocks[number]++;
	return HG_OK;
}

struct site_tallies {
	struct hg_snapshot *snapshot;
	struct join_tally types, holders;
	uint32_t *same;   /* types of one name */
	uint32_t *row_of; /* of a location: row + 1; 0: none */
};

/* The root that alone keeps a block; HG_NO_NODE if several do, or none. */
static hg_node root_of_sampled(const struct hg_snapshot *snapshot, uint32_t rank)
{
	struct graph_position position = query_position(snapshot, rank);
	if (!graph_reaches(position))
		return HG_NO_NODE;
	hg_node top = query_node(snapshot, graph_top(&snapshot->graph, position));
	bool is_root =
		top >= snapshot->snap.block_count && top != snap_virtual_root(&snapshot->snap);
	return is_root ? top : HG_NO_NODE;
}

static enum hg_status tally_sampled(struct site_tallies *t, const struct snap_sampled *sampled)
{
	struct hg_snapshot *snapshot = t->snapshot;
	struct hg_error *error = &snapshot->session->error;
	struct snap_cell cell;
	enum hg_confidence confidence;
	uint32_t rank = snap_resolve_node(&snapshot->snap, snap_block_of(sampled->address).a);
	if (rank == HG_NO_NODE || !snap_block(&snapshot->lookup, (struct snap_rank){rank}, &cell))
		return HG_OK;
	uint32_t type = t->same[query_type(snapshot, rank, cell.tag, &confidence).n];
	hg_node holder = root_of_sampled(snapshot, rank);
	if (type)
		BASE_TRY(add_to_tally(&t->types, sampled->location, type, error));
	return holder == HG_NO_NODE ? HG_OK
				    : add_to_tally(&t->holders, sampled->location, holder, error);
}

/* Of several that are equal the one that was met first. */
static void choose_most(const struct site_tallies *t, struct hg_join_site *rows)
{
	for (uint32_t i = 0; i < t->types.count; i++) {
		uint32_t row = t->row_of[t->types.pairs.pairs[i].first];
		if (!row || t->types.blocks[i] <= rows[row - 1].type_blocks)
			continue;
		rows[row - 1].type = t->types.pairs.pairs[i].second;
		rows[row - 1].type_blocks = t->types.blocks[i];
	}
	for (uint32_t i = 0; i < t->holders.count; i++) {
		uint32_t row = t->row_of[t->holders.pairs.pairs[i].first];
		if (!row || t->holders.blocks[i] <= rows[row - 1].holder_blocks)
			continue;
		rows[row - 1].holder = t->holders.pairs.pairs[i].second;
		rows[row - 1].holder_blocks = t->holders.blocks[i];
	}
}

static enum hg_status tally_sites(struct site_tallies *t, struct hg_join_site *rows)
{
	struct hg_snapshot *snapshot = t->snapshot;
	struct hg_error *error = &snapshot->session->error;
	BASE_TRY(graph_nodes(&snapshot->graph, error));
	BASE_TRY(graph_tops(&snapshot->graph, error));
	BASE_TRY(query_types_by_name(snapshot, &t->same));
	for (uint64_t i = 0; i < snapshot->snap.sampled_count; i++)
		BASE_TRY(tally_sampled(t, &snapshot->snap.sampled[i]));
	choose_most(t, rows);
	return HG_OK;
}

/* Rows in the order of the classes, but for the one without a location. */
static size_t fill_sites(const struct hg_top *top, struct hg_join_site *rows, uint32_t *row_of)
{
	size_t count = 0;
	for (size_t i = 0; i < top->count; i++) {
		const struct hg_class *class = top->rows[i];
		if (class->id == 0)
			continue;
		rows[count++] = (struct hg_join_site){.location = class->id,
			.blocks = class->blocks,
			.bytes = class->bytes,
			.estimated_bytes = class->estimated_bytes,
			.estimated_error = class->estimated_error,
			.retained_bytes = class->retained_bytes,
			.retained_offheap_bytes = class->retained_offheap_bytes,
			.holder = HG_NO_NODE};
		row_of[class->id] = (uint32_t)count;
	}
	return count;
}

static enum hg_status list_sites(
	struct hg_snapshot *snapshot, const struct hg_top *top, struct hg_join_sites *out)
{
	struct site_tallies tallies = {.snapshot = snapshot};
	struct hg_join_site *rows = NULL;
	enum hg_status status = query_alloc(snapshot, snapshot->snap.locations.count,
		sizeof(*tallies.row_of), (void **)&tallies.row_of);
	if (status == HG_OK)
		status = query_alloc(snapshot, top->count, sizeof(*rows), (void **)&rows);
	if (status == HG_OK && snapshot->snap.sampled_count) {
		out->count = fill_sites(top, rows, tallies.row_of);
		status = tally_sites(&tallies, rows);
		for (size_t i = 0; i < out->count; i++) {
			out->blocks += rows[i].blocks;
			out->bytes += rows[i].bytes;
		}
	}
	release_tally(&tallies.types);
	release_tally(&tallies.holders);
	free(tallies.same);
	free(tallies.row_of);
	if (status == HG_OK)
		return query_keep_rows(snapshot, out, rows, out->count, sizeof(*rows), &out->rows);
	free(rows);
	return status;
}

enum hg_status hg_list_join_sites(struct hg_snapshot *snapshot, struct hg_join_sites **out)
{
	struct hg_top *top = NULL;
	BASE_TRY(query_answer(snapshot, sizeof(**out), out));
	enum hg_status status = hg_list_top(snapshot, HG_BY_LOCATION, NULL, &top);
	if (status == HG_OK)
		status = list_sites(snapshot, top, *out);
	hg_top_release(&top);
	if (status != HG_OK)
		hg_join_sites_release(out);
	return status;
}

void hg_join_sites_release(struct hg_join_sites **sites)
{
	query_free(sites);
}
