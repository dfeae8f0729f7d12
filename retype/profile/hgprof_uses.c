/*
 * The second pass over the lines.  Units, files and functions have numbers, by which the others
 * name them, so that these are read first.
 */
#include "retype/profile/hgprof_uses.h"

#include "base/assert.h"
#include "retype/profile/hgprof_locations.h"
#include "retype/profile/hgprof_types.h"

#include <stdlib.h>
#include <string.h>

static uint32_t term_count(const struct hgprof_reader *reader)
{
	return (uint32_t)reader->terms.count;
}

/* Units */

static int compare_units(const void *a, const void *b)
{
	return strcmp(((const struct retype_unit *)a)->name, ((const struct retype_unit *)b)->name);
}

static enum hg_status read_unit(
	const struct hgprof_reader *reader, struct hgprof_line line, struct retype_unit *unit)
{
	struct hgprof_word crc, state;
	BASE_TRY(hgprof_name(reader, &line, &unit->name));
	if (!hgprof_next_word(&line, &crc))
		return hgprof_bad(reader, &line, line.end, "a unit without CRC");
	if (crc.length == sizeof(unit->crc) - 1)
		memcpy(unit->crc, crc.text, crc.length);
	else if (crc.length != 1 || crc.text[0] != '-')
		return hgprof_bad(reader, &line, crc.text, "a CRC is 32 digits or '-'");
	BASE_TRY(hgprof_name(reader, &line, &unit->source));
	BASE_TRY(hgprof_name(reader, &line, &unit->builddir));
	if (!hgprof_next_word(&line, &state))
		return hgprof_bad(reader, &line, line.end, "does not say what was found");
	unit->from_interface = state.length != 3 || memcmp(state.text, "cmt", 3) != 0;
	/* Profiles of before do not say whose it is. */
	if (hgprof_next_word(&line, &state))
		unit->owner = state.length == 3 && memcmp(state.text, "own", 3) == 0
				      ? RETYPE_OWN
				      : RETYPE_LIBRARY;
	return HG_OK;
}

static enum hg_status read_units(struct hgprof_reader *reader)
{
	struct retype_types *types = reader->types;
	uint32_t count = (uint32_t)reader->units.count;
	BASE_TRY(hgprof_alloc(reader, count, sizeof(*types->units), &types->units));
	for (uint32_t i = 0; i < count; i++)
		BASE_TRY(read_unit(
			reader, hgprof_line_of(reader, &reader->units.all[i]), &types->units[i]));
	types->unit_count = count;
	if (count > 0)
		qsort(types->units, count, sizeof(*types->units), compare_units);
	for (uint32_t i = 0; i < count; i++) {
		/* Of units of one name the first one. */
		uint64_t number = i;
		bool is_new;
		BASE_TRY(base_map_add(&reader->unit_numbers,
			(uint64_t)(uintptr_t)types->units[i].name, &number, &is_new,
			reader->error));
		base_assert(i == 0 || compare_units(&types->units[i - 1], &types->units[i]) <= 0);
	}
	return types->status;
}

/* Most lines are of the unit of the line before them. */
static enum hg_status read_unit_name(
	struct hgprof_reader *reader, struct hgprof_line *line, uint32_t *unit)
{
	struct hgprof_word word, *last = &reader->last_unit;
	const char *name;
	if (!hgprof_next_word(line, &word))
		return hgprof_bad(reader, line, line->end, "ends where a unit is to be");
	if (word.length != last->length || memcmp(word.text, last->text, word.length) != 0) {
		BASE_TRY(hgprof_unescape(reader, line, word, &name));
		uint64_t number;
		if (!base_map_get(&reader->unit_numbers, (uint64_t)(uintptr_t)name, &number))
			return hgprof_bad(
				reader, line, word.text, "the unit '%.64s' has no record u", name);
		reader->last_unit_number = (uint32_t)number;
		*last = word;
	}
	*unit = reader->last_unit_number;
	return HG_OK;
}

static enum hg_status read_globals(struct hgprof_reader *reader, struct hgprof_line *line)
{
	uint32_t number = 0;
	BASE_TRY(read_unit_name(reader, line, &number));
	base_assert(number < reader->types->unit_count);
	struct retype_unit *unit = &reader->types->units[number];
	BASE_TRY(hgprof_number(reader, line, "field", UINT32_MAX, &unit->exported));
	BASE_TRY(hgprof_fields(reader, line, true, &unit->fields, &unit->field_count));
	if (unit->exported > unit->field_count)
		return hgprof_bad(reader, line, line->end, "%u of %u fields are exported",
			unit->exported, unit->field_count);
	return HG_OK;
}

/* Definitions */

/* "FILE:LINE", or "-" for what is not known. */
static enum hg_status read_place(const struct hgprof_reader *reader, const struct hgprof_line *line,
	struct hgprof_word word, struct retype_place *place)
{
	struct hgprof_word digits;
	uint32_t file = 0;
	if (word.length == 1 && word.text[0] == '-')
		return HG_OK;
	if (!hgprof_split(&word, &digits))
		return hgprof_bad(reader, line, word.text, "a definition is FILE:LINE or '-'");
	BASE_TRY(hgprof_parse_number(
		reader, line, word, "file", (uint32_t)reader->files.count, &file));
	BASE_TRY(hgprof_parse_number(reader, line, digits, "line", UINT32_MAX, &place->line));
	place->file = reader->file_names[file].path;
	return HG_OK;
}

/* Of the fields of a unit's block, in their order. */
static enum hg_status read_definitions(struct hgprof_reader *reader, struct hgprof_line *line)
{
	uint32_t number = 0, count;
	struct retype_place *places;
	struct hgprof_word word;
	BASE_TRY(read_unit_name(reader, line, &number));
	base_assert(number < reader->types->unit_count);
	count = hgprof_count_words(line);
	BASE_TRY(hgprof_alloc(reader, count, sizeof(*places), &places));
	for (uint32_t i = 0; i < count && hgprof_next_word(line, &word); i++)
		BASE_TRY(read_place(reader, line, word, &places[i]));
	reader->types->units[number].places = places;
	reader->types->units[number].place_count = count;
	return HG_OK;
}

/* Values, extensions, classes */

static enum hg_status read_value(struct hgprof_reader *reader, struct hgprof_line *line)
{
	struct retype_types *types = reader->types;
	base_assert(types->value_count < reader->counts['v']);
	struct retype_value *value = &types->values[types->value_count];
	struct hgprof_word place;
	uint32_t term;
	BASE_TRY(read_unit_name(reader, line, &value->unit));
	BASE_TRY(hgprof_ident(reader, line, &value->ident));
	BASE_TRY(hgprof_number(reader, line, "term", term_count(reader), &term));
	value->type = reader->closed[term];
	if (hgprof_next_word(line, &place))
		BASE_TRY(read_place(reader, line, place, &value->place));
	types->value_count++;
	return HG_OK;
}

static enum hg_status read_extension(struct hgprof_reader *reader, struct hgprof_line *line)
{
	struct retype_types *types = reader->types;
	base_assert(types->extension_count < reader->counts['x']);
	struct retype_extension *extension = &types->extensions[types->extension_count];
	BASE_TRY(hgprof_name(reader, line, &extension->name));
	BASE_TRY(hgprof_fields(reader, line, true, &extension->fields, &extension->field_count));
	types->extension_count++;
	return HG_OK;
}

static int compare_extensions(const void *a, const void *b)
{
	return strcmp(((const struct retype_extension *)a)->name,
		((const struct retype_extension *)b)->name);
}

static enum hg_status read_class(struct hgprof_reader *reader, struct hgprof_line *line)
{
	struct retype_types *types = reader->types;
	base_assert(types->class_count < reader->counts['C']);
	struct retype_class *class = &types->classes[types->class_count];
	struct hgprof_line rest;
	struct hgprof_word word;
	const char **methods;
	uint32_t count = 0;
	BASE_TRY(hgprof_name(reader, line, &class->name));
	rest = *line;
	while (hgprof_next_word(&rest, &word) && (word.length != 1 || word.text[0] != ';'))
		count++;
	BASE_TRY(hgprof_alloc(reader, count, sizeof(*methods), &methods));
	for (uint32_t i = 0; i < count; i++)
		BASE_TRY(hgprof_name(reader, line, &methods[i]));
	*line = rest;
	class->methods = methods;
	class->method_count = count;
	BASE_TRY(hgprof_fields(reader, line, true, &class->fields, &class->field_count));
	types->class_count++;
	return HG_OK;
}

/* Files and functions */

static enum hg_status read_files(struct hgprof_reader *reader)
{
	uint64_t count = reader->files.count;
	reader->file_names = calloc(count + 1, sizeof(*reader->file_names));
	if (!reader->file_names)
		return base_no_memory(reader->error, count * sizeof(*reader->file_names));
	for (uint64_t i = 0; i < count; i++) {
		struct hgprof_line line = hgprof_line_of(reader, &reader->files.all[i]);
		BASE_TRY(hgprof_name(reader, &line, &reader->file_names[i].path));
		BASE_TRY(read_unit_name(reader, &line, &reader->file_names[i].unit));
	}
	return HG_OK;
}

static enum hg_status read_parameters(const struct hgprof_reader *reader, struct hgprof_line *line,
	struct retype_function *function)
{
	struct hgprof_word word, one;
	struct retype_term *parameters;
	uint32_t count = 1, term;
	if (!hgprof_next_word(line, &word))
		return hgprof_bad(reader, line, line->end, "a function without parameters");
	if (word.length == 1 && word.text[0] == '-')
		return HG_OK;
	for (size_t i = 0; i < word.length; i++)
		count += word.text[i] == ',';
	BASE_TRY(hgprof_alloc(reader, count, sizeof(*parameters), &parameters));
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *comma = memchr(word.text, ',', word.length);
		one = word;
		if (comma) {
			one.length = (size_t)(comma - word.text);
			word.text = comma + 1;
			word.length -= one.length + 1;
		}
		BASE_TRY(hgprof_parse_number(reader, line, one, "term", term_count(reader), &term));
		parameters[i] = reader->closed[term];
	}
	function->parameters = parameters;
	function->parameter_count = count;
	return HG_OK;
}

/* Lines and columns of expressions that the source does not have are -1. */
static enum hg_status read_hgprof_position(
	const struct hgprof_reader *reader, struct hgprof_line *line, uint32_t *position)
{
	struct hgprof_line rest = *line;
	struct hgprof_word word;
	if (hgprof_next_word(&rest, &word) && word.length == 2 && memcmp(word.text, "-1", 2) == 0) {
		*line = rest;
		*position = 0;
		return HG_OK;
	}
	return hgprof_number(reader, line, "place", UINT32_MAX, position);
}

static enum hg_status read_function(struct hgprof_reader *reader,
	const struct hgprof_record *record, struct retype_function *function)
{
	struct hgprof_line line = hgprof_line_of(reader, record);
	uint32_t file;
	uint32_t *const numbers[] = {&function->line, &function->start, &function->end,
		&function->end_line, &function->end_column, &function->arity};
	BASE_TRY(read_unit_name(reader, &line, &function->unit));
	BASE_TRY(hgprof_ident(reader, &line, &function->ident));
	BASE_TRY(hgprof_number(reader, &line, "file", (uint32_t)reader->files.count, &file));
	function->file = reader->file_names[file].path;
	for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		BASE_TRY(read_hgprof_position(reader, &line, numbers[i]));
	BASE_TRY(read_parameters(reader, &line, function));
	return hgprof_fields(reader, &line, true, &function->captures, &function->capture_count);
}

static enum hg_status read_functions(struct hgprof_reader *reader)
{
	struct retype_types *types = reader->types;
	uint32_t count = (uint32_t)reader->functions.count;
	BASE_TRY(hgprof_alloc(reader, count, sizeof(*types->functions), &types->functions));
	for (uint32_t i = 0; i < count; i++)
		BASE_TRY(read_function(reader, &reader->functions.all[i], &types->functions[i]));
	types->function_count = count;
	return HG_OK;
}

/* The type of a function with its variables, and those that it captures. */
static enum hg_status read_general(const struct hgprof_reader *reader, struct hgprof_line *line)
{
	struct retype_types *types = reader->types;
	const struct hgprof_line begin = *line;
	uint32_t number, term, count;
	const struct retype_field *captures;
	BASE_TRY(hgprof_number(reader, line, "function", types->function_count, &number));
	BASE_TRY(hgprof_number(reader, line, "term", term_count(reader), &term));
	BASE_TRY(hgprof_fields(reader, line, false, &captures, &count));
	struct retype_function *function = &types->functions[number];
	if (count != function->capture_count)
		return hgprof_bad(reader, &begin, begin.next,
			"%u captured variables of a function of %u", count,
			function->capture_count);
	function->general = reader->open[term];
	function->general_captures = captures;
	return HG_OK;
}

/* The second pass */

static enum hg_status read_use(
	struct hgprof_reader *reader, uint8_t letter, struct hgprof_line *line)
{
	switch (letter) {
	case 'L':
		return hgprof_read_location(reader, line);
	case 'g':
		return read_globals(reader, line);
	case 'd':
		return read_definitions(reader, line);
	case 'v':
		return read_value(reader, line);
	case 'x':
		return read_extension(reader, line);
	case 'C':
		return read_class(reader, line);
	case 'G':
		return read_general(reader, line);
	default:
		return HG_OK;
	}
}

static enum hg_status alloc_uses(struct hgprof_reader *reader)
{
	struct retype_types *types = reader->types;
	const uint32_t *counts = reader->counts;
	BASE_TRY(hgprof_alloc(reader, counts['v'], sizeof(*types->values), &types->values));
	BASE_TRY(hgprof_alloc(reader, counts['x'], sizeof(*types->extensions), &types->extensions));
	BASE_TRY(hgprof_alloc(reader, counts['C'], sizeof(*types->classes), &types->classes));
	return hgprof_alloc(reader, counts['L'], sizeof(*types->locations), &types->locations);
}

enum hg_status hgprof_read_uses(struct hgprof_reader *reader)
{
	struct retype_types *types = reader->types;
	struct hgprof_line line = {reader->bytes, reader->bytes, 1};
	BASE_TRY(read_units(reader));
	BASE_TRY(read_files(reader));
	BASE_TRY(read_functions(reader));
	BASE_TRY(alloc_uses(reader));
	line.end = memchr(reader->bytes, '\n', (size_t)(reader->end - reader->bytes));
	while (hgprof_next_line(reader, &line)) {
		uint8_t letter = line.next < line.end ? *line.next++ : 0;
		if (line.next == line.end || *line.next == ' ')
			BASE_TRY(read_use(reader, letter, &line));
	}
	if (types->extension_count > 0)
		qsort(types->extensions, types->extension_count, sizeof(*types->extensions),
			compare_extensions);
	for (uint32_t i = 1; i < types->extension_count; i++)
		base_assert(
			compare_extensions(&types->extensions[i - 1], &types->extensions[i]) <= 0);
	return hgprof_defer_locations(reader);
}
