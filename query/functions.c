/*
 * Where functions and globals are in the source: by the profile, which knows functions by their
 * symbols, else by the program's debug information.
 */
#include "query/shared/functions.h"
#include "query/shared/places.h"
#include "query/shared/types.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_UNIT = 512 };

static size_t put_line(char *buffer, size_t size, const char *file, uint32_t line)
{
	int length = snprintf(buffer, size, "%s:%u", file, line);
	return length < 0 ? 0 : (size_t)length;
}

/*
 * The unit that a symbol is of, without "caml": parts of units' names are joined as what follows
 * them is, so that it is the longest one that there is.  RETYPE_NONE if the profile has none; then
 * the first part tells whether it is of the standard library.
 */
static uint32_t unit_of_symbol(
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

/* Functions */

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

/* A line of the source, and whether that is the program's own. */
struct code_line {
	const char *file;
	uint32_t line;
	bool own;
};

/* As the profile has it, which knows functions that have a name by their symbols. */
static bool line_by_profile(
	const struct retype_types *types, const char *symbol, struct code_line *out)
{
	const struct retype_function *function = retype_function_symbol(types, symbol);
	if (!function || !function->file[0] || function->line == 0)
		return false;
	bool library = function->unit < types->unit_count &&
		       types->units[function->unit].owner == RETYPE_LIBRARY;
	*out = (struct code_line){function->file, function->line, !library};
	return true;
}

/* Debug information has folders that the compiler was not called with: the profile has not. */
static bool line_by_debug_information(const struct hg_snapshot *snapshot, uint64_t code,
	const char *symbol, struct snap_range range, struct code_line *out)
{
	const struct retype_types *types = &snapshot->retype.types;
	struct snap_location at = {0};
	const char *rest;
	bool standard = false, found = snap_process_code_line(&snapshot->snap, code, &at);
	if (!found || !at.file || at.line <= 0)
		found = symbol && first_location(&snapshot->snap, range, &at);
	if (!found)
		return false;
	*out = (struct code_line){at.file, (uint32_t)at.line, false};
	if (!symbol)
		return true;
	uint32_t number = unit_of_symbol(types, symbol, &rest, &standard);
	out->own = !standard;
	if (number == RETYPE_NONE)
		return true;
	const struct retype_unit *unit = &types->units[number];
	out->own = unit->owner != RETYPE_LIBRARY;
	if (unit->source && strcmp(base_file_name(unit->source), base_file_name(at.file)) == 0)
		out->file = unit->source;
	return true;
}

static bool find_code_line(struct hg_snapshot *snapshot, uint64_t code, struct code_line *out)
{
	struct snap_code_symbol symbol = {0};
	const char *name = symbol_of_code(&snapshot->snap, code, &symbol);
	return (name && line_by_profile(&snapshot->retype.types, name, out)) ||
	       line_by_debug_information(snapshot, code, name, symbol.code, out);
}

static size_t put_code_line(
	bool found, const struct code_line *line, char *buffer, size_t size, bool *own)
{
	size = query_room(buffer, size);
	if (size)
		buffer[0] = '\0';
	if (own)
		*own = found && line->own;
	return found ? put_line(buffer, size, line->file, line->line) : 0;
}

size_t hg_code_place(
	struct hg_snapshot *snapshot, uint64_t code, char *buffer, size_t size, bool *own)
{
	struct code_line line = {0};
	bool found =
		query_begin(snapshot) == HG_OK && code && find_code_line(snapshot, code, &line);
	return put_code_line(found, &line, buffer, size, own);
}

/* Closures */

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
	out->unit = unit_of_symbol(&snapshot->retype.types, name, &rest, &standard);
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
	struct hg_snapshot *snapshot, uint32_t rank, uint64_t code, struct code_line *out)
{
	const struct retype_types *types = &snapshot->retype.types;
	struct closure_shape shape;
	if (!read_closure_shape(snapshot, rank, code, &shape))
		return false;
	*out = (struct code_line){.own = types->units[shape.unit].owner != RETYPE_LIBRARY};
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

uint64_t hg_function_code(struct hg_snapshot *snapshot, hg_node node)
{
	if (query_begin(snapshot) != HG_OK || node >= snapshot->snap.block_count)
		return 0;
	return query_function_code(snapshot, node);
}

size_t hg_function_place(
	struct hg_snapshot *snapshot, hg_node node, char *buffer, size_t size, bool *own)
{
	struct code_line line = {0};
	bool found = false;
	if (query_begin(snapshot) == HG_OK && node < snapshot->snap.block_count) {
		uint32_t rank = query_function_rank(snapshot, node);
		uint64_t code = rank == HG_NO_NODE ? 0 : query_code(snapshot, rank, 0);
		found = code && (find_code_line(snapshot, code, &line) ||
					line_by_shape(snapshot, rank, code, &line));
	}
	return put_code_line(found, &line, buffer, size, own);
}

/* Globals */

static size_t put_definition(char *buffer, size_t size, const struct retype_place *place)
{
	return place->file ? put_line(buffer, size, place->file, place->line) : 0;
}

static size_t length_without_number(const char *name)
{
	size_t length = strlen(name), end = length;
	while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	return end > 1 && end < length && name[end - 1] == '_' ? end - 1 : length;
}

/* With flambda: "Unit__table_48"; the number is its own, so that the name must be the only one. */
static const struct retype_place *place_of_value(
	const struct retype_types *types, const char *symbol)
{
	const char *ident = NULL;
	bool standard;
	uint32_t unit = unit_of_symbol(types, symbol, &ident, &standard);
	size_t length = unit == RETYPE_NONE ? 0 : length_without_number(ident);
	const struct retype_place *found = NULL;
	for (uint32_t i = 0; length && i < types->value_count; i++) {
		const struct retype_value *value = &types->values[i];
		if (value->unit != unit || length_without_number(value->ident) != length ||
			strncmp(value->ident, ident, length) != 0)
			continue;
		if (found)
			return NULL;
		found = &value->place;
	}
	return found;
}

size_t hg_defined_at(struct hg_snapshot *snapshot, hg_node root, char *buffer, size_t size)
{
	size = query_room(buffer, size);
	if (size)
		buffer[0] = '\0';
	if (query_begin(snapshot) != HG_OK || hg_kind_of_root(snapshot, root) != HG_ROOT_GLOBAL ||
		root < snapshot->snap.block_count || root >= snap_virtual_root(&snapshot->snap))
		return 0;
	const struct retype_types *types = &snapshot->retype.types;
	const struct snap_root *slot = &snapshot->snap.roots[root - snapshot->snap.block_count];
	uint32_t number = retype_unit_named(types, slot->name);
	if (number == RETYPE_NONE) {
		const struct retype_place *place = place_of_value(types, slot->name);
		return place ? put_definition(buffer, size, place) : 0;
	}
	const struct retype_unit *unit = &types->units[number];
	if (unit->agreement != RETYPE_UNIT_SAME || slot->index >= unit->place_count)
		return 0;
	return put_definition(buffer, size, &unit->places[slot->index]);
}
