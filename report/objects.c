/*
 * One row for every block, in order of addresses as the library walks them, or by a column; then
 * the nodes are ranked first, with a limit no more than twice as many as are shown.
 */
#include "report/report.h"

#include "report/common.h"

#include <stdlib.h>
#include <string.h>

static const struct rep_column columns[] = {
	{"address", "address", REP_ADDRESS, 0},
	{"tag", "tag", REP_NUMBER, 0},
	{"words", "words", REP_COUNT, 0},
	{"bytes", "bytes", REP_BYTES, 0},
	{"type", "type", REP_NAME, REP_LAST | REP_HEAD},
	{"location", "location", REP_NAME, REP_LAST},
	{"reachable", "reachable", REP_NUMBER, 0},
	{"retained_bytes", "retained", REP_BYTES, 0},
	{"idom", "dominator", REP_NAME, 0},
	{"segment", NULL, REP_WORD, 0},
	{"confidence", NULL, REP_WORD, 0},
	{"offheap_bytes", NULL, REP_BYTES, 0},
	{"root", NULL, REP_NAME, 0},
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

enum { ROOTS_KEPT = 64 };

/* Spelling is most of the work of this report, so texts and the last location are kept. */
struct objects_writer {
	struct rep_context *context;
	struct rep_text idom, location, type;
	struct rep_text roots[ROOTS_KEPT]; /* blocks of one root lie among those of others */
	hg_node last_roots[ROOTS_KEPT];
	uint32_t last_location, last_type;
	uint64_t blocks; /* in all: nodes from this number on are roots */
	struct rep_column columns[COLUMNS];
};

/* By its name, as the address of a block is had for less than the block. */
static void spell_idom(struct objects_writer *writer, hg_node idom)
{
	rep_text_clear(&writer->idom);
	if (idom == HG_NO_NODE)
		return;
	if (idom < writer->blocks)
		rep_name_node(&writer->idom, writer->context->snapshot, idom);
	else
		rep_text_put(&writer->idom, "root");
}

static void spell_location(struct objects_writer *writer, uint32_t location)
{
	if (location == writer->last_location)
		return;
	rep_text_clear(&writer->location);
	rep_name_location(&writer->location, writer->context->snapshot, location);
	writer->last_location = location;
}

static void spell_type(struct objects_writer *writer, const struct hg_block *block)
{
	bool unknown = !block->type && writer->context->emitter->writer->for_people &&
		       hg_has_types(writer->context->snapshot);
	if (block->type && block->type == writer->last_type)
		return;
	rep_text_clear(&writer->type);
	rep_name_type(&writer->type, writer->context->snapshot, block->type);
	if (unknown)
		rep_text_put(&writer->type, "unknown");
	writer->last_type = block->type;
}

static const char *spell_root(struct objects_writer *writer, hg_node root)
{
	unsigned place = root % ROOTS_KEPT;
	struct rep_text *text = &writer->roots[place];
	if (root == HG_NO_NODE || writer->context->emitter->writer->for_people)
		return "";
	if (!text->length || root != writer->last_roots[place]) {
		rep_text_clear(text);
		rep_name_node(text, writer->context->snapshot, root);
		writer->last_roots[place] = root;
	}
	return rep_text_string(text);
}

static void write_object_row(struct objects_writer *writer, const struct hg_block *block)
{
	struct rep_emitter *emitter = writer->context->emitter;
	spell_idom(writer, block->idom);
	spell_location(writer, block->location);
	spell_type(writer, block);
	rep_cell_number(emitter, block->address);
	rep_cell_number(emitter, block->tag);
	rep_cell_number(emitter, block->words);
	rep_cell_number(emitter, block->bytes);
	rep_cell_string(emitter, rep_text_string(&writer->type));
	rep_cell_string(emitter, rep_text_string(&writer->location));
	if (emitter->writer->for_people)
		rep_cell_string(emitter, block->reachable ? "yes" : "no");
	else
		rep_cell_number(emitter, block->reachable);
	rep_cell_number(emitter, block->retained_bytes);
	rep_cell_string(emitter, rep_text_string(&writer->idom));
	rep_cell_string(emitter, hg_segment_name(block->segment));
	rep_cell_string(emitter, hg_confidence_name(block->type_confidence));
	rep_cell_number(emitter, block->offheap_bytes);
	rep_cell_string(emitter, spell_root(writer, block->root));
	rep_row_end(emitter);
}

static uint64_t amount_of_block(const struct hg_block *block, enum rep_sort sort)
{
	switch (sort) {
	case REP_SORT_RETAINED:
		return block->retained_bytes;
	case REP_SORT_BYTES:
		return block->bytes;
	case REP_SORT_WORDS:
		return block->words;
	case REP_SORT_OFFHEAP:
		return block->offheap_bytes;
	case REP_SORT_TAG:
		return UINT64_MAX - block->tag; /* ascending */
	default:
		return 0;
	}
}

struct order {
	struct rep_ranked *rows;
	size_t count, capacity;
};

/*
 * With a limit only the best rows are kept: whenever twice as many came together, they are ranked
 * and the worse half is dropped.
 */
static bool add_to_order(struct order *order, struct rep_ranked row, uint64_t limit)
{
	if (limit && order->count / 2 >= limit) {
		rep_rank(order->rows, order->count);
		order->count = (size_t)limit;
	}
	if (order->count == order->capacity) {
		size_t capacity = order->capacity ? order->capacity * 2 : 1024;
		struct rep_ranked *rows = realloc(order->rows, capacity * sizeof(*rows));
		if (!rows)
			return false;
		order->rows = rows;
		order->capacity = capacity;
	}
	order->rows[order->count++] = row;
	return true;
}

static bool collect_order(
	struct hg_objects *objects, enum rep_sort sort, uint64_t limit, struct order *order)
{
	const struct hg_block *block;
	while ((block = hg_objects_next(objects))) {
		struct rep_ranked row = {
			.amount = amount_of_block(block, sort), .position = block->node};
		if (!add_to_order(order, row, limit))
			return false;
	}
	rep_rank(order->rows, order->count);
	if (limit && order->count > limit)
		order->count = (size_t)limit;
	return true;
}

static uint64_t write_sorted(struct objects_writer *writer, const struct order *order)
{
	struct rep_emitter *emitter = writer->context->emitter;
	for (size_t i = 0; i < order->count && !rep_emitter_broken(emitter); i++) {
		write_object_row(writer, hg_describe_block(writer->context->snapshot,
						 (hg_node)order->rows[i].position));
	}
	return order->count;
}

static uint64_t write_in_order(
	struct objects_writer *writer, struct hg_objects *objects, uint64_t limit)
{
	struct rep_emitter *emitter = writer->context->emitter;
	const struct hg_block *block;
	uint64_t shown = 0;
	while ((limit == 0 || shown < limit) && !rep_emitter_broken(emitter) &&
		(block = hg_objects_next(objects))) {
		write_object_row(writer, block);
		shown++;
	}
	return shown;
}

static void write_objects(struct objects_writer *writer, struct hg_objects *objects,
	const struct order *order, uint64_t limit)
{
	struct rep_emitter *emitter = writer->context->emitter;
	rep_begin(writer->context, "objects");
	rep_table_begin(emitter, "rows", writer->columns, COLUMNS);
	uint64_t shown =
		order ? write_sorted(writer, order) : write_in_order(writer, objects, limit);
	rep_table_end(emitter);
	rep_more_rows(emitter, writer->blocks - shown, "blocks", "--limit 0");
	rep_document_end(emitter);
}

enum hg_status rep_objects(struct rep_context *context, enum rep_sort sort, uint64_t limit)
{
	struct objects_writer writer = {.context = context};
	struct hg_objects *objects = NULL;
	struct order order = {0};
	const struct hg_totals *totals;
	bool by_address = sort == REP_SORT_DEFAULT || sort == REP_SORT_ADDRESS;
	enum hg_status status = hg_count_totals(context->snapshot, &totals);
	if (status == HG_OK)
		status = hg_objects_open(context->snapshot, &objects);
	if (status != HG_OK)
		return rep_library_failed(context, status);
	writer.blocks = totals->blocks;
	memcpy(writer.columns, columns, sizeof(columns));
	writer.columns[COLUMNS - 2] = rep_offheap_column(rep_has_offheap(context->snapshot));
	if (!by_address && !collect_order(objects, sort, limit, &order))
		status = rep_no_memory(context);
	else
		write_objects(&writer, objects, by_address ? NULL : &order, limit);
	context->emitter->failed |=
		writer.idom.failed || writer.location.failed || writer.type.failed;
	for (unsigned i = 0; i < ROOTS_KEPT; i++) {
		context->emitter->failed |= writer.roots[i].failed;
		rep_text_release(&writer.roots[i]);
	}
	hg_objects_close(objects);
	free(order.rows);
	rep_text_release(&writer.idom);
	rep_text_release(&writer.location);
	rep_text_release(&writer.type);
	return status;
}
