/* Names of places, and the walk over all tries. */
#include "query/spacetime/spacetime.h"

#include "query/spacetime/points.h"

#include "snapshot/symbol_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum hg_status query_spacetime_places_init(
	struct query_spacetime_places *places, struct hg_trace *trace)
{
	struct hg_error *error = &trace->session->error;
	*places = (struct query_spacetime_places){.trace = trace};
	BASE_TRY(spacetime_read_tables(&trace->series, &places->tables, error));
	uint64_t count = places->tables.location_count;
	places->names = calloc(count + 1, sizeof(*places->names));
	return places->names ? HG_OK : base_no_memory(error, count * sizeof(*places->names));
}

void query_spacetime_places_release(struct query_spacetime_places *places)
{
	spacetime_tables_release(&places->tables);
	free(places->names);
	*places = (struct query_spacetime_places){0};
}

static enum hg_status make_name(struct query_spacetime_places *places,
	const struct spacetime_location *location, uint32_t *place)
{
	char numbers[80];
	const char *file = trace_name(&places->tables.files, location->file);
	struct hg_error *error = &places->trace->session->error;
	int length = snprintf(numbers, sizeof(numbers), ":%" PRId64 ":%" PRId64 "-%" PRId64,
		location->line, location->start, location->end);
	size_t before = strlen(file);
	char *text = malloc(before + (size_t)length + 1);
	if (!text)
		return base_no_memory(error, before);
	memcpy(text, file, before);
	memcpy(text + before, numbers, (size_t)length + 1);
	enum hg_status status =
		trace_names_add(&places->trace->names, text, before + (size_t)length, place, error);
	free(text);
	return status;
}

enum hg_status query_spacetime_name(
	struct query_spacetime_places *places, uint32_t location, uint32_t *place)
{
	uint32_t *name = &places->names[location];
	if (!*name) {
		BASE_TRY(make_name(places, &places->tables.locations[location], place));
		*name = *place + 1;
	}
	*place = *name - 1;
	return HG_OK;
}

enum hg_status query_spacetime_place(
	struct query_spacetime_places *places, uint64_t pc, uint32_t *place)
{
	const struct spacetime_tables *tables = &places->tables;
	uint32_t frame;
	*place = QUERY_NO_PLACE;
	if (!base_map_number(&tables->frame_of, pc, &frame))
		return HG_OK;
	const struct spacetime_span *span = &tables->frames[frame];
	for (uint32_t i = 0; i < span->count; i++)
		if (tables->locations[span->first + i].known)
			return query_spacetime_name(places, span->first + i, place);
	return HG_OK;
}

static void drop_from_unit(struct snap_symbol_name *name, const char *dropped)
{
	size_t length = strlen(dropped);
	if (name->unit_length < length || strncmp(name->unit, dropped, length) != 0)
		return;
	if (name->unit_length > length && strncmp(name->unit + length, "__", 2) != 0)
		return;
	length += name->unit_length > length ? 2 : 0;
	name->unit += length;
	name->unit_length -= length;
}

static unsigned hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? (unsigned)(c - '0')
	       : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
				      : 16;
}

/* "$40" stands for "@": whatever is no letter or digit. */
static size_t spell_function(const char *function, size_t length, char *text)
{
	size_t used = 0;
	for (size_t i = 0; i < length; i++) {
		unsigned high = i + 2 < length ? hex_digit(function[i + 1]) : 16;
		unsigned low = high < 16 ? hex_digit(function[i + 2]) : 16;
		bool escaped = function[i] == '$' && high < 8 && low < 16;
		text[used++] = escaped ? (char)(16 * high + low) : function[i];
		i += escaped ? 2 : 0;
	}
	return used;
}

/*
 * "Unit.function" as types spell units: "." for "__", without Stdlib and Dune__exe, and a capital
 * first, which OCaml 4.07 to 4.12 did not write in the standard library.  Other symbols stay.
 */
static size_t spell_symbol(const char *symbol, char *text)
{
	struct snap_symbol_name name;
	size_t used = 0;
	if (!snap_split_symbol(symbol, &name)) {
		memcpy(text, symbol, strlen(symbol));
		return strlen(symbol);
	}
	drop_from_unit(&name, "Stdlib");
	drop_from_unit(&name, "Dune__exe");
	for (size_t i = 0; i < name.unit_length; i++) {
		char c = name.unit[i];
		bool joint = i + 1 < name.unit_length && c == '_' && name.unit[i + 1] == '_';
		bool first = used == 0 || text[used - 1] == '.';
		text[used++] = joint ? '.' : first && c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
		i += joint;
	}
	if (used)
		text[used++] = '.';
	return used + spell_function(name.function, name.function_length, text + used);
}

enum hg_status query_spacetime_symbol(
	struct query_spacetime_places *places, uint64_t address, uint32_t *place)
{
	struct hg_trace *trace = places->trace;
	const char *name =
		trace->program ? spacetime_program_symbol(trace->program, address) : NULL;
	*place = QUERY_NO_PLACE;
	if (!name)
		return HG_OK;
	char *text = malloc(strlen(name) + 1);
	if (!text)
		return base_no_memory(&trace->session->error, strlen(name));
	enum hg_status status = trace_names_add(
		&trace->names, text, spell_symbol(name, text), place, &trace->session->error);
	free(text);
	return status;
}

enum hg_status query_spacetime_walk_all(struct hg_trace *trace, struct spacetime_walk *walk)
{
	const struct spacetime_series *series = &trace->series;
	for (uint64_t i = 0; i < 2 * series->thread_count; i++) {
		bool any;
		base_file_forget(&trace->file, series->tries[i]);
		BASE_TRY(query_spacetime_skip(trace,
			spacetime_walk_trie(walk, series, series->tries[i], &any), series->tries[i],
			"a trie of calls that cannot be read"));
	}
	return query_spacetime_note_walk(trace, walk);
}
