#include "retype/legacy/stdlib.h"

#include <stdio.h>
#include <string.h>

enum { MOST_TEXT = 32, MOST_DEPTH = 8 };

/*
 * In words: "{ name TERM ... }" a record, "!name" if it is mutable; "| Name TERM ..." constructors;
 * "= TERM" an abbreviation; else a predefined representation.  TERM is a parameter by its number,
 * "_", a type, "@name" the type of that name beside this one, "$" this one itself, or a type
 * applied: "( array int )".
 */
static const struct known {
	const char *name;
	uint32_t parameters;
	const char *text;
} known[] = {
	{"list", 1, "| [] | :: 0 $"},
	{"option", 1, "| None | Some 0"},
	{"format6", 6, "string"},
	{"ref", 1, "{ !contents 0 }"},
	{"in_channel", 0, "custom"},
	{"out_channel", 0, "custom"},
	{"format4", 4, "string"},
	{"format", 3, "string"},
	{"Hashtbl.t", 2,
		"{ !size int !data ( array ( Hashtbl.bucketlist 0 1 ) ) !seed int initial_size int "
		"}"},
	{"Hashtbl.bucketlist", 2, "| Empty | Cons 0 1 $"},
	{"Hashtbl.Make.t", 1, "= ( Hashtbl.t @key 0 )"},
	{"Hashtbl.MakeSeeded.t", 1, "= ( Hashtbl.t @key 0 )"},
	{"Map.Make.t", 1, "| Empty | Node $ @key 0 $ int"},
	{"Set.Make.t", 0, "| Empty | Node $ @elt $ int"},
	{"Queue.t", 1, "{ !length int !tail ( Queue.cell 0 ) }"},
	{"Queue.cell", 1, "{ content 0 !next $ }"},
	{"Stack.t", 1, "{ !c ( list 0 ) }"},
	{"Buffer.t", 0, "{ !buffer string !position int !length int initial_buffer string }"},
	{"Random.State.t", 0, "{ st ( array int ) !idx int }"},
	{"Lazy.t", 1, "= ( lazy_t 0 )"},
	{"Weak.t", 1, "weak"},
	{"Obj.t", 0, "any"},
	{"Int32.t", 0, "= int32"},
	{"Int64.t", 0, "= int64"},
	{"Nativeint.t", 0, "= nativeint"},
	{"Char.t", 0, "= char"},
	{"String.t", 0, "= string"},
	{"Digest.t", 0, "= string"},
	{"Lexing.position", 0, "{ pos_fname string pos_lnum int pos_bol int pos_cnum int }"},
	{"Lexing.lexbuf", 0,
		"{ refill_buff _ !lex_buffer string !lex_buffer_len int !lex_abs_pos int "
		"!lex_start_pos int !lex_curr_pos int !lex_last_pos int !lex_last_action int "
		"!lex_eof_reached bool !lex_mem ( array int ) !lex_start_p Lexing.position "
		"!lex_curr_p Lexing.position }"},
	{"Bigarray.Genarray.t", 3, "custom"},
	{"Bigarray.Array1.t", 3, "custom"},
	{"Bigarray.Array2.t", 3, "custom"},
	{"Bigarray.Array3.t", 3, "custom"},
	{"Unix.file_descr", 0, "int"},
	{"Unix.inet_addr", 0, "string"},
};

enum { KNOWN = sizeof(known) / sizeof(*known) };

struct reading {
	struct cmt_reader *r;
	const char *next;
	uint32_t number, entry, bindings, parameters;
};

uint32_t cmt_stdlib_index(const char *name)
{
	for (uint32_t i = 0; i < KNOWN; i++)
		if (strcmp(known[i].name, name) == 0)
			return i;
	return RETYPE_NONE;
}

uint32_t cmt_stdlib_made(const char *made_by, const char *type)
{
	char name[64];
	int length = snprintf(name, sizeof(name), "%s.%s", made_by, type);
	return length > 0 && (size_t)length < sizeof(name) ? cmt_stdlib_index(name) : RETYPE_NONE;
}

uint32_t cmt_stdlib_parameters(uint32_t index)
{
	return known[index].parameters;
}

/* The next word, without moving past it. */
static size_t peek(struct reading *reading, char word[MOST_TEXT])
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

static void take(struct reading *reading, char word[MOST_TEXT])
{
	reading->next += peek(reading, word);
}

static struct retype_term itself(struct reading *reading)
{
	struct retype_term parameters[CMT_MOST_PARAMETERS];
	for (uint32_t i = 0; i < reading->parameters; i++)
		parameters[i] = retype_variable(reading->r->types, i);
	return retype_constructed(
		reading->r->types, reading->number, parameters, reading->parameters);
}

static struct retype_term named(struct reading *reading, const char *name,
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
static struct retype_term term(struct reading *reading)
{
	struct retype_term arguments[8];
	char word[MOST_TEXT], name[MOST_TEXT];
	uint32_t count = 0;
	take(reading, word);
	if (strcmp(word, "_") == 0)
		return RETYPE_NOTHING;
	if (strcmp(word, "$") == 0)
		return itself(reading);
	if (word[0] >= '0' && word[0] <= '9')
		return retype_variable(reading->r->types, (uint32_t)(word[0] - '0'));
	if (strcmp(word, "(") != 0)
		return named(reading, word, NULL, 0);
	take(reading, name);
	while (peek(reading, word) && strcmp(word, ")") != 0 && count < 8)
		arguments[count++] = term(reading);
	take(reading, word);
	return named(reading, name, arguments, count);
}

static void read_field(struct reading *reading, struct retype_field *field)
{
	char word[MOST_TEXT];
	take(reading, word);
	field->is_mutable = word[0] == '!';
	const char *name = word + field->is_mutable;
	field->name = retype_intern(reading->r->types, name, strlen(name));
	field->type = term(reading);
}

static void read_record(struct reading *reading, struct retype_declaration *out)
{
	char word[MOST_TEXT];
	struct retype_field *fields = cmt_alloc(reading->r, 16, sizeof(*fields));
	out->form = RETYPE_RECORD;
	take(reading, word);
	while (fields && peek(reading, word) && strcmp(word, "}") != 0 && out->field_count < 16)
		read_field(reading, &fields[out->field_count++]);
	out->fields = fields;
}

static void read_constructor(struct reading *reading, struct retype_constructor *out)
{
	char word[MOST_TEXT];
	struct retype_field *fields = cmt_alloc(reading->r, 8, sizeof(*fields));
	take(reading, word);
	take(reading, word);
	out->name = retype_intern(reading->r->types, word, strlen(word));
	while (fields && peek(reading, word) && strcmp(word, "|") != 0 && out->field_count < 8) {
		fields[out->field_count].name = "";
		fields[out->field_count++].type = term(reading);
	}
	out->is_constant = out->field_count == 0;
	out->fields = fields;
}

static void read_variant(struct reading *reading, struct retype_declaration *out)
{
	char word[MOST_TEXT];
	struct retype_constructor *constructors = cmt_alloc(reading->r, 4, sizeof(*constructors));
	out->form = RETYPE_VARIANT;
	while (constructors && peek(reading, word) && out->constructor_count < 4)
		read_constructor(reading, &constructors[out->constructor_count++]);
	out->constructors = constructors;
}

static void read_predefined(struct reading *reading, struct retype_declaration *out)
{
	char word[MOST_TEXT];
	take(reading, word);
	uint32_t base = retype_base_declaration(word);
	if (base != RETYPE_NONE)
		out->form = reading->r->types->declarations[base].form;
}

void cmt_stdlib_fill(struct cmt_reader *r, uint32_t index, uint32_t number, uint32_t entry,
	uint32_t bindings, struct retype_declaration *out)
{
	struct reading reading = {
		r, known[index].text, number, entry, bindings, known[index].parameters};
	char word[MOST_TEXT];
	peek(&reading, word);
	if (strcmp(word, "{") == 0) {
		read_record(&reading, out);
	} else if (strcmp(word, "|") == 0) {
		read_variant(&reading, out);
	} else if (strcmp(word, "=") == 0) {
		take(&reading, word);
		out->form = RETYPE_ALIAS;
		out->inner = term(&reading);
	} else {
		read_predefined(&reading, out);
	}
}
