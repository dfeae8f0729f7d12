/* Everything about one block: its fields, who points to it, what it hangs on. */
#include "query/shared/result.h"
#include "query/shared/walk.h"
#include "query/shared/types.h"

#include "base/assert.h"

#include <stdlib.h>

static struct hg_field read_object_field(
	const struct snap *snap, const struct snap_cell *cell, uint64_t j)
{
	uint64_t value = cell->fields[j];
	struct snap_header_address header;
	struct hg_field field = {.index = j, .value = (int64_t)value, .node = HG_NO_NODE};
	bool is_code = j < snap_first_value(snap, cell);
	if (cell->tag == SNAP_TAG_CLOSURE && snap_is_infix_header(value, j, snap->reserved)) {
		field.kind = HG_VALUE_RAW;
		return field;
	}
	if (is_code) {
		bool is_address = !(value & 1) && snap_resolve(snap, value, &header) == SNAP_CODE;
		field.kind = is_address ? HG_VALUE_CODE : HG_VALUE_RAW;
		return field;
	}
	if (snap->has_continuations && cell->tag == SNAP_TAG_CONT && value != 1) {
		field.kind = HG_VALUE_RAW;
		return field;
	}
	if (value & 1) {
		field.kind = snap->integers_recorded ? HG_VALUE_INT : HG_VALUE_SOME_INT;
		field.value = (int64_t)value >> 1;
		return field;
	}
	static const enum hg_value_kind kinds[SNAP_OUTCOMES] = {[SNAP_BLOCK] = HG_VALUE_BLOCK,
		[SNAP_INFIX] = HG_VALUE_BLOCK,
		[SNAP_FORWARDED] = HG_VALUE_BLOCK,
		[SNAP_ATOM] = HG_VALUE_ATOM,
		[SNAP_CODE] = HG_VALUE_CODE,
		[SNAP_OUTSIDE] = HG_VALUE_OUTSIDE,
		[SNAP_DANGLING] = HG_VALUE_DANGLING};
	field.kind = kinds[snap_resolve(snap, value, &header)];
	if (field.kind == HG_VALUE_BLOCK)
		field.node = snap_resolve_node(snap, value);
	return field;
}

static enum hg_status read_object_fields(struct hg_snapshot *snapshot, const struct snap_cell *cell,
	uint64_t most, struct hg_object *out)
{
	uint64_t count = cell->field_count;
	out->fields_recorded = snap_tag_has_fields(cell->tag) && !snapshot->snap.no_fields;
	if (most && count > most)
		count = most;
	struct hg_field *fields;
	BASE_TRY(query_alloc(snapshot, count, sizeof(*fields), (void **)&fields));
	for (uint64_t j = 0; j < count; j++)
		fields[out->fields_count++] = read_object_field(&snapshot->snap, cell, j);
	return query_keep_rows(snapshot, out, fields, count, sizeof(*fields), &out->fields);
}

/* Moves the look-up on: the cell of the block is not used after it. */
static void type_fields(struct hg_snapshot *snapshot, hg_node node, struct hg_object *out)
{
	struct query_shape shape;
	if (!query_read_shape(snapshot, node, RETYPE_NOTHING, &shape))
		return;
	for (size_t j = 0; j < out->fields_count; j++) {
		struct hg_field *field = out->fields[j];
		struct hg_block target = {0};
		if (field->node != HG_NO_NODE)
			query_block(snapshot, field->node, &target);
		field->type = target.type ? target.type : query_field(&shape, j).type.n;
	}
}

static enum hg_status read_object_links(
	struct hg_snapshot *snapshot, hg_node node, struct hg_object *out)
{
	const struct snap *snap = &snapshot->snap;
	uint64_t first, end;
	snap_links(snap, node, &first, &end);
	BASE_TRY(query_alloc(snapshot, end - first, sizeof(*out->holds), (void **)&out->holds));
	query_keep(out, out->holds);
	for (; first < end; first++)
		out->holds[out->holds_count++] = snap->links[first].to;
	return HG_OK;
}

static void read_object_content(struct hg_snapshot *snapshot, uint32_t rank, struct hg_object *out)
{
	out->content_size = query_content(snapshot, rank, out->block->tag, out->block->words,
		&out->content, &out->content_cut);
}

struct referrers {
	struct hg_snapshot *snapshot;
	struct hg_object *out;
	hg_node target;
	uint64_t most, capacity;
	struct hg_referrer *rows;
};

static enum hg_status add_referrer(struct referrers *r, hg_node node, uint64_t field)
{
	struct hg_object *out = r->out;
	out->referrers_total++;
	if (r->most && out->referrers_count >= r->most)
		return HG_OK;
	BASE_TRY(query_grow(
		r->snapshot, &r->rows, out->referrers_count, &r->capacity, sizeof(*r->rows)));
	r->rows[out->referrers_count++] = (struct hg_referrer){node, field};
	return HG_OK;
}

/* Words that lead to the block lie within it: only those are looked at closely. */
static enum hg_status scan_cell(struct referrers *r, uint32_t rank, const struct snap_cell *cell)
{
	const struct hg_block *block = r->out->block;
	for (uint64_t j = 0; j < cell->field_count; j++) {
		uint64_t value = cell->fields[j];
		if (value - block->address >= 8 * block->words)
			continue;
		if (snap_resolve_node(&r->snapshot->snap, value) == r->target)
			return add_referrer(r, rank, j);
	}
	return HG_OK;
}

static enum hg_status find_referrers(struct referrers *r)
{
	struct snap *snap = &r->snapshot->snap;
	struct query_walk walk;
	struct snap_cell cell;
	uint32_t rank;
	enum hg_status status = HG_OK;
	BASE_TRY(query_walk_open(&walk, r->snapshot));
	while (status == HG_OK && query_walk_next(&walk, &rank, &cell))
		status = scan_cell(r, rank, &cell);
	query_walk_close(&walk);
	for (uint64_t i = 0; i < snap->link_count && status == HG_OK; i++)
		if (snap->links[i].to == r->target)
			status = add_referrer(r, snap->links[i].from, HG_UNKNOWN);
	for (uint64_t i = 0; i < snap->root_count && status == HG_OK; i++)
		if (snap_resolve_node(snap, snap->roots[i].value) == r->target)
			status = add_referrer(r, snap_root_node(snap, i), HG_UNKNOWN);
	return status;
}

/* The chain of dominators, iteratively: it may be millions long. */
static enum hg_status list_dominators(struct hg_snapshot *snapshot, struct hg_object *out)
{
	const struct graph *g = &snapshot->graph;
	struct graph_position position = query_position(snapshot, out->block->node);
	size_t count = 0;
	if (!graph_reaches(position))
		return HG_OK;
	for (struct graph_position p = position; p.n != 0; p = g->idom[p.n]) {
		/* A dominator comes before what it dominates, and its subtree has it. */
		base_assert(g->idom[p.n].n < p.n);
		base_assert(p.n < g->idom[p.n].n + g->extent[g->idom[p.n].n]);
		count++;
	}
	BASE_TRY(query_alloc(snapshot, count, sizeof(*out->dominators), (void **)&out->dominators));
	query_keep(out, out->dominators);
	for (struct graph_position p = position; p.n != 0; p = g->idom[p.n])
		out->dominators[out->dominators_count++] = query_node(snapshot, g->idom[p.n]);
	base_assert(count == 0 || out->dominators[count - 1] == snap_virtual_root(&snapshot->snap));
	return HG_OK;
}

static enum hg_status describe_whole(struct hg_snapshot *snapshot, hg_node node,
	uint64_t max_fields, uint64_t max_referrers, struct hg_object *out)
{
	struct snap_cell cell;
	struct referrers r = {
		.snapshot = snapshot, .out = out, .target = node, .most = max_referrers};
	BASE_TRY(query_alloc(snapshot, 1, sizeof(*out->block), (void **)&out->block));
	query_keep(out, out->block);
	query_block(snapshot, node, out->block);
	if (!snap_block(&snapshot->lookup, (struct snap_rank){node}, &cell))
		return base_corrupt(
			&snapshot->session->error, HG_NO_OFFSET, "changed while it was read");
	BASE_TRY(read_object_fields(snapshot, &cell, max_fields, out));
	type_fields(snapshot, node, out);
	read_object_content(snapshot, node, out);
	BASE_TRY(read_object_links(snapshot, node, out));
	enum hg_status status = find_referrers(&r);
	if (status != HG_OK) {
		free(r.rows);
		return status;
	}
	base_assert(out->referrers_count <= out->referrers_total);
	base_assert(!max_referrers || out->referrers_count <= max_referrers);
	BASE_TRY(query_keep_rows(
		snapshot, out, r.rows, out->referrers_count, sizeof(*r.rows), &out->referrers));
	return list_dominators(snapshot, out);
}

enum hg_status hg_describe_object(struct hg_snapshot *snapshot, hg_node node, uint64_t max_fields,
	uint64_t max_referrers, struct hg_object **out)
{
	BASE_TRY(query_answer(snapshot, sizeof(**out), out));
	enum hg_status status = graph_nodes(&snapshot->graph, &snapshot->session->error);
	if (status == HG_OK && node >= snapshot->snap.block_count)
		status = base_fail(&snapshot->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"node %u is not a block", node);
	if (status == HG_OK)
		status = describe_whole(snapshot, node, max_fields, max_referrers, *out);
	if (status != HG_OK)
		query_free(out);
	return status;
}

void hg_object_release(struct hg_object **object)
{
	query_free(object);
}
