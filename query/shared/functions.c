/* From closures to their code. */
#include "query/shared/functions.h"

#include "query/shared/types.h"
#include "snapshot/process.h"

#include <stdio.h>

enum { MOST_PARTIAL = 64 };

/* The block that a field leads to. */
static uint32_t rank_in_field(struct hg_snapshot *snapshot, uint32_t rank, uint64_t field)
{
	uint64_t word = query_word(snapshot, rank, field);
	return word & 1 ? HG_NO_NODE : snap_resolve_node(&snapshot->snap, word);
}

/*
 * A partial application "caml_curry3_1" holds its last argument and, behind it, the closure that it
 * was made of: the function, or a partial application with one argument less.
 */
static bool is_partial_application(const struct hg_snapshot *snapshot, uint64_t code)
{
	struct snap_code_symbol symbol;
	unsigned arity, arguments;
	return snap_process_code_symbol(&snapshot->snap, code, &symbol) &&
	       sscanf(symbol.name, "caml_curry%u_%u", &arity, &arguments) == 2;
}

uint32_t query_function_rank(struct hg_snapshot *snapshot, uint32_t rank)
{
	struct snap_cell cell;
	uint32_t found = HG_NO_NODE;
	for (unsigned i = 0; i < MOST_PARTIAL && rank != HG_NO_NODE; i++) {
		if (!snap_block(&snapshot->lookup, (struct snap_rank){rank}, &cell) ||
			cell.tag != SNAP_TAG_CLOSURE || cell.field_count < 2)
			break;
		uint64_t last = cell.field_count - 1;
		found = rank;
		if (!is_partial_application(snapshot, query_code(snapshot, rank, 0)))
			break;
		rank = rank_in_field(snapshot, rank, last);
	}
	return found;
}

uint64_t query_function_code(struct hg_snapshot *snapshot, uint32_t rank)
{
	rank = query_function_rank(snapshot, rank);
	return rank == HG_NO_NODE ? 0 : query_code(snapshot, rank, 0);
}
