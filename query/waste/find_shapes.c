/*
 * Room that is not used, and blocks that another representation would not need: one pass over the
 * blocks in order of addresses, with a bit per block for what was counted.
 */
#include "query/waste/find.h"

#include "base/assert.h"
#include "base/bits.h"

#include <stdlib.h>
#include <string.h>

enum { SECTIONS_BY_TYPE = 4 }; /* numbers, options, boxes, unreachable */

struct shapes {
	struct waste *waste;
	struct hg_snapshot *snapshot;
	struct hg_waste_row *by_type[SECTIONS_BY_TYPE]; /* from HG_WASTE_NUMBERS on */
	uint64_t *counted;                              /* boxed numbers, and bindings of tables */
	uint32_t types;
	struct snap_walk arrays; /* for blocks whose fields are read while others are looked up */
};

static uint64_t bytes_of_block(const struct shapes *s, uint32_t rank)
{
	const struct graph *g = &s->snapshot->graph;
	return graph_shallow(g, g->position[rank]);
}

static struct hg_waste_row *row_of_type(
	struct shapes *s, enum hg_waste_section section, uint32_t type, uint32_t rank)
{
	struct hg_waste_row *row =
		&s->by_type[section - HG_WASTE_NUMBERS][waste_type(s->waste, type)];
	if (!row->blocks)
		row->example = rank;
	return row;
}

static void count_box(struct shapes *s, enum hg_waste_section section, uint32_t type, uint32_t rank,
	uint64_t bytes, bool of_integer)
{
	struct hg_waste_row *row = row_of_type(s, section, type, rank);
	row->blocks++;
	row->bytes += bytes;
	row->saved_bytes += bytes;
	row->used += of_integer;
}

/* The block that a word leads to, if it is one that is reachable; HG_NO_NODE. */
static uint32_t block_of_word(const struct shapes *s, uint64_t word)
{
	uint32_t rank = word & 1 ? HG_NO_NODE : snap_resolve_node(&s->snapshot->snap, word);
	bool reachable = rank != HG_NO_NODE && graph_reaches(s->snapshot->graph.position[rank]);
	return reachable ? rank : HG_NO_NODE;
}

/* The word in the field of that name; 1 if there is none. */
static uint64_t word_of_field(struct shapes *s, const struct query_shape *shape, const char *name)
{
	if (shape->fit.match != RETYPE_FIELDS)
		return 1;
	for (uint32_t i = 0; i < shape->fit.field_count && i < shape->field_count; i++)
		if (strcmp(shape->fit.fields[i].name, name) == 0)
			return query_word(s->snapshot, shape->rank, i);
	return 1;
}

static bool has_field(const struct query_shape *shape, const char *name)
{
	for (uint32_t i = 0; i < shape->fit.field_count; i++)
		if (strcmp(shape->fit.fields[i].name, name) == 0)
			return true;
	return false;
}

/* Hash tables: Hashtbl.t and what its functors make of it */

/* Bindings in a bucket: cells of key, value and next one.  Each is counted once. */
static uint64_t length_of_bucket(struct shapes *s, uint64_t word)
{
	enum { NEXT = 2 };
	uint64_t length = 0;
	uint32_t cell = block_of_word(s, word);
	while (cell != HG_NO_NODE && !base_bit(s->counted, cell)) {
		base_bit_set(s->counted, cell);
		length++;
		cell = block_of_word(s, query_word(s->snapshot, cell, NEXT));
	}
	return length;
}

static enum hg_status look_at_table(struct shapes *s, const struct query_shape *shape)
{
	uint32_t data = block_of_word(s, word_of_field(s, shape, "data"));
	struct snap_cell cell;
	if (data == HG_NO_NODE || !snap_block(&s->arrays, (struct snap_rank){data}, &cell) ||
		cell.tag != 0)
		return HG_OK;
	struct hg_waste_row row = {.section = HG_WASTE_TABLES,
		.type = shape->type.n,
		.example = shape->rank,
		.bytes = bytes_of_block(s, data),
		.room = cell.field_count};
	for (uint64_t i = 0; i < row.room; i++) {
		uint64_t length = length_of_bucket(s, cell.fields[i]);
		row.blocks += length;
		row.used += length != 0;
		row.longest = length > row.longest ? length : row.longest;
	}
	row.saved_bytes = 8 * (row.room - row.used);
	return waste_add(s->waste, &row);
}

/* Buffers and arrays that grow */

static enum hg_status look_at_buffer(struct shapes *s, const struct query_shape *shape)
{
	struct query_shape inner;
	uint64_t position = word_of_field(s, shape, "position");
	uint32_t holder = block_of_word(s, word_of_field(s, shape, "inner"));
	/* The buffer is in a record of its own since 5.2. */
	bool nested = holder != HG_NO_NODE &&
		      query_read_shape(s->snapshot, holder, RETYPE_NOTHING, &inner);
	uint32_t bytes = block_of_word(s, word_of_field(s, nested ? &inner : shape, "buffer"));
	struct snap_cell cell;
	if (bytes == HG_NO_NODE || waste_is_static(s->snapshot, bytes) ||
		!snap_block(&s->snapshot->lookup, (struct snap_rank){bytes}, &cell) ||
		cell.tag != SNAP_TAG_STRING || !(position & 1) || position >> 1 >= 8 * cell.wosize)
		return HG_OK;
	/* A string has at least one byte of padding. */
	uint64_t used = position >> 1, words = used / 8 + 1;
	return waste_add(s->waste, &(struct hg_waste_row){.section = HG_WASTE_TAILS,
					   .type = shape->type.n,
					   .example = shape->rank,
					   .blocks = 1,
					   .bytes = bytes_of_block(s, bytes),
					   .room = 8 * cell.wosize - 1,
					   .used = used,
					   .saved_bytes = 8 * (cell.wosize - words)});
}

static enum hg_status look_at_dynarray(struct shapes *s, const struct query_shape *shape)
{
	uint64_t length = word_of_field(s, shape, "length");
	uint32_t array = block_of_word(s, word_of_field(s, shape, "arr"));
	struct snap_cell cell;
	if (array == HG_NO_NODE || !(length & 1) ||
		!snap_block(&s->snapshot->lookup, (struct snap_rank){array}, &cell) ||
		cell.tag != 0 || length >> 1 > cell.wosize)
		return HG_OK;
	return waste_add(s->waste, &(struct hg_waste_row){.section = HG_WASTE_TAILS,
					   .type = shape->type.n,
					   .example = shape->rank,
					   .blocks = 1,
					   .bytes = bytes_of_block(s, array),
					   .room = cell.wosize,
					   .used = length >> 1,
					   .saved_bytes = 8 * (cell.wosize - (length >> 1))});
}

/* Boxes */

static bool is_number(const struct shapes *s, struct retype_term type)
{
	static const char *const numbers[] = {"float", "int32", "int64", "nativeint"};
	const struct retype_declaration *declaration =
		type.n ? waste_declaration(s->snapshot, type) : NULL;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (declaration && declaration->base && !strcmp(declaration->base, numbers[i]))
			return true;
	return false;
}

/* Numbers in fields [0, count) of an array or the cell of a list. */
static void look_at_numbers(struct shapes *s, const struct query_shape *shape, uint64_t count)
{
	struct snap_cell cell;
	if (!snap_block(&s->arrays, (struct snap_rank){shape->rank}, &cell))
		return;
	for (uint64_t i = 0; i < count && i < cell.field_count; i++) {
		uint32_t box = block_of_word(s, cell.fields[i]);
		if (box == HG_NO_NODE || base_bit(s->counted, box) ||
			waste_is_static(s->snapshot, box))
			continue;
		base_bit_set(s->counted, box);
		count_box(s, HG_WASTE_NUMBERS, shape->type.n, shape->rank, bytes_of_block(s, box),
			false);
	}
}

/* Whether [@unboxed] could stand at the declaration: one constructor, or record, of one field. */
static bool could_be_unboxed(const struct retype_declaration *declaration)
{
	if (!declaration || declaration->form == RETYPE_ABSTRACT)
		return false;
	if (declaration->form == RETYPE_RECORD)
		return declaration->field_count == 1 &&
		       declaration->fields[0].mutability == RETYPE_IMMUTABLE;
	const struct retype_constructor *only = declaration->constructors;
	return declaration->form == RETYPE_VARIANT && declaration->constructor_count == 1 &&
	       !only->is_constant && only->field_count == 1 &&
	       only->fields[0].mutability == RETYPE_IMMUTABLE;
}

static void look_at_box(struct shapes *s, const struct query_shape *shape)
{
	const struct retype_declaration *declaration = waste_declaration(s->snapshot, shape->type);
	if (shape->wosize != 1 || !declaration || waste_is_static(s->snapshot, shape->rank))
		return;
	bool is_option = strcmp(declaration->name, "option") == 0 &&
			 strcmp(shape->fit.constructor, "Some") == 0;
	if (is_option || could_be_unboxed(declaration))
		count_box(s, is_option ? HG_WASTE_OPTIONS : HG_WASTE_BOXES, shape->type.n,
			shape->rank, bytes_of_block(s, shape->rank),
			query_word(s->snapshot, shape->rank, 0) & 1);
}

static enum hg_status look_at_block(struct shapes *s, const struct query_shape *shape)
{
	if (shape->fit.match == RETYPE_ELEMENTS && is_number(s, shape->fit.inner))
		look_at_numbers(s, shape, shape->field_count);
	if (shape->fit.match != RETYPE_FIELDS)
		return HG_OK;
	if (query_is_list(shape) && is_number(s, shape->fit.fields[0].type))
		look_at_numbers(s, shape, 1);
	look_at_box(s, shape);
	const struct retype_declaration *declaration = waste_declaration(s->snapshot, shape->type);
	if (has_field(shape, "initial_size") && has_field(shape, "seed") &&
		has_field(shape, "data") && has_field(shape, "size"))
		return look_at_table(s, shape);
	if (!declaration || !s->snapshot->snap.integers_recorded)
		return HG_OK;
	if (strcmp(declaration->name, "Buffer.t") == 0)
		return look_at_buffer(s, shape);
	if (strcmp(declaration->name, "Dynarray.t") == 0)
		return look_at_dynarray(s, shape);
	return HG_OK;
}

static enum hg_status look_at_all(struct shapes *s)
{
	const struct snap *snap = &s->snapshot->snap;
	for (uint32_t rank = 0; rank < snap->block_count; rank++) {
		struct query_shape shape;
		if (!query_read_shape(s->snapshot, rank, RETYPE_NOTHING, &shape))
			break;
		if (graph_reaches(s->snapshot->graph.position[rank]))
			BASE_TRY(look_at_block(s, &shape));
		else
			count_box(s, HG_WASTE_UNREACHABLE, shape.type.n, rank,
				snap_block_bytes(shape.wosize), false);
	}
	return HG_OK;
}

static enum hg_status add_rows_by_type(struct shapes *s)
{
	for (unsigned i = 0; i < SECTIONS_BY_TYPE; i++) {
		for (uint32_t type = 0; type < s->types; type++) {
			struct hg_waste_row *row = &s->by_type[i][type];
			row->section = HG_WASTE_NUMBERS + i;
			row->type = type;
			if (row->section != HG_WASTE_OPTIONS)
				row->used = 0;
			BASE_TRY(waste_add(s->waste, row));
		}
	}
	return HG_OK;
}

enum hg_status waste_find_shapes(struct waste *waste)
{
	struct hg_snapshot *snapshot = waste->snapshot;
	struct shapes s = {.waste = waste,
		.snapshot = snapshot,
		.types = retype_term_count(&snapshot->retype.types) + 1};
	struct hg_error *error = &snapshot->session->error;
	BASE_TRY(base_progress(snapshot->session, "looking at room and boxes", 0, 0));
	BASE_TRY(snap_walk_init(&s.arrays, &snapshot->snap, error));
	enum hg_status status =
		base_arena_zalloc(&waste->arena, base_bit_words(snapshot->snap.block_count) + 1,
			sizeof(*s.counted), (void **)&s.counted, error);
	for (unsigned i = 0; i < SECTIONS_BY_TYPE && status == HG_OK; i++)
		status = query_alloc(
			snapshot, s.types, sizeof(*s.by_type[i]), (void **)&s.by_type[i]);
	if (status == HG_OK)
		status = look_at_all(&s);
	if (status == HG_OK)
		status = add_rows_by_type(&s);
	snap_walk_release(&s.arrays);
	for (unsigned i = 0; i < SECTIONS_BY_TYPE; i++)
		free(s.by_type[i]);
	return status;
}
