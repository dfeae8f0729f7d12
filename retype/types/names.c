/*
 * The names of types, as OCaml writes them; parts that are too deep or too long are "...".
 */
#include "retype/types/names.h"

#include "retype/types/nodes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
	DEEPEST_NAME = 8,    /* what is below is "..." */
	LONGEST_NAME = 2000, /* from here on, too: terms share parts, their names do not */
};

struct writer {
	const struct retype_types *types;
	char *buffer;
	size_t size, length;
	unsigned depth;
};

/* How tightly what is around it binds; a weaker type is put in parentheses. */
enum binding { BINDS_ARROW, BINDS_TUPLE, BINDS_ARGUMENT };

static void put_text(struct writer *w, const char *string)
{
	for (; *string; string++, w->length++)
		if (w->length + 1 < w->size)
			w->buffer[w->length] = *string;
}

static void end_text(struct writer *w)
{
	if (w->size > 0)
		w->buffer[w->length < w->size ? w->length : w->size - 1] = '\0';
}

static void put_term(struct writer *w, struct retype_term term, enum binding around);

/* Terms with something between them; those that would be too long are "...". */
static void put_all(struct writer *w, struct retype_term term, const char *between)
{
	struct retype_node node = *retype_node_of(w->types, term);
	for (uint32_t i = 0; i < node.count; i++) {
		if (i > 0)
			put_text(w, between);
		if (w->length > LONGEST_NAME) {
			put_text(w, "...");
			break;
		}
		if (node.kind == RETYPE_TUPLE && node.names && node.names[i][0]) {
			put_text(w, node.names[i]);
			put_text(w, ":");
		}
		put_term(w, retype_argument(w->types, term, i),
			*between == ',' ? BINDS_ARROW : BINDS_ARGUMENT);
	}
}

static void put_variable(struct writer *w, uint32_t number)
{
	char name[16];
	if (number < 26)
		snprintf(name, sizeof(name), "'%c", (char)('a' + number));
	else
		snprintf(name, sizeof(name), "'a%u", number);
	put_text(w, name);
}

static void put_constructed(struct writer *w, struct retype_term term)
{
	const struct retype_node *node = retype_node_of(w->types, term);
	const struct retype_declaration *declaration = retype_declared(w->types, term);
	if (node->count == 1) {
		put_term(w, retype_argument(w->types, term, 0), BINDS_ARGUMENT);
		put_text(w, " ");
	} else if (node->count > 1) {
		put_text(w, "(");
		put_all(w, term, ", ");
		put_text(w, ") ");
	}
	put_text(w, declaration && declaration->name[0] ? declaration->name : "_");
}

/* The parameter of "?label:" is an option, of which OCaml writes only the inside. */
static void put_arrow(struct writer *w, struct retype_term term)
{
	const char *label = retype_node_of(w->types, term)->names[0];
	struct retype_term parameter = retype_argument(w->types, term, 0);
	const struct retype_declaration *declaration = retype_declared(w->types, parameter);
	if (label[0] == '?' && declaration && strcmp(declaration->name, "option") == 0)
		parameter = retype_argument(w->types, parameter, 0);
	if (label[0]) {
		put_text(w, label);
		put_text(w, ":");
	}
	put_term(w, parameter, BINDS_TUPLE);
	put_text(w, " -> ");
	put_term(w, retype_argument(w->types, term, 1), BINDS_ARROW);
}

/* The next of the names by the alphabet, as OCaml prints them: those of variants are kept by their
 * hashes.  'last' is NULL for the first one. */
static uint32_t next_name(const struct retype_node *node, const char *last)
{
	uint32_t found = 0;
	bool any = false;
	for (uint32_t i = 0; i < node->count; i++) {
		if (last && strcmp(node->names[i], last) <= 0)
			continue;
		if (!any || strcmp(node->names[i], node->names[found]) < 0)
			found = i;
		any = true;
	}
	return found;
}

static void put_named(struct writer *w, struct retype_term term)
{
	const struct retype_node *node = retype_node_of(w->types, term);
	bool is_object = node->kind == RETYPE_OBJECT;
	const char *last = NULL;
	put_text(w, is_object ? "<" : "[");
	for (uint32_t n = 0; n < node->count; n++) {
		uint32_t i = next_name(node, last);
		last = node->names[i];
		struct retype_term argument = retype_argument(w->types, term, i);
		put_text(w, n == 0 ? " " : is_object ? "; " : " | ");
		if (w->length > LONGEST_NAME) {
			put_text(w, "...");
			break;
		}
		if (!is_object)
			put_text(w, "`");
		put_text(w, node->names[i]);
		if (is_object || !retype_is(argument, RETYPE_NOTHING)) {
			put_text(w, is_object ? " : " : " of ");
			put_term(w, argument, BINDS_ARROW);
		}
	}
	put_text(w, is_object ? " >" : " ]");
}

static void put_module(struct writer *w, uint32_t layout)
{
	put_text(w, "(module ");
	put_text(w, layout < w->types->layout_count ? w->types->layouts[layout].name : "_");
	put_text(w, ")");
}

static void put_shown(struct writer *w, struct retype_term term)
{
	const struct retype_node *node = retype_node_of(w->types, term);
	switch (node->kind) {
	case RETYPE_MANY:
		put_text(w, "(...)");
		break;
	case RETYPE_VARIABLE:
		put_variable(w, node->number);
		break;
	case RETYPE_CONSTRUCTED:
		put_constructed(w, term);
		break;
	case RETYPE_TUPLE:
		put_all(w, term, " * ");
		if (node->count == 0)
			put_text(w, "()");
		break;
	case RETYPE_ARROW:
		put_arrow(w, term);
		break;
	case RETYPE_POLY_VARIANT:
	case RETYPE_OBJECT:
		put_named(w, term);
		break;
	case RETYPE_MODULE:
		put_module(w, node->number);
		break;
	case RETYPE_SET:
		put_text(w, "(");
		put_all(w, term, " | ");
		put_text(w, ")");
		break;
	default:
		put_text(w, "_");
	}
}

static void put_term(struct writer *w, struct retype_term term, enum binding around)
{
	base_assert(w->depth <= DEEPEST_NAME);
	enum retype_kind kind = (enum retype_kind)retype_node_of(w->types, term)->kind;
	bool is_enclosed = (kind == RETYPE_ARROW && around > BINDS_ARROW) ||
			   (kind == RETYPE_TUPLE && around > BINDS_TUPLE);
	if (w->depth >= DEEPEST_NAME || w->length > LONGEST_NAME) {
		put_text(w, "...");
		return;
	}
	w->depth++;
	if (is_enclosed)
		put_text(w, "(");
	put_shown(w, term);
	if (is_enclosed)
		put_text(w, ")");
	w->depth--;
}

size_t retype_name(
	const struct retype_types *types, struct retype_term term, char *buffer, size_t size)
{
	struct writer w = {.types = types, .buffer = buffer, .size = size};
	if (!retype_is(term, RETYPE_NOTHING))
		put_term(&w, term, BINDS_ARROW);
	end_text(&w);
	return w.length;
}
