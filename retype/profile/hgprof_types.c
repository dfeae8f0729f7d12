/*
 * Terms, declarations and layouts of exe.prof.  Terms may refer to later ones, but must be made
 * before the terms that have them: they are made depth first, without recursion.
 */
#include "retype/profile/hgprof_types.h"

#include "base/assert.h"
#include "base/grow.h"
#include "retype/types/nodes.h"

#include <string.h>

enum progress { UNMADE, BEGUN, MADE };

/* Parts of terms */

static enum hg_status add_part_id(
	const struct hgprof_reader *reader, struct hgprof_lists *lists, uint32_t id)
{
	BASE_TRY(base_grow(
		&lists->ids, lists->id_count, &lists->id_capacity, sizeof(id), reader->error));
	lists->ids[lists->id_count++] = id;
	return HG_OK;
}

static enum hg_status add_part_name(
	const struct hgprof_reader *reader, struct hgprof_lists *lists, const char *name)
{
	BASE_TRY(base_grow(&lists->names, lists->name_count, &lists->name_capacity, sizeof(name),
		reader->error));
	lists->names[lists->name_count++] = name;
	return HG_OK;
}

static enum hg_status read_ids(struct hgprof_reader *reader, struct hgprof_line *line)
{
	struct hgprof_word word;
	uint32_t id;
	while (hgprof_next_word(line, &word)) {
		BASE_TRY(hgprof_parse_number(
			reader, line, word, "term", (uint32_t)reader->terms.count, &id));
		BASE_TRY(add_part_id(reader, &reader->lists, id));
	}
	return HG_OK;
}

/* NAME:TERM or, of constant tags, NAME: RETYPE_NONE stands for their term. */
static enum hg_status read_named(
	struct hgprof_reader *reader, struct hgprof_line *line, bool may_be_constant)
{
	struct hgprof_word word, rest;
	while (hgprof_next_word(line, &word)) {
		uint32_t id = RETYPE_NONE;
		const char *name;
		if (hgprof_split(&word, &rest))
			BASE_TRY(hgprof_parse_number(
				reader, line, rest, "term", (uint32_t)reader->terms.count, &id));
		else if (!may_be_constant)
			return hgprof_bad(reader, line, word.text, "a name without a term");
		BASE_TRY(hgprof_unescape(reader, line, word, &name));
		BASE_TRY(add_part_id(reader, &reader->lists, id));
		BASE_TRY(add_part_name(reader, &reader->lists, name));
	}
	return HG_OK;
}

/* The record l of a tuple, if it follows: as many labels as there are parts. */
static enum hg_status read_labels(struct hgprof_reader *reader, struct hgprof_line line)
{
	struct hgprof_lists *lists = &reader->lists;
	struct hgprof_word word;
	if (!hgprof_next_line(reader, &line) || line.end - line.next < 2 ||
		memcmp(line.next, "l ", 2) != 0)
		return HG_OK;
	line.next += 2;
	while (hgprof_next_word(&line, &word)) {
		const char *label;
		BASE_TRY(hgprof_unescape(reader, &line, word, &label));
		BASE_TRY(add_part_name(reader, lists, label));
	}
	if (lists->name_count != lists->id_count)
		return hgprof_bad(reader, &line, line.end, "%llu labels for %llu parts of a tuple",
			(unsigned long long)lists->name_count, (unsigned long long)lists->id_count);
	return HG_OK;
}

/* A term as it is written: its kind, its number, and its parts in 'lists'. */
struct written {
	enum retype_kind kind;
	uint32_t number;
};

static enum hg_status read_term(
	struct hgprof_reader *reader, struct hgprof_line line, struct written *written)
{
	struct hgprof_word kind;
	const char *label;
	reader->lists.id_count = reader->lists.name_count = 0;
	*written = (struct written){RETYPE_UNKNOWN, 0};
	if (!hgprof_next_word(&line, &kind) || kind.length != 1)
		return hgprof_bad(reader, &line, line.next, "a term of no kind");
	switch (kind.text[0]) {
	case '?':
	case 'e':
		return HG_OK;
	case 'v':
		written->kind = RETYPE_VARIABLE;
		return hgprof_number(
			reader, &line, "parameter", RETYPE_MOST_VARIABLES, &written->number);
	case 'c':
		written->kind = RETYPE_CONSTRUCTED;
		BASE_TRY(hgprof_number(reader, &line, "declaration",
			(uint32_t)reader->declarations.count, &written->number));
		return read_ids(reader, &line);
	case 'T':
		written->kind = RETYPE_TUPLE;
		BASE_TRY(read_ids(reader, &line));
		return read_labels(reader, line);
	case 'F':
		written->kind = RETYPE_ARROW;
		BASE_TRY(hgprof_name(reader, &line, &label));
		BASE_TRY(add_part_name(reader, &reader->lists, label));
		BASE_TRY(read_ids(reader, &line));
		if (reader->lists.id_count < 2)
			return hgprof_bad(reader, &line, line.end, "a function without result");
		return HG_OK;
	case 'P':
		written->kind = RETYPE_POLY_VARIANT;
		return read_named(reader, &line, true);
	case 'O':
		written->kind = RETYPE_OBJECT;
		return read_named(reader, &line, false);
	case 'M':
		written->kind = RETYPE_MODULE;
		return hgprof_number(
			reader, &line, "layout", (uint32_t)reader->layouts.count, &written->number);
	default:
		return hgprof_bad(reader, &line, kind.text, "a term of unknown kind");
	}
}

static struct retype_term make_term(
	struct hgprof_reader *reader, struct written written, struct retype_term *parts)
{
	struct retype_types *types = reader->types;
	const struct hgprof_lists *lists = &reader->lists;
	uint32_t count = (uint32_t)lists->id_count;
	base_assert(written.kind != RETYPE_ARROW || (count > 1 && lists->name_count == 1));
	base_assert(written.kind != RETYPE_TUPLE || lists->name_count == 0 ||
		    lists->name_count == count);
	base_assert(written.kind != RETYPE_POLY_VARIANT || lists->name_count == count);
	base_assert(written.kind != RETYPE_OBJECT || lists->name_count == count);
	for (uint32_t i = 0; i < count; i++)
		parts[i] =
			lists->ids[i] == RETYPE_NONE ? RETYPE_NOTHING : reader->open[lists->ids[i]];
	switch (written.kind) {
	case RETYPE_VARIABLE:
		return retype_variable(types, written.number);
	case RETYPE_CONSTRUCTED:
		return retype_constructed(types, reader->declared[written.number], parts, count);
	case RETYPE_TUPLE:
		return lists->name_count > 0
			       ? retype_labelled_tuple(types, lists->names, parts, count)
			       : retype_tuple(types, parts, count);
	case RETYPE_ARROW:
		return retype_arrow(types, lists->names[0], parts[0], parts[1]);
	case RETYPE_POLY_VARIANT:
		return retype_poly_variant(types, lists->names, parts, count);
	case RETYPE_OBJECT:
		return retype_object(types, lists->names, parts, count);
	case RETYPE_MODULE:
		return retype_module(types, written.number);
	default:
		return RETYPE_NOTHING;
	}
}

/* What is on the way: terms to make, the parts of each above it. */
struct making {
	struct hgprof_reader *reader;
	uint8_t *progress;
	uint32_t *stack;
	uint64_t count, capacity;
};

static enum hg_status push_term(struct making *making, uint32_t id)
{
	BASE_TRY(base_grow(&making->stack, making->count, &making->capacity, sizeof(id),
		making->reader->error));
	making->stack[making->count++] = id;
	return HG_OK;
}

/* Makes the term on top, or pushes the parts that it waits for. */
static enum hg_status make_next_term(struct making *making)
{
	struct hgprof_reader *reader = making->reader;
	uint32_t id = making->stack[making->count - 1];
	base_assert(id < reader->terms.count);
	const struct hgprof_record *record = &reader->terms.all[id];
	struct written written;
	bool waits = false;
	if (making->progress[id] == MADE) {
		making->count--;
		return HG_OK;
	}
	BASE_TRY(read_term(reader, hgprof_line_of(reader, record), &written));
	const struct hgprof_lists *lists = &reader->lists;
	for (uint64_t i = 0; i < lists->id_count && making->progress[id] == UNMADE; i++) {
		uint32_t part = lists->ids[i];
		if (part == RETYPE_NONE || making->progress[part] == MADE)
			continue;
		if (making->progress[part] == BEGUN || part == id) {
			struct hgprof_line line = hgprof_line_of(reader, record);
			return hgprof_bad(
				reader, &line, line.next, "term %u is a part of itself", part);
		}
		BASE_TRY(push_term(making, part));
		waits = true;
	}
	making->progress[id] = BEGUN;
	if (waits)
		return HG_OK;
	struct retype_term *parts = calloc(lists->id_count + 1, sizeof(*parts));
	if (!parts)
		return base_no_memory(reader->error, lists->id_count * sizeof(*parts));
	reader->open[id] = make_term(reader, written, parts);
	free(parts);
	making->progress[id] = MADE;
	making->count--;
	return reader->types->status;
}

static enum hg_status make_all(struct making *making)
{
	for (uint32_t id = 0; id < making->reader->terms.count; id++) {
		BASE_TRY(push_term(making, id));
		while (making->count > 0)
			BASE_TRY(make_next_term(making));
		base_assert(making->progress[id] == MADE);
	}
	return HG_OK;
}

static enum hg_status make_terms(struct hgprof_reader *reader)
{
	uint64_t count = reader->terms.count;
	BASE_TRY(retype_nodes_reserve(reader->types, count));
	struct making making = {.reader = reader, .capacity = 64};
	making.progress = calloc(count + 1, sizeof(*making.progress));
	making.stack = calloc(making.capacity, sizeof(*making.stack));
	reader->open = calloc(count + 1, sizeof(*reader->open));
	enum hg_status status = HG_OK;
	if (!making.progress || !making.stack || !reader->open)
		status = base_no_memory(reader->error, count * sizeof(*reader->open));
	else
		status = make_all(&making);
	free(making.progress);
	free(making.stack);
	return status;
}

/* Types of values are closed: what has variables is unknown there. */
static enum hg_status close_terms(struct hgprof_reader *reader)
{
	uint64_t count = reader->terms.count;
	BASE_TRY(hgprof_alloc(reader, count, sizeof(*reader->closed), &reader->closed));
	for (uint64_t i = 0; i < count; i++) {
		reader->closed[i] = retype_instance(reader->types, reader->open[i], NULL, 0);
		base_assert(!retype_node_of(reader->types, reader->closed[i])->is_open);
		base_assert(
			retype_node_of(reader->types, reader->closed[i])->depth <= RETYPE_DEEPEST);
	}
	return reader->types->status;
}

/* Fields */

static enum hg_status read_named_field(const struct hgprof_reader *reader,
	const struct hgprof_line *line, struct hgprof_word word, bool closed,
	struct retype_field *field)
{
	struct hgprof_word term;
	uint32_t id;
	if (!hgprof_split(&word, &term))
		return hgprof_bad(reader, line, word.text, "a field without a term");
	field->mutability = RETYPE_IMMUTABLE;
	if (term.length > 0 && (term.text[0] == 'm' || term.text[0] == 'a')) {
		field->mutability = term.text[0] == 'm' ? RETYPE_MUTABLE : RETYPE_ATOMIC_FIELD;
		term.text++;
		term.length--;
	}
	BASE_TRY(hgprof_parse_number(
		reader, line, term, "term", (uint32_t)reader->terms.count, &id));
	field->type = closed ? reader->closed[id] : reader->open[id];
	return hgprof_unescape(reader, line, word, &field->name);
}

enum hg_status hgprof_fields(const struct hgprof_reader *reader, struct hgprof_line *line,
	bool closed, const struct retype_field **fields, uint32_t *count)
{
	struct retype_field *all;
	struct hgprof_word word;
	*count = hgprof_count_words(line);
	BASE_TRY(hgprof_alloc(reader, *count, sizeof(*all), &all));
	for (uint32_t i = 0; i < *count && hgprof_next_word(line, &word); i++)
		BASE_TRY(read_named_field(reader, line, word, closed, &all[i]));
	*fields = all;
	return HG_OK;
}

/* Declarations */

struct declared {
	const char *name;
	uint32_t parameters, origin;
	bool is_instance;
	struct hgprof_word kind;
};

static enum hg_status read_numbers(
	const struct hgprof_reader *reader, struct hgprof_line *line, struct declared *declared)
{
	struct hgprof_word word, part;
	uint32_t instance = 0, *numbers[] = {&declared->parameters, &declared->origin, &instance};
	if (!hgprof_next_word(line, &word))
		return hgprof_bad(
			reader, line, line->end, "ends where PARAMS/ORIGIN/SPEC is to be");
	for (unsigned i = 0; i < 3; i++) {
		const uint8_t *slash = i < 2 ? memchr(word.text, '/', word.length) : NULL;
		if (i < 2 && !slash)
			return hgprof_bad(reader, line, word.text, "no PARAMS/ORIGIN/SPEC");
		part = word;
		if (slash) {
			part.length = (size_t)(slash - word.text);
			word.text = slash + 1;
			word.length -= part.length + 1;
		}
		BASE_TRY(hgprof_parse_number(reader, line, part, "declaration",
			i == 0 ? RETYPE_MOST_VARIABLES : RETYPE_NONE, numbers[i]));
	}
	declared->is_instance = instance != 0;
	return HG_OK;
}

static enum hg_status read_declared(
	const struct hgprof_reader *reader, struct hgprof_line *line, struct declared *declared)
{
	BASE_TRY(hgprof_name(reader, line, &declared->name));
	BASE_TRY(read_numbers(reader, line, declared));
	if (!hgprof_next_word(line, &declared->kind))
		return hgprof_bad(reader, line, line->end, "a declaration of no kind");
	return HG_OK;
}

static bool is_word(struct hgprof_word word, const char *kind)
{
	return word.length == strlen(kind) && memcmp(word.text, kind, word.length) == 0;
}

/*
 * Predefined types are in the table already, whatever the file says of them.  Only they have names
 * without a module, and those of the standard library are so represented.
 */
static uint32_t predefined_number(
	const struct hgprof_reader *reader, const struct declared *declared)
{
	bool is_base = is_word(declared->kind, "B") || is_word(declared->kind, "X");
	for (uint32_t i = 0; i < reader->types->declaration_count; i++) {
		const struct retype_declaration *known = &reader->types->declarations[i];
		if (!known->base)
			break;
		if (strcmp(known->name, declared->name) == 0 &&
			(is_base || (known->form == RETYPE_IMMEDIATE && declared->parameters == 0)))
			return i;
	}
	return RETYPE_NONE;
}

/* Gives every declaration a number, so that terms can refer to it. */
static enum hg_status number_declarations(struct hgprof_reader *reader)
{
	uint64_t count = reader->declarations.count;
	reader->declared = calloc(count + 1, sizeof(*reader->declared));
	if (!reader->declared)
		return base_no_memory(reader->error, count * sizeof(*reader->declared));
	for (uint64_t i = 0; i < count; i++) {
		struct hgprof_line line = hgprof_line_of(reader, &reader->declarations.all[i]);
		struct declared declared = {0};
		BASE_TRY(read_declared(reader, &line, &declared));
		uint32_t number = predefined_number(reader, &declared);
		if (number == RETYPE_NONE)
			number = retype_declare(
				reader->types, &(struct retype_declaration){.name = declared.name,
						       .parameters = declared.parameters,
						       .origin = declared.origin,
						       .is_instance = declared.is_instance,
						       .form = RETYPE_ABSTRACT});
		if (number == RETYPE_NONE)
			return reader->types->status;
		base_assert(number < reader->types->declaration_count);
		reader->declared[i] = number;
	}
	return HG_OK;
}

static enum hg_status read_base(const struct hgprof_reader *reader, struct hgprof_line *line,
	struct retype_declaration *declaration)
{
	const uint8_t *at = line->next;
	BASE_TRY(hgprof_name(reader, line, &declaration->base));
	if (!retype_base_form(declaration->base, &declaration->form))
		return hgprof_bad(reader, line, at, "'%s' is no predefined representation",
			declaration->base);
	return HG_OK;
}

/* The arguments of a constructor's result: numbers up to ';' or the end of the line. */
static enum hg_status read_result(const struct hgprof_reader *reader, struct hgprof_line *line,
	struct retype_constructor *constructor)
{
	struct hgprof_line rest = *line;
	struct hgprof_word word;
	struct retype_term *result;
	uint32_t id;
	while (hgprof_next_word(&rest, &word) && !is_word(word, ";"))
		constructor->result_count++;
	BASE_TRY(hgprof_alloc(reader, constructor->result_count, sizeof(*result), &result));
	for (uint32_t i = 0; i < constructor->result_count; i++) {
		BASE_TRY(hgprof_number(reader, line, "term", (uint32_t)reader->terms.count, &id));
		result[i] = reader->open[id];
	}
	*line = rest;
	constructor->result = result;
	constructor->is_gadt = true;
	return HG_OK;
}

static enum hg_status read_unboxed(const struct hgprof_reader *reader, struct hgprof_line *line,
	struct retype_declaration *declaration)
{
	struct hgprof_word word;
	uint32_t id;
	BASE_TRY(hgprof_name(reader, line, &declaration->unboxed.name));
	BASE_TRY(hgprof_number(reader, line, "term", (uint32_t)reader->terms.count, &id));
	declaration->form = RETYPE_UNBOXED;
	declaration->inner = reader->open[id];
	if (hgprof_next_word(line, &word) && is_word(word, "="))
		return read_result(reader, line, &declaration->unboxed);
	return HG_OK;
}

static enum hg_status read_either(const struct hgprof_reader *reader, struct hgprof_line *line,
	struct retype_declaration *declaration)
{
	struct retype_field *fields;
	uint32_t count = hgprof_count_words(line), id;
	BASE_TRY(hgprof_alloc(reader, count, sizeof(*fields), &fields));
	for (uint32_t i = 0; i < count; i++) {
		BASE_TRY(hgprof_number(reader, line, "term", (uint32_t)reader->terms.count, &id));
		fields[i] = (struct retype_field){.name = "", .type = reader->open[id]};
	}
	declaration->form = RETYPE_EITHER;
	declaration->field_count = count;
	declaration->fields = fields;
	return HG_OK;
}

static enum hg_status read_constructor(const struct hgprof_reader *reader, struct hgprof_line *line,
	struct retype_constructor *constructor)
{
	struct hgprof_word kind, word;
	BASE_TRY(hgprof_name(reader, line, &constructor->name));
	if (!hgprof_next_word(line, &kind) || kind.length != 1 || !memchr("cbr", kind.text[0], 3))
		return hgprof_bad(reader, line, line->next, "a constructor of no kind");
	constructor->is_constant = kind.text[0] == 'c';
	constructor->is_record = kind.text[0] == 'r';
	struct hgprof_line rest = *line;
	if (hgprof_next_word(&rest, &word) && is_word(word, "=")) {
		*line = rest;
		BASE_TRY(read_result(reader, line, constructor));
	}
	return hgprof_fields(reader, line, false, &constructor->fields, &constructor->field_count);
}

/* The records k that follow. */
static enum hg_status read_variant(const struct hgprof_reader *reader, struct hgprof_line line,
	struct retype_declaration *declaration)
{
	struct retype_constructor *constructors;
	uint32_t count, most = reader->counts['k'] + 1;
	BASE_TRY(hgprof_number(reader, &line, "constructor", most, &count));
	BASE_TRY(hgprof_alloc(reader, count, sizeof(*constructors), &constructors));
	for (uint32_t i = 0; i < count;) {
		uint32_t number = line.number;
		if (!hgprof_next_line(reader, &line))
			return hgprof_bad(
				reader, &line, line.end, "%u constructors are missing", count - i);
		if (line.end - line.next > 2 && line.next[0] == 'k' && line.next[1] == ' ') {
			line.next++;
			BASE_TRY(read_constructor(reader, &line, &constructors[i++]));
		} else if (line.next < line.end && strchr("uDtmgvxCfFGLz", line.next[0])) {
			return hgprof_bad(reader, &line, line.next,
				"%u constructors of the type of line %u are missing", count - i,
				number);
		}
	}
	declaration->form = RETYPE_VARIANT;
	declaration->constructor_count = count;
	declaration->constructors = constructors;
	return HG_OK;
}

static enum hg_status read_kind(const struct hgprof_reader *reader, struct hgprof_line line,
	struct hgprof_word kind, struct retype_declaration *declaration)
{
	uint32_t id;
	if (is_word(kind, "B"))
		return read_base(reader, &line, declaration);
	if (is_word(kind, "A")) {
		BASE_TRY(hgprof_number(reader, &line, "term", (uint32_t)reader->terms.count, &id));
		declaration->form = RETYPE_ALIAS;
		declaration->inner = reader->open[id];
		return HG_OK;
	}
	if (is_word(kind, "R") || is_word(kind, "FR")) {
		declaration->form = kind.length == 1 ? RETYPE_RECORD : RETYPE_FLOAT_RECORD;
		return hgprof_fields(
			reader, &line, false, &declaration->fields, &declaration->field_count);
	}
	if (is_word(kind, "E"))
		return read_either(reader, &line, declaration);
	if (is_word(kind, "U"))
		return read_unboxed(reader, &line, declaration);
	if (is_word(kind, "X")) {
		declaration->form = RETYPE_EXTENSIBLE;
		return HG_OK;
	}
	if (is_word(kind, "V"))
		return read_variant(reader, line, declaration);
	if (is_word(kind, "O"))
		return HG_OK;
	return hgprof_bad(reader, &line, kind.text, "a declaration of unknown kind");
}

static enum hg_status read_declarations(struct hgprof_reader *reader)
{
	for (uint64_t i = 0; i < reader->declarations.count; i++) {
		struct retype_declaration *known =
			&reader->types->declarations[reader->declared[i]];
		struct retype_declaration ignored, *declaration = known->base ? &ignored : known;
		struct hgprof_line line = hgprof_line_of(reader, &reader->declarations.all[i]);
		struct declared declared = {0};
		BASE_TRY(read_declared(reader, &line, &declared));
		ignored = *known;
		BASE_TRY(read_kind(reader, line, declared.kind, declaration));
	}
	return HG_OK;
}

static enum hg_status read_layouts(struct hgprof_reader *reader)
{
	for (uint64_t i = 0; i < reader->layouts.count; i++) {
		struct hgprof_line line = hgprof_line_of(reader, &reader->layouts.all[i]);
		struct retype_layout layout = {0};
		BASE_TRY(hgprof_name(reader, &line, &layout.name));
		BASE_TRY(hgprof_fields(reader, &line, true, &layout.fields, &layout.field_count));
		if (retype_add_layout(reader->types, &layout) == RETYPE_NONE)
			return reader->types->status;
	}
	return HG_OK;
}

enum hg_status hgprof_read_types(struct hgprof_reader *reader)
{
	BASE_TRY(number_declarations(reader));
	BASE_TRY(make_terms(reader));
	BASE_TRY(read_declarations(reader));
	BASE_TRY(close_terms(reader));
	return read_layouts(reader);
}
