/*
 * Where functions and globals are in the source: by the profile, which knows functions by their
 * symbols, else by the program's debug information.
 */
#include "query/shared/functions.h"
#include "query/shared/types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t put_line(char *buffer, size_t size, const char *file, uint32_t line)
{
	int length = snprintf(buffer, size, "%s:%u", file, line);
	return length < 0 ? 0 : (size_t)length;
}

static size_t put_code_line(
	bool found, const struct query_line *line, char *buffer, size_t size, bool *own)
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
	struct query_line line = {0};
	bool found =
		query_begin(snapshot) == HG_OK && code && query_code_line(snapshot, code, &line);
	return put_code_line(found, &line, buffer, size, own);
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
	struct query_line line = {0};
	bool found = query_begin(snapshot) == HG_OK && node < snapshot->snap.block_count &&
		     query_function_line(snapshot, node, &line);
	return put_code_line(found, &line, buffer, size, own);
}

hg_node hg_function_closure(const struct hg_snapshot *snapshot, uint32_t id)
{
	if (!snapshot || id >= snapshot->functions.codes.count)
		return HG_NO_NODE;
	return snapshot->functions.all[id].rank;
}

/* Globals */

static size_t put_definition(char *buffer, size_t size, const struct retype_place *place)
{
	return place->file ? put_line(buffer, size, place->file, place->line) : 0;
}

/* Frames of the stack */

/* Where the digits at the end begin; NULL if there are none. */
static const char *before_digits(const char *start, const char *end)
{
	const char *at = end;
	while (at > start && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return at < end ? at : NULL;
}

/* The length of "cache.ml:30" in a word "cache.ml:30:4-18"; 0 if it is no such. */
static size_t length_of_line(const char *word, const char *end)
{
	const char *column = before_digits(word, end), *start = NULL, *line = NULL;
	if (column && column > word && column[-1] == '-')
		start = before_digits(word, column - 1);
	if (start && start > word && start[-1] == ':')
		line = before_digits(word, start - 1);
	return line && line > word + 1 && line[-1] == ':' ? (size_t)(start - 1 - word) : 0;
}

/* Where a frame is, by its name: "Cache.get cache.ml:30:4-18 (thread 2)". */
static size_t put_call(char *buffer, size_t size, const char *name)
{
	const char *end = name + strlen(name), *space;
	for (; (space = memrchr(name, ' ', (size_t)(end - name))); end = space) {
		size_t length = length_of_line(space + 1, end);
		if (length) {
			int put = snprintf(buffer, size, "%.*s", (int)length, space + 1);
			return put < 0 ? 0 : (size_t)put;
		}
	}
	return 0;
}

size_t hg_defined_at(struct hg_snapshot *snapshot, hg_node root, char *buffer, size_t size)
{
	size = query_room(buffer, size);
	if (size)
		buffer[0] = '\0';
	if (query_begin(snapshot) != HG_OK || root < snapshot->snap.block_count ||
		root >= snap_virtual_root(&snapshot->snap))
		return 0;
	const struct retype_types *types = &snapshot->retype.types;
	const struct snap_root *slot = &snapshot->snap.roots[root - snapshot->snap.block_count];
	if (slot->kind == HG_ROOT_STACK)
		return put_call(buffer, size, slot->name);
	if (slot->kind != HG_ROOT_GLOBAL)
		return 0;
	uint32_t number = retype_unit_named(types, slot->name);
	if (number == RETYPE_NONE) {
		const struct infer_value_block *value =
			infer_value_of_block(&snapshot->retype.value_blocks, slot->name);
		return value ? put_definition(buffer, size, &value->place) : 0;
	}
	const struct retype_unit *unit = &types->units[number];
	if (unit->agreement != RETYPE_UNIT_SAME || slot->index >= unit->place_count)
		return 0;
	return put_definition(buffer, size, &unit->places[slot->index]);
}
