/*
 * Root slots by what they retain, each with the block that it points to.  A slot without one holds
 * an integer, a pointer out of the heap, or is a stack with several blocks; its cells are empty.
 */
#include "report/report.h"

#include "report/common.h"

#include <stdlib.h>
#include <string.h>

static const struct rep_column measures[] = {
	{"address", "points to", REP_ADDRESS, 0},
	{"type", "type", REP_NAME, REP_LAST | REP_HEAD},
	{"location", "location", REP_NAME, REP_LAST},
	{"targets", NULL, REP_COUNT, 0},
	{"bytes", "bytes", REP_BYTES, 0},
	{"retained_bytes", "retained", REP_BYTES, 0},
	{"retained_share", "  share", REP_SHARE, REP_NOT_CSV},
	{"reachable", NULL, REP_NUMBER, 0},
	{"confidence", NULL, REP_WORD, 0},
	{"offheap_bytes", NULL, REP_BYTES, 0},
	{"retained_offheap_bytes", NULL, REP_BYTES, 0},
};
enum { MEASURES = sizeof(measures) / sizeof(measures[0]) };

/* What the report is made of, before its first byte is written. */
struct roots_answer {
	const struct hg_totals *totals;
	struct hg_root_slots *slots;
	struct rep_ranked *ranked;
	bool has_types, has_locations, has_offheap;
};

static uint64_t amount_of_slot(
	const struct rep_context *context, const struct hg_root_slot *slot, enum rep_sort sort)
{
	switch (sort) {
	case REP_SORT_BYTES:
		return slot->bytes;
	case REP_SORT_RETAINED:
		return slot->retained_bytes;
	case REP_SORT_OFFHEAP:
		return slot->offheap_bytes;
	case REP_SORT_RETAINED_OFFHEAP:
		return slot->retained_offheap_bytes;
	default:
		return rep_weigh(context, slot->retained_bytes, slot->retained_offheap_bytes);
	}
}

static enum hg_status rank_root_slots(
	struct rep_context *context, struct roots_answer *answer, enum rep_sort sort)
{
	size_t count = answer->slots->count;
	answer->ranked = calloc(count ? count : 1, sizeof(*answer->ranked));
	if (!answer->ranked)
		return rep_no_memory(context);
	for (size_t i = 0; i < count; i++) {
		const struct hg_root_slot *slot = answer->slots->rows[i];
		struct rep_ranked *row = &answer->ranked[i];
		row->position = i;
		if (sort == REP_SORT_NAME)
			row->name = rep_sort_name(context->snapshot, HG_BY_ROOT, slot->node);
		else
			row->amount = amount_of_slot(context, slot, sort);
		if (sort == REP_SORT_NAME && !row->name)
			return rep_no_memory(context);
	}
	/* The library's order breaks ties: that of the file. */
	rep_rank(answer->ranked, count);
	return HG_OK;
}

/* In text: why there is no type, where that is not plain to see. */
static const char *absent_type(const struct roots_answer *answer, const struct hg_root_slot *slot)
{
	if (slot->target == HG_NO_NODE)
		return slot->targets ? "(the blocks of a stack)" : "(no block)";
	return answer->has_types ? "unknown" : "";
}

static void root_type_cell(struct rep_context *context, const struct roots_answer *answer,
	const struct hg_root_slot *slot, const struct hg_block *block)
{
	struct rep_text type = {0};
	rep_name_type(&type, context->snapshot, block->type);
	if (context->emitter->writer->for_people && block->type_confidence == HG_GUESSED)
		rep_text_put(&type, REP_GUESS_MARK);
	rep_cell_labelled(context->emitter, rep_text_string(&type),
		block->type ? rep_text_string(&type) : absent_type(answer, slot));
	context->emitter->failed |= type.failed;
	rep_text_release(&type);
}

static void write_root_slot(struct rep_context *context, const struct roots_answer *answer,
	const struct hg_root_slot *slot)
{
	struct rep_emitter *emitter = context->emitter;
	struct hg_block block = {.node = HG_NO_NODE};
	if (slot->target != HG_NO_NODE)
		block = *hg_describe_block(context->snapshot, slot->target);
	rep_class_cells(emitter, context->snapshot, HG_BY_ROOT, slot->node, HG_EXACT);
	rep_cell_known(emitter, slot->target == HG_NO_NODE ? HG_UNKNOWN : block.address);
	root_type_cell(context, answer, slot, &block);
	rep_cell_location(context, block.location);
	rep_cell_number(emitter, slot->targets);
	rep_cell_number(emitter, slot->bytes);
	rep_cell_number(emitter, slot->retained_bytes);
	rep_cell_share(emitter,
		rep_weigh(context, slot->retained_bytes, slot->retained_offheap_bytes),
		rep_weigh_all(context, answer->totals));
	rep_cell_number(emitter, slot->reachable);
	rep_cell_string(emitter, hg_confidence_name(block.type_confidence));
	rep_cell_number(emitter, slot->offheap_bytes);
	rep_cell_number(emitter, slot->retained_offheap_bytes);
	rep_row_end(emitter);
}

static void write_roots_head(
	struct rep_context *context, const struct roots_answer *answer, const char *type)
{
	struct rep_emitter *emitter = context->emitter;
	struct rep_text line = {0}, escaped = {0};
	rep_prose(emitter, REP_BOLD, "Roots by what they alone keep");
	if (type)
		rep_prose(emitter, REP_BOLD, ", that point to types that match '%s'",
			rep_escaped(&escaped, type));
	if (type) {
		rep_text_count(&line, answer->slots->count);
		rep_text_put(&line, " of ");
	}
	rep_name_amount(&line, answer->totals->roots, "root", "roots");
	rep_text_put(&line, ", ");
	rep_text_count(&line, answer->slots->with_target);
	rep_text_put(&line, answer->slots->with_target == 1 ? " of which points to a block"
							    : " of which point to a block");
	rep_prose(emitter, REP_PLAIN, ": %s\n", rep_text_string(&line));
	rep_text_clear(&line);
	if (answer->has_types && !type) {
		rep_coverage(&line, answer->totals);
		rep_prose(emitter, REP_PLAIN, "types: %s\n", rep_text_string(&line));
	}
	rep_value_number(emitter, "roots", NULL, REP_COUNT, answer->totals->roots);
	rep_value_number(emitter, "rows_total", NULL, REP_COUNT, answer->slots->count);
	rep_value_number(emitter, "with_target", NULL, REP_COUNT, answer->slots->with_target);
	rep_text_release(&line);
	rep_text_release(&escaped);
}

/* People see the columns that something is known for. */
static unsigned fill_roots_columns(const struct roots_answer *answer, struct rep_column *columns)
{
	unsigned first = rep_key_columns(HG_BY_ROOT, columns);
	memcpy(columns + first, measures, sizeof(measures));
	if (!answer->has_locations)
		columns[first + 2].title = NULL;
	columns[first + MEASURES - 2] = rep_offheap_column(false);
	columns[first + MEASURES - 1] = rep_retained_offheap_column(answer->has_offheap);
	return first + MEASURES;
}

static void write_roots(struct rep_context *context, const struct roots_answer *answer,
	const char *type, uint64_t limit)
{
	struct rep_emitter *emitter = context->emitter;
	struct rep_column columns[REP_KEY_COLUMNS + MEASURES];
	size_t count = answer->slots->count;
	size_t shown = limit && limit < count ? (size_t)limit : count;
	bool any_shared = false;
	rep_begin(context, "roots");
	write_roots_head(context, answer, type);
	rep_table_begin(emitter, "rows", columns, fill_roots_columns(answer, columns));
	for (size_t i = 0; i < shown && !rep_emitter_broken(emitter); i++) {
		const struct hg_root_slot *slot = answer->slots->rows[answer->ranked[i].position];
		write_root_slot(context, answer, slot);
		any_shared |= slot->reachable && slot->targets && !slot->retained_bytes &&
			      !slot->retained_offheap_bytes;
	}
	rep_table_end(emitter);
	if (any_shared)
		rep_prose(emitter, REP_PLAIN,
			"  0 B are retained where another root leads to the same block, too\n");
	rep_more_rows(emitter, count - shown, "roots", "--limit 0");
	rep_document_end(emitter);
}

enum hg_status rep_roots(
	struct rep_context *context, const char *type, enum rep_sort sort, uint64_t limit)
{
	struct roots_answer answer = {.has_types = hg_has_types(context->snapshot)};
	enum hg_status status = hg_count_totals(context->snapshot, &answer.totals);
	if (status == HG_OK)
		status = hg_list_root_slots(context->snapshot, type, &answer.slots);
	if (status != HG_OK)
		return rep_library_failed(context, status);
	answer.has_offheap = rep_has_offheap(context->snapshot);
	answer.has_locations = answer.totals->located_blocks != 0;
	status = rank_root_slots(context, &answer, sort);
	if (status == HG_OK)
		write_roots(context, &answer, type, limit);
	rep_ranked_free(answer.ranked, answer.slots->count);
	hg_root_slots_release(&answer.slots);
	return status;
}
