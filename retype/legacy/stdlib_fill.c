/*
 * Completes declarations from what the table of stdlib.c says of them, a word at a time.
 */
#include "retype/legacy/stdlib.h"

#include "base/assert.h"
#include "retype/legacy/declare.h"

#include <string.h>

enum { MOST_TEXT = 32 };

struct reading {
	struct cmt_reader *r;
	const char *next;
	uint32_t number, entry, bindings, parameters;
};

/* The next word, without moving past it. */
static size_t peek_word(struct reading *reading, char word[MOST_TEXT])
{
	while (*reading->next == ' ')
		reading->next++;
	size_t length = strcspn(reading->next, " ");
	if (length >= MOST_TEXT)
		length = MOST_TEXT - 1;
	memcpy(word, reading->next, length);
	word[length] = '\0';
	return length;
}

static void take_word(struct reading *reading, char word[MOST_TEXT])
{
	reading->next += peek_word(reading, word);
}

static struct retype_term applied_itself(struct reading *reading)
{
	struct retype_term parameters[CMT_MOST_PARAMETERS];
	for (uint32_t i = 0; i < reading->parameters; i++)
		parameters[i] = retype_variable(reading->r->types, i);
	return retype_constructed(
		reading->r->types, reading->number, parameters, reading->parameters);
}

static struct retype_term named_term(struct reading *reading, const char *name,
	const struct retype_term *arguments, uint32_t count)
{
	struct cmt_target target = {.entry = RETYPE_NONE, .bindings = RETYPE_NONE, .name = name};
	if (name[0] == '@') {
		if (reading->entry == RETYPE_NONE)
			return RETYPE_NOTHING;
		target = cmt_sibling(reading->r, reading->entry, reading->bindings, name + 1);
	} else {
		target.name = retype_intern(reading->r->types, name, strlen(name));
	}
	uint32_t declaration =
		target.name ? cmt_declaration(reading->r, &target, count) : RETYPE_NONE;
	return declaration == RETYPE_NONE
		       ? RETYPE_NOTHING
		       : retype_constructed(reading->r->types, declaration, arguments, count);
}

/* The texts are ours: what is in parentheses is closed again. */
static struct retype_term read_text_term(struct reading *reading)
{
	struct retype_term arguments[8];
	char word[MOST_TEXT], name[MOST_TEXT];
	uint32_t count = 0;
	take_word(reading, word);
	if (strcmp(word, "_") == 0)
		return RETYPE_NOTHING;
	if (strcmp(word, "$") == 0)
		return applied_itself(reading);
	if (word[0] >= '0' && word[0] <= '9') {
		base_assert((uint32_t)(word[0] - '0') < reading->parameters);
		return retype_variable(reading->r->types, (uint32_t)(word[0] - '0'));
	}
	if (strcmp(word, "(") != 0)
		return named_term(reading, word, NULL, 0);
	take_word(reading, name);
	while (peek_word(reading, word) && strcmp(word, ")") != 0 && count < 8)
		arguments[count++] = read_text_term(reading);
	take_word(reading, word);
	base_assert(strcmp(word, ")") == 0);
	return named_term(reading, name, arguments, count);
}

static void read_text_field(struct reading *reading, struct retype_field *field)
{
	char word[MOST_TEXT];
	take_word(reading, word);
	bool is_mutable = word[0] == '!';
	field->mutability = is_mutable ? RETYPE_MUTABLE : RETYPE_IMMUTABLE;
	const char *name = word + is_mutable;
	field->name = retype_intern(reading->r->types, name, strlen(name));
	field->type = read_text_term(reading);
}

static void read_text_record(struct reading *reading, struct retype_declaration *out)
{
	char word[MOST_TEXT];
	struct retype_field *fields = cmt_alloc(reading->r, 16, sizeof(*fields));
	out->form = RETYPE_RECORD;
	take_word(reading, word);
	while (fields && peek_word(reading, word) && strcmp(word, "}") != 0 &&
		out->field_count < 16)
		read_text_field(reading, &fields[out->field_count++]);
	out->fields = fields;
}

static void read_text_constructor(struct reading *reading, struct retype_constructor *out)
{
	char word[MOST_TEXT];
	struct retype_field *fields = cmt_alloc(reading->r, 8, sizeof(*fields));
	take_word(reading, word);
	take_word(reading, word);
	out->name = retype_intern(reading->r->types, word, strlen(word));
	while (fields && peek_word(reading, word) && strcmp(word, "|") != 0 &&
		out->field_count < 8) {
		fields[out->field_count].name = "";
		fields[out->field_count++].type = read_text_term(reading);
	}
	out->is_constant = out->field_count == 0;
	out->fields = fields;
}

static void read_text_variant(struct reading *reading, struct retype_declaration *out)
{
	char word[MOST_TEXT];
	struct retype_constructor *constructors = cmt_alloc(reading->r, 4, sizeof(*constructors));
	out->form = RETYPE_VARIANT;
	while (constructors && peek_word(reading, word) && out->constructor_count < 4)
		read_text_constructor(reading, &constructors[out->constructor_count++]);
	out->constructors = constructors;
}

static void read_text_base(struct reading *reading, struct retype_declaration *out)
{
	char word[MOST_TEXT];
	take_word(reading, word);
	uint32_t base = retype_base_declaration(word);
	if (base != RETYPE_NONE)
		out->form = reading->r->types->declarations[base].form;
}

void cmt_stdlib_fill(struct cmt_reader *r, uint32_t index, uint32_t number, uint32_t entry,
	uint32_t bindings, struct retype_declaration *out)
{
	struct reading reading = {
		r, cmt_stdlib_text(index), number, entry, bindings, cmt_stdlib_parameters(index)};
	char word[MOST_TEXT];
	peek_word(&reading, word);
	if (strcmp(word, "{") == 0) {
		read_text_record(&reading, out);
	} else if (strcmp(word, "|") == 0) {
		read_text_variant(&reading, out);
	} else if (strcmp(word, "=") == 0) {
		take_word(&reading, word);
		out->form = RETYPE_ALIAS;
		out->inner = read_text_term(&reading);
	} else {
		read_text_base(&reading, out);
	}
}
