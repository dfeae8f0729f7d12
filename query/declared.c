/*
 * The table of types with what the heap has of each: a row for each declared type, whatever its
 * arguments, and for each other kind of type.  Numbers of rows: declarations, then layouts of
 * modules, then the kinds that have no declaration.
 */
#include "query/shared/result.h"
#include "query/shared/types.h"

#include "base/assert.h"
#include "snapshot/offheap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	TUPLES = 8, /* by size, from 2; the last one: all longer ones */
	OTHER_FUNCTION = TUPLES,
	OTHER_VARIANT,
	OTHER_OBJECT,
	OTHER_SEVERAL,
	OTHERS
};

static uint32_t first_layout(const struct hg_snapshot *snapshot)
{
	return snapshot->retype.types.declaration_count;
}

static uint32_t first_other(const struct hg_snapshot *snapshot)
{
	return first_layout(snapshot) + snapshot->retype.types.layout_count;
}

static uint32_t declared_row_of(const struct hg_snapshot *snapshot, struct retype_term type)
{
	struct retype_view view = retype_view_of(&snapshot->retype.types, type);
	uint32_t others = first_other(snapshot);
	base_assert(type.n < retype_term_count(&snapshot->retype.types));
	switch (view.kind) {
	case RETYPE_CONSTRUCTED:
		return view.number;
	case RETYPE_MODULE:
		return first_layout(snapshot) + view.number;
	case RETYPE_TUPLE:
		return others + (view.count < TUPLES + 1 ? view.count - 2 : TUPLES - 1);
	case RETYPE_ARROW:
		return others + OTHER_FUNCTION;
	case RETYPE_POLY_VARIANT:
		return others + OTHER_VARIANT;
	case RETYPE_OBJECT:
		return others + OTHER_OBJECT;
	default:
		return others + OTHER_SEVERAL;
	}
}

/* Rows of terms, so that a block costs two look-ups. */
static enum hg_status map_terms(struct hg_snapshot *snapshot, uint32_t **out)
{
	uint32_t count = retype_term_count(&snapshot->retype.types);
	BASE_TRY(query_alloc(snapshot, (uint64_t)count + 1, sizeof(**out), (void **)out));
	for (uint32_t i = 1; i < count; i++)
		(*out)[i] = declared_row_of(snapshot, (struct retype_term){i});
	return HG_OK;
}

static enum hg_status count_declared_blocks(struct hg_snapshot *snapshot, const uint32_t *numbers,
	struct hg_declared *rows, struct hg_types *out)
{
	struct snap_walk walk;
	struct snap_run run;
	uint32_t rank = 0;
	BASE_TRY(snap_walk_init(&walk, &snapshot->snap, &snapshot->session->error));
	snap_walk_range(&walk, 0, snapshot->snap.entry_count);
	while (snap_walk_next(&walk, &run)) {
		struct snap_scan scan = snap_scan_run(&snapshot->snap, &run);
		struct snap_cell cell;
		while (rank < snapshot->snap.block_count && snap_scan_next(&scan, &cell)) {
			enum hg_confidence confidence;
			uint32_t block = rank++;
			struct retype_term type =
				retype_of(&snapshot->retype, block, cell.tag, &confidence);
			if (type.n == 0)
				continue;
			struct hg_declared *row = &rows[numbers[type.n]];
			uint64_t bytes = snap_block_bytes(cell.wosize);
			row->blocks++;
			row->bytes += bytes;
			if (cell.tag == SNAP_TAG_CUSTOM)
				row->offheap_bytes += snap_offheap_bytes(&snapshot->snap, block);
			out->blocks++;
			out->bytes += bytes;
		}
	}
	snap_walk_release(&walk);
	return HG_OK;
}

uint32_t hg_declared_type(struct hg_snapshot *snapshot, uint32_t id)
{
	static const struct retype_term unknown[RETYPE_MOST_VARIABLES];
	if (query_begin(snapshot) != HG_OK)
		return 0;
	struct retype_types *types = &snapshot->retype.types;
	uint32_t layouts = first_layout(snapshot), others = first_other(snapshot);
	if (id < layouts) {
		uint32_t count = types->declarations[id].parameters;
		return count > RETYPE_MOST_VARIABLES
			       ? 0
			       : retype_constructed(types, id, unknown, count).n;
	}
	if (id < others)
		return retype_module(types, id - layouts).n;
	/* The last row of tuples is of several sizes. */
	return id - others < TUPLES - 1 ? retype_tuple(types, unknown, id - others + 2).n : 0;
}

struct named_row {
	struct hg_declared row;
	char *name;
};

static int compare_bytes(const void *a, const void *b)
{
	const struct named_row *x = a, *y = b;
	if (x->row.bytes != y->row.bytes)
		return x->row.bytes > y->row.bytes ? -1 : 1;
	int order = strcmp(x->name, y->name);
	return order ? order : (x->row.id > y->row.id) - (x->row.id < y->row.id);
}

static enum hg_status sort_declared_rows(
	struct hg_snapshot *snapshot, struct hg_declared *rows, size_t row_count)
{
	struct named_row *named;
	char name[QUERY_LONGEST_NAME];
	size_t count = 0;
	enum hg_status status = HG_OK;
	BASE_TRY(query_alloc(snapshot, row_count, sizeof(*named), (void **)&named));
	for (; count < row_count && status == HG_OK; count++) {
		hg_declared_text(snapshot, rows[count].id, HG_DECLARED_NAME, name, sizeof(name));
		named[count] = (struct named_row){rows[count], strdup(name)};
		if (!named[count].name)
			status = base_no_memory(&snapshot->session->error, strlen(name));
	}
	if (status == HG_OK && count)
		qsort(named, count, sizeof(*named), compare_bytes);
	for (size_t i = 1; i < count && status == HG_OK; i++)
		base_assert(compare_bytes(&named[i - 1], &named[i]) < 0);
	for (size_t i = 0; i < count; i++) {
		rows[i] = named[i].row;
		free(named[i].name);
	}
	free(named);
	return status;
}

static uint64_t sum_of_declared(const struct hg_declared *rows, size_t count)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < count; i++)
		bytes += rows[i].bytes;
	return bytes;
}

/* The rows that are to be shown, in their order; 'rows' has room for all there are. */
static enum hg_status fill_declared_rows(
	struct hg_snapshot *snapshot, bool unused, struct hg_declared *rows, struct hg_types *out)
{
	uint32_t *numbers;
	uint32_t count = first_other(snapshot) + OTHERS;
	for (uint32_t i = 0; i < count; i++)
		rows[i].id = i;
	BASE_TRY(map_terms(snapshot, &numbers));
	enum hg_status status = count_declared_blocks(snapshot, numbers, rows, out);
	free(numbers);
	base_assert(out->count == 0);
	for (uint32_t i = 0; i < count; i++) {
		bool declared = i < first_layout(snapshot);
		if (rows[i].blocks || (unused && declared))
			rows[out->count++] = rows[i];
	}
	base_assert(sum_of_declared(rows, out->count) == out->bytes);
	return status == HG_OK ? sort_declared_rows(snapshot, rows, out->count) : status;
}

static enum hg_status list_declared(struct hg_snapshot *snapshot, bool unused, struct hg_types *out)
{
	struct hg_declared *rows;
	uint32_t count = first_other(snapshot) + OTHERS;
	BASE_TRY(query_alloc(snapshot, count, sizeof(*rows), (void **)&rows));
	enum hg_status status = fill_declared_rows(snapshot, unused, rows, out);
	if (status == HG_OK)
		return query_keep_rows(snapshot, out, rows, out->count, sizeof(*rows), &out->rows);
	free(rows);
	return status;
}

enum hg_status hg_list_types(struct hg_snapshot *snapshot, bool unused, struct hg_types **out)
{
	BASE_TRY(query_answer(snapshot, sizeof(**out), out));
	enum hg_status status = list_declared(snapshot, unused, *out);
	if (status != HG_OK)
		query_free(out);
	return status;
}

void hg_types_release(struct hg_types **types)
{
	query_free(types);
}

/* What is written so far, of a buffer as snprintf(3) fills it. */
struct text {
	char *buffer;
	size_t size, length;
};

static void put_declared(struct text *text, const char *string)
{
	size_t room = text->length < text->size ? text->size - text->length : 0;
	if (room)
		snprintf(text->buffer + text->length, room, "%s", string);
	text->length += strlen(string);
}

static void put_type(struct text *text, const struct hg_snapshot *snapshot, struct retype_term type)
{
	char name[QUERY_LONGEST_NAME] = "";
	hg_type_name(snapshot, type.n, name, sizeof(name));
	put_declared(text, *name ? name : "_");
}

static void put_parameters(struct text *text, uint32_t count)
{
	put_declared(text, count > 1 ? "(" : "");
	for (uint32_t i = 0; i < count; i++) {
		char name[8] = {'\'', (char)('a' + i % 26), '\0'};
		put_declared(text, i ? ", " : "");
		put_declared(text, name);
	}
	put_declared(text, count > 1 ? ") " : count ? " " : "");
}

static void put_other_name(struct text *text, uint32_t other)
{
	static const char *const names[] = {"_ -> _", "[ ... ]", "< ... >", "(several types)"};
	if (other >= OTHER_FUNCTION) {
		put_declared(text, other < OTHERS ? names[other - OTHER_FUNCTION] : "");
		return;
	}
	for (uint32_t i = 0; i < other + 2; i++)
		put_declared(text, i ? " * _" : "_");
	put_declared(text, other == TUPLES - 1 ? " * ..." : "");
}

static void put_name(struct text *text, const struct hg_snapshot *snapshot, uint32_t id)
{
	const struct retype_types *types = &snapshot->retype.types;
	if (id < first_layout(snapshot)) {
		put_parameters(text, types->declarations[id].parameters);
		put_declared(text, types->declarations[id].name);
	} else if (id < first_other(snapshot)) {
		put_declared(text, "(module ");
		put_declared(text, types->layouts[id - first_layout(snapshot)].name);
		put_declared(text, ")");
	} else {
		put_other_name(text, id - first_other(snapshot));
	}
}

static const char *name_of_form(const struct retype_declaration *declaration)
{
	static const char *const names[] = {
		[RETYPE_ABSTRACT] = "abstract",
		[RETYPE_IMMEDIATE] = "immediate",
		[RETYPE_ALIAS] = "abbreviation",
		[RETYPE_UNBOXED] = "unboxed",
		[RETYPE_EITHER] = "either",
		[RETYPE_RECORD] = "record",
		[RETYPE_FLOAT_RECORD] = "float record",
		[RETYPE_VARIANT] = "variant",
		[RETYPE_EXTENSIBLE] = "extensible",
		[RETYPE_STRING] = "string",
		[RETYPE_FLOAT] = "float",
		[RETYPE_FLOAT_ARRAY] = "float array",
		[RETYPE_CUSTOM] = "custom",
		[RETYPE_ARRAY] = "array",
		[RETYPE_LAZY] = "lazy",
		[RETYPE_ATOMIC] = "atomic",
		[RETYPE_WEAK] = "weak",
		[RETYPE_EPHEMERON] = "ephemeron",
		[RETYPE_SLOT] = "extension slot",
		[RETYPE_SOME_OBJECT] = "object",
		[RETYPE_ANY] = "any",
		[RETYPE_CONTINUATION] = "continuation",
	};
	base_assert(declaration->form < sizeof(names) / sizeof(*names));
	return names[declaration->form];
}

static void put_kind(struct text *text, const struct hg_snapshot *snapshot, uint32_t id)
{
	static const char *const others[] = {
		"function", "polymorphic variant", "object", "several types"};
	uint32_t other = id - first_other(snapshot);
	if (id < first_layout(snapshot))
		put_declared(text, name_of_form(&snapshot->retype.types.declarations[id]));
	else if (id < first_other(snapshot))
		put_declared(text, "module");
	else
		put_declared(text, other < OTHER_FUNCTION ? "tuple"
				   : other < OTHERS       ? others[other - OTHER_FUNCTION]
							  : "");
}

static void put_record(struct text *text, const struct hg_snapshot *snapshot,
	const struct retype_field *fields, uint32_t count)
{
	put_declared(text, "{ ");
	for (uint32_t i = 0; i < count; i++) {
		put_declared(text, i ? "; " : "");
		put_declared(text, fields[i].mutability == RETYPE_IMMUTABLE ? "" : "mutable ");
		put_declared(text, fields[i].name);
		put_declared(text, " : ");
		put_type(text, snapshot, fields[i].type);
		put_declared(text, fields[i].mutability == RETYPE_ATOMIC_FIELD ? " [@atomic]" : "");
	}
	put_declared(text, " }");
}

static void put_constructor(struct text *text, const struct hg_snapshot *snapshot,
	const struct retype_constructor *constructor)
{
	put_declared(text, constructor->name);
	if (constructor->field_count == 0)
		return;
	put_declared(text, " of ");
	if (constructor->is_record) {
		put_record(text, snapshot, constructor->fields, constructor->field_count);
		return;
	}
	for (uint32_t i = 0; i < constructor->field_count; i++) {
		put_declared(text, i ? " * " : "");
		put_type(text, snapshot, constructor->fields[i].type);
	}
}

static void put_layout(struct text *text, const struct hg_snapshot *snapshot, uint32_t id)
{
	const struct retype_types *types = &snapshot->retype.types;
	if (id >= first_layout(snapshot)) {
		const struct retype_layout *layout = &types->layouts[id - first_layout(snapshot)];
		if (id < first_other(snapshot))
			put_record(text, snapshot, layout->fields, layout->field_count);
		return;
	}
	const struct retype_declaration *d = &types->declarations[id];
	switch (d->form) {
	case RETYPE_RECORD:
	case RETYPE_FLOAT_RECORD:
		put_record(text, snapshot, d->fields, d->field_count);
		break;
	case RETYPE_VARIANT:
		for (uint32_t i = 0; i < d->constructor_count; i++) {
			put_declared(text, i ? " | " : "");
			put_constructor(text, snapshot, &d->constructors[i]);
		}
		break;
	case RETYPE_UNBOXED:
		put_declared(text, d->unboxed.name);
		put_declared(text, *d->unboxed.name ? " : " : "");
		put_type(text, snapshot, d->inner);
		break;
	case RETYPE_ALIAS:
		put_type(text, snapshot, d->inner);
		break;
	case RETYPE_EITHER:
		for (uint32_t i = 0; i < d->field_count; i++) {
			put_declared(text, i ? " | " : "");
			put_type(text, snapshot, d->fields[i].type);
		}
		break;
	default:
		break;
	}
}

/* A unit's name as types spell it: "Dune__exe__Cache" -> "Cache"; ends at 'size'. */
static void spell_unit(const char *unit, char *buffer, size_t size)
{
	static const char *const dropped[] = {"Stdlib__", "Dune__exe__"};
	size_t length = 0;
	for (size_t i = 0; i < sizeof(dropped) / sizeof(*dropped); i++)
		if (strncmp(unit, dropped[i], strlen(dropped[i])) == 0)
			unit += strlen(dropped[i]);
	for (const char *c = unit; *c && length + 1 < size; c++) {
		bool separator = c != unit && c[0] == '_' && c[1] == '_';
		buffer[length++] = separator ? '.' : *c;
		c += separator;
	}
	buffer[length] = '\0';
}

/* The unit with the longest name that the path begins with. */
static void put_unit(struct text *text, const struct hg_snapshot *snapshot, uint32_t id)
{
	const struct retype_types *types = &snapshot->retype.types;
	const char *name = "", *best = "";
	size_t best_length = 0;
	if (id < first_layout(snapshot))
		name = types->declarations[id].name;
	else if (id < first_other(snapshot))
		name = types->layouts[id - first_layout(snapshot)].name;
	for (uint32_t i = 0; i < types->unit_count; i++) {
		char unit[512];
		spell_unit(types->units[i].name, unit, sizeof(unit));
		size_t length = strlen(unit);
		bool begins =
			strncmp(name, unit, length) == 0 &&
			(name[length] == '.' || (!name[length] && id >= first_layout(snapshot)));
		if (begins && length > best_length) {
			best = types->units[i].name;
			best_length = length;
		}
	}
	put_declared(text, best);
}

size_t hg_declared_text(const struct hg_snapshot *snapshot, uint32_t id, enum hg_declared_part part,
	char *buffer, size_t size)
{
	struct text text = {buffer, query_room(buffer, size), 0};
	if (text.size)
		buffer[0] = '\0';
	if (!snapshot || !snapshot->analysed || id >= first_other(snapshot) + OTHERS)
		return 0;
	switch (part) {
	case HG_DECLARED_NAME:
		put_name(&text, snapshot, id);
		break;
	case HG_DECLARED_KIND:
		put_kind(&text, snapshot, id);
		break;
	case HG_DECLARED_LAYOUT:
		put_layout(&text, snapshot, id);
		break;
	case HG_DECLARED_UNIT:
		put_unit(&text, snapshot, id);
		break;
	default:
		base_fail(&snapshot->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"there is no part %u of a type", (unsigned)part);
	}
	return text.length;
}
