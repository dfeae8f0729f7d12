/* What Gc.Memprof's own roots hold, then the garbage of its callbacks by what it looks like. */
#include "query/shared/memprof.h"
#include "query/shared/walk.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

enum {
	MOST_FIELDS = 16,
	RECORD_FIELDS = 4
}; /* of Gc.Memprof.allocation, the last one is the call stack */

static bool has_no_type(const struct hg_snapshot *snapshot, uint32_t rank, unsigned tag)
{
	enum hg_confidence confidence;
	return retype_of(&snapshot->retype, rank, tag, &confidence).n == 0;
}

static bool is_untyped_record(
	const struct hg_snapshot *snapshot, uint32_t rank, const struct snap_cell *cell)
{
	return cell->tag == 0 && cell->field_count > 0 && has_no_type(snapshot, rank, cell->tag);
}

/* The block without a type that a value leads to. */
static bool find_untyped(
	struct hg_snapshot *snapshot, uint64_t value, uint32_t *rank, struct snap_cell *cell)
{
	*rank = value & 1 ? HG_NO_NODE : snap_resolve_node(&snapshot->snap, value);
	return *rank != HG_NO_NODE && *rank < snapshot->snap.block_count &&
	       snap_block(&snapshot->lookup, (struct snap_rank){*rank}, cell) &&
	       is_untyped_record(snapshot, *rank, cell);
}

/* Marks it if it is a call stack. */
static bool mark_call_stack(struct hg_snapshot *snapshot, uint64_t value)
{
	uint32_t rank;
	struct snap_cell cell;
	if (!find_untyped(snapshot, value, &rank, &cell) ||
		!snap_process_is_call_stack(&snapshot->snap, &cell, true))
		return false;
	base_bit_set(snapshot->memprof_own, rank);
	return true;
}

/* Whether a block is what a callback was given, which ends with the call stack, or has returned:
 * Some of it. */
static bool hands_over(const struct hg_snapshot *snapshot, const struct snap_cell *cell)
{
	uint64_t last = cell->field_count - 1;
	if (cell->field_count != 1 && cell->field_count != RECORD_FIELDS)
		return false;
	for (uint64_t i = 0; i < last; i++)
		if (!(cell->fields[i] & 1))
			return false;
	uint32_t rank = cell->fields[last] & 1
				? HG_NO_NODE
				: snap_resolve_node(&snapshot->snap, cell->fields[last]);
	return rank != HG_NO_NODE && rank < snapshot->snap.block_count &&
	       query_is_memprof_own(snapshot, rank);
}

/*
 * The value of a root of Gc.Memprof: a profile, or what a callback has returned, which may be what
 * it was given, or a value of the program with the call stack in it.
 */
static void mark_root(struct hg_snapshot *snapshot, const struct snap_root *root)
{
	uint32_t rank;
	uint64_t fields[MOST_FIELDS];
	struct snap_cell cell;
	if (mark_call_stack(snapshot, root->value) ||
		!find_untyped(snapshot, root->value, &rank, &cell))
		return;
	uint64_t count = cell.field_count < MOST_FIELDS ? cell.field_count : MOST_FIELDS;
	memcpy(fields, cell.fields, count * sizeof(*fields));
	for (uint64_t i = 0; i < count; i++)
		mark_call_stack(snapshot, fields[i]);
	if (strcmp(root->name, SNAP_NAME_OF_PROFILE) == 0 ||
		(find_untyped(snapshot, root->value, &rank, &cell) && hands_over(snapshot, &cell)))
		base_bit_set(snapshot->memprof_own, rank);
}

/* Blocks that nothing holds any more. */
static enum hg_status mark_garbage(struct hg_snapshot *snapshot,
	bool (*is_own)(const struct hg_snapshot *snapshot, const struct snap_cell *cell))
{
	struct query_walk walk;
	struct snap_cell cell;
	uint32_t rank;
	BASE_TRY(query_walk_open(&walk, snapshot));
	while (query_walk_next(&walk, &rank, &cell))
		if (!graph_reaches(snapshot->graph.position[rank]) &&
			is_untyped_record(snapshot, rank, &cell) && is_own(snapshot, &cell))
			base_bit_set(snapshot->memprof_own, rank);
	query_walk_close(&walk);
	return HG_OK;
}

static bool is_call_stack(const struct hg_snapshot *snapshot, const struct snap_cell *cell)
{
	return snap_process_is_call_stack(&snapshot->snap, cell, false);
}

static bool any_own(const struct hg_snapshot *snapshot)
{
	for (uint64_t i = 0; i < base_bit_words(snapshot->snap.block_count); i++)
		if (snapshot->memprof_own[i])
			return true;
	return false;
}

static enum hg_status mark_own(struct hg_snapshot *snapshot)
{
	const struct snap *snap = &snapshot->snap;
	for (uint64_t i = 0; i < snap->root_count; i++)
		if (snap->roots[i].kind == HG_ROOT_MEMPROF)
			mark_root(snapshot, &snap->roots[i]);
	BASE_TRY(mark_garbage(snapshot, is_call_stack));
	return any_own(snapshot) ? mark_garbage(snapshot, hands_over) : HG_OK;
}

/* The name of all of them, which is no type of OCaml. */
static enum hg_status name_own(struct hg_snapshot *snapshot)
{
	struct retype_types *types = &snapshot->retype.types;
	uint32_t number = retype_declare(types, &(struct retype_declaration){
							.name = QUERY_MEMPROF_TYPE,
							.form = RETYPE_ABSTRACT,
							.origin = RETYPE_NONE,
							.inner = RETYPE_NOTHING,
						});
	if (number != RETYPE_NONE)
		snapshot->memprof_type = retype_constructed(types, number, NULL, 0);
	return types->status;
}

enum hg_status query_find_memprof(struct hg_snapshot *snapshot)
{
	const struct snap *snap = &snapshot->snap;
	if (!snap->process || snap->tracked_count == 0 || snap->tracked_count == HG_UNKNOWN)
		return HG_OK;
	uint64_t words = base_bit_words(snap->block_count);
	snapshot->memprof_own = calloc(words + 1, sizeof(*snapshot->memprof_own));
	if (!snapshot->memprof_own)
		return base_no_memory(&snapshot->session->error, 8 * words);
	BASE_TRY(mark_own(snapshot));
	if (any_own(snapshot))
		return name_own(snapshot);
	free(snapshot->memprof_own);
	snapshot->memprof_own = NULL;
	return HG_OK;
}
