/*
 * From closures to their code, from there to the source: by the profile, which knows functions by
 * their symbols, else by the program's debug information; and the functions of all closures.
 */
#include "query/shared/functions.h"
#include "query/shared/walk.h"

#include "query/shared/types.h"
#include "base/assert.h"
#include "base/file.h"
#include "snapshot/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARTIAL = 64, LONGEST_UNIT = 512, LONGEST_FUNCTION = 2048 };

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

/* Lines */

uint32_t query_unit_of_symbol(
	const struct retype_types *types, const char *symbol, const char **rest, bool *standard)
{
	char unit[LONGEST_UNIT];
	*standard = retype_is_standard_unit(symbol);
	for (size_t i = strlen(symbol); i-- > 1;) {
		bool dot = symbol[i] == '.', joint = symbol[i] == '_' && symbol[i + 1] == '_';
		if ((!dot && !joint) || i >= sizeof(unit))
			continue;
		memcpy(unit, symbol, i);
		unit[i] = '\0';
		*standard |= retype_is_standard_unit(unit);
		uint32_t number = retype_unit_named(types, unit);
		*rest = symbol + i + (dot ? 1 : 2);
		if (number != RETYPE_NONE)
			return number;
	}
	return RETYPE_NONE;
}

/* The symbol of the function that begins at an address, without "caml"; or NULL. */
static const char *symbol_of_code(
	const struct snap *snap, uint64_t code, struct snap_code_symbol *symbol)
{
	bool known = code && snap_process_code_symbol(snap, code, symbol) &&
		     strncmp(symbol->name, "caml", 4) == 0 && symbol->name[4] >= 'A' &&
		     symbol->name[4] <= 'Z';
	return known ? symbol->name + 4 : NULL;
}

/* The first location in the code of a function: frame tables have them if the lines are gone. */
static bool first_location(
	const struct snap *snap, struct snap_range code, struct snap_location *out)
{
	return snap_process_code_locations(snap, code, out, 1) > 0 && out->file && out->line > 0;
}

/* As the profile has it, which knows functions that have a name by their symbols. */
static bool line_by_profile(
	const struct retype_types *types, const char *symbol, struct query_line *out)
{
	const struct retype_function *function = retype_function_symbol(types, symbol);
	if (!function || !function->file[0] || function->line == 0)
		return false;
	bool library = function->unit < types->unit_count &&
		       types->units[function->unit].owner == RETYPE_LIBRARY;
	*out = (struct query_line){function->file, function->line, !library};
	return true;
}

/* Debug information has folders that the compiler was not called with: the profile has not. */
static bool line_by_debug_information(const struct hg_snapshot *snapshot, uint64_t code,
	const char *symbol, struct snap_range range, struct query_line *out)
{
	const struct retype_types *types = &snapshot->retype.types;
	struct snap_location at = {0};
	const char *rest;
	bool standard = false, found = snap_process_code_line(&snapshot->snap, code, &at);
	if (!found || !at.file || at.line <= 0)
		found = symbol && first_location(&snapshot->snap, range, &at);
	if (!found)
		return false;
	*out = (struct query_line){at.file, (uint32_t)at.line, false};
	if (!symbol)
		return true;
	uint32_t number = query_unit_of_symbol(types, symbol, &rest, &standard);
	out->own = !standard;
	if (number == RETYPE_NONE)
		return true;
	const struct retype_unit *unit = &types->units[number];
	out->own = unit->owner != RETYPE_LIBRARY;
	if (unit->source && strcmp(base_file_name(unit->source), base_file_name(at.file)) == 0)
		out->file = unit->source;
	return true;
}

bool query_code_line(struct hg_snapshot *snapshot, uint64_t code, struct query_line *out)
{
	struct snap_code_symbol symbol = {0};
	const char *name = symbol_of_code(&snapshot->snap, code, &symbol);
	return (name && line_by_profile(&snapshot->retype.types, name, out)) ||
	       line_by_debug_information(snapshot, code, name, symbol.code, out);
}

/* What its closures tell of a function without name. */
struct closure_shape {
	uint32_t unit;
	uint64_t arity, captures;
};

static bool read_closure_shape(
	struct hg_snapshot *snapshot, uint32_t rank, uint64_t code, struct closure_shape *out)
{
	const struct snap *snap = &snapshot->snap;
	struct snap_code_symbol symbol;
	struct snap_cell cell;
	const char *rest;
	bool standard;
	const char *name = symbol_of_code(snap, code, &symbol);
	if (!name || !snap_block(&snapshot->lookup, (struct snap_rank){rank}, &cell))
		return false;
	uint64_t first = snap_first_value(snap, &cell);
	out->unit = query_unit_of_symbol(&snapshot->retype.types, name, &rest, &standard);
	if (out->unit == RETYPE_NONE || strncmp(rest, "fun", 3) != 0 || first > cell.field_count)
		return false;
	int64_t info = (int64_t)cell.fields[1];
	out->arity = (uint64_t)(snap->has_closinfo ? info >> 56 : info >> 1);
	out->captures = cell.field_count - first;
	return true;
}

/*
 * Where neither lines nor frame tables tell of a function without name: by what it takes and
 * captures, if that is so of one line of the unit only.
 */
static bool line_by_shape(
	struct hg_snapshot *snapshot, uint32_t rank, uint64_t code, struct query_line *out)
{
	const struct retype_types *types = &snapshot->retype.types;
	struct closure_shape shape;
	if (!read_closure_shape(snapshot, rank, code, &shape))
		return false;
	*out = (struct query_line){.own = types->units[shape.unit].owner != RETYPE_LIBRARY};
	for (uint32_t i = 0; i < types->function_count; i++) {
		const struct retype_function *function = &types->functions[i];
		if (function->unit != shape.unit || strcmp(function->ident, "fun") != 0 ||
			!function->file[0] || function->arity != shape.arity ||
			function->capture_count != shape.captures)
			continue;
		if (out->file && (out->line != function->line || out->file != function->file))
			return false;
		out->file = function->file;
		out->line = function->line;
	}
	return out->file != NULL;
}

bool query_function_line(struct hg_snapshot *snapshot, uint32_t rank, struct query_line *out)
{
	rank = query_function_rank(snapshot, rank);
	uint64_t code = rank == HG_NO_NODE ? 0 : query_code(snapshot, rank, 0);
	return code &&
	       (query_code_line(snapshot, code, out) || line_by_shape(snapshot, rank, code, out));
}

/* All functions */

/* "Cache.find"; what has no name has its line, so that there are as many names as functions. */
static enum hg_status name_function(
	struct hg_snapshot *snapshot, uint32_t rank, uint64_t code, const char **out)
{
	char name[LONGEST_FUNCTION] = "", text[2 * LONGEST_FUNCTION];
	struct query_line line = {0};
	snap_process_code_name(&snapshot->snap, code, name, sizeof(name));
	size_t length = strlen(name);
	bool anonymous = length < 4 || strcmp(name + length - 4, ".fun") == 0;
	if (anonymous && *name && query_function_line(snapshot, rank, &line))
		snprintf(text, sizeof(text), "%s %s:%u", name, line.file, line.line);
	else
		snprintf(text, sizeof(text), "%s", name);
	return base_pool_string(
		&snapshot->snap.pool, text, strlen(text), out, &snapshot->session->error);
}

static enum hg_status add_function_of(
	struct hg_snapshot *snapshot, struct query_functions *functions, uint32_t rank)
{
	uint32_t number, before = functions->codes.count;
	uint64_t code = query_function_code(snapshot, rank);
	BASE_TRY(query_pairs_number(&functions->codes, (uint32_t)(code >> 32), (uint32_t)code,
		&number, &snapshot->session->error));
	if (functions->codes.count == before)
		return HG_OK;
	base_assert(number == before);
	BASE_TRY(query_grow(
		snapshot, &functions->all, number, &functions->capacity, sizeof(*functions->all)));
	functions->all[number] = (struct query_function){.rank = rank};
	return name_function(snapshot, rank, code, &functions->all[number].name);
}

static enum hg_status add_functions(struct hg_snapshot *snapshot, struct query_functions *functions)
{
	struct query_walk walk;
	struct snap_cell cell;
	uint32_t rank;
	enum hg_status status = HG_OK;
	BASE_TRY(query_walk_open(&walk, snapshot));
	while (status == HG_OK && query_walk_next(&walk, &rank, &cell))
		if (cell.tag == SNAP_TAG_CLOSURE)
			status = add_function_of(snapshot, functions, rank);
	query_walk_close(&walk);
	return status;
}

enum hg_status query_functions_open(struct hg_snapshot *snapshot)
{
	struct query_functions functions = {.is_open = true};
	if (snapshot->functions.is_open)
		return HG_OK;
	enum hg_status status = add_functions(snapshot, &functions);
	if (status == HG_OK) {
		snapshot->functions = functions;
		return HG_OK;
	}
	query_functions_release(&functions);
	return status;
}

enum hg_status query_function_number(struct hg_snapshot *snapshot, uint32_t rank, uint32_t *out)
{
	uint64_t code = query_function_code(snapshot, rank);
	base_assert(snapshot->functions.is_open);
	return query_pairs_number(&snapshot->functions.codes, (uint32_t)(code >> 32),
		(uint32_t)code, out, &snapshot->session->error);
}
