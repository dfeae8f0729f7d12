/*
 * A unit's block has the fields of its interface, which the .cmti or .cmi tells; what its
 * initialisation defines one after the other is what bytecode keeps on the stack.
 */
#include "retype/legacy/units.h"

#include "retype/legacy/declarations.h"
#include "retype/legacy/files.h"
#include "retype/legacy/locations.h"
#include "retype/legacy/scopes.h"
#include "retype/legacy/unit.h"
#include "retype/legacy/walk.h"

#include <string.h>

/* The file with the interface of a unit; RETYPE_NONE if there is none. */
static uint32_t interface_of(struct cmt_reader *r, uint32_t unit)
{
	const char *name = r->units[unit]->name;
	for (uint32_t i = 0; i < r->file_count && r->status == HG_OK; i++) {
		uint32_t other;
		if (r->files[i].suffix == CMT_CMT ||
			!cmt_same_module(r->files[i].stem, name, strlen(name)))
			continue;
		r->status = cmt_open_file(r, i, &other);
		if (r->status == HG_OK && other != RETYPE_NONE &&
			strcmp(r->units[other]->name, name) == 0)
			return other;
	}
	return RETYPE_NONE;
}

/* Of Typedtree.structure_item_desc and pattern_desc. */
enum {
	ITEM_EVAL,
	ITEM_VALUE,
	ITEM_EXCEPTION = 4,
	ITEM_REBIND,
	ITEM_MODULE,
	ITEM_RECMODULE,
	ITEM_CLASS = 10,
	ITEM_INCLUDE = 12
};
enum { PATTERN_VARIABLE = 0, PATTERN_CONSTRUCT = 4 };

enum { MOST_DEFINITIONS = 1 << 16 };

struct definitions {
	struct retype_definition *all;
	uint64_t count, capacity;
};

static void append_definition(
	struct cmt_reader *r, struct definitions *out, struct retype_definition definition)
{
	if (r->status == HG_OK)
		r->status = base_grow(
			&out->all, out->count, &out->capacity, sizeof(*out->all), r->error);
	if (r->status == HG_OK && out->all)
		out->all[out->count++] = definition;
}

/* (pattern, expression): a variable, or something that binds none, or who knows what. */
static void define_value(struct cmt_reader *r, struct cmt_context *context, struct definitions *out,
	struct snap_value binding)
{
	const struct snap_marshal *m = &r->units[context->env.unit]->m;
	struct snap_value pattern = snap_marshal_field(m, binding, 0);
	struct snap_value desc = snap_marshal_field(m, pattern, 0);
	struct snap_value expression = snap_marshal_field(m, binding, 1);
	struct retype_definition definition = {.type = RETYPE_NOTHING};
	uint32_t wanted;
	int tag = snap_marshal_tag(m, desc);
	/* "_" and "()" */
	if (tag < 0 || (tag == PATTERN_CONSTRUCT &&
			       snap_marshal_tag(m, snap_marshal_field(m, desc, 3)) < 0))
		return;
	definition.is_unknown = tag != PATTERN_VARIABLE;
	definition.type = cmt_term(r, context, snap_marshal_field(m, pattern, 3));
	if (cmt_find_wanted(r, m, snap_marshal_field(m, expression, 1), &wanted)) {
		definition.file = r->wanted[wanted].file;
		definition.line = r->wanted[wanted].line;
		definition.start = r->wanted[wanted].start;
		definition.end = r->wanted[wanted].end;
	}
	append_definition(r, out, definition);
}

static void define_item(struct cmt_reader *r, struct cmt_context *context, struct definitions *out,
	struct snap_value item)
{
	const struct snap_marshal *m = &r->units[context->env.unit]->m;
	struct snap_value desc = snap_marshal_field(m, item, 0), binding;
	struct retype_definition definition = {.type = RETYPE_NOTHING};
	struct cmt_list list;
	switch (snap_marshal_tag(m, desc)) {
	case ITEM_VALUE:
		list = cmt_read_list(m, snap_marshal_field(m, desc, 1));
		while (out->count < MOST_DEFINITIONS && cmt_next(&list, &binding))
			define_value(r, context, out, binding);
		break;
	case ITEM_EXCEPTION:
	case ITEM_REBIND:
	case ITEM_MODULE:
		append_definition(r, out, definition);
		break;
	case ITEM_RECMODULE:
	case ITEM_CLASS:
	case ITEM_INCLUDE:
		definition.is_unknown = true;
		append_definition(r, out, definition);
		break;
	default:
		break;
	}
}

static void make_definitions(struct cmt_reader *r, uint32_t number, struct retype_unit *out)
{
	const struct cmt_unit *unit = r->units[number];
	struct cmt_context context = cmt_new_context(r, number, RETYPE_NONE);
	struct definitions definitions = {0};
	struct cmt_list items =
		cmt_read_list(&unit->m, snap_marshal_field(&unit->m, unit->tree, 0));
	struct snap_value item;
	if (unit->is_partial || unit->is_pack)
		return;
	while (definitions.count < MOST_DEFINITIONS && cmt_next(&items, &item))
		define_item(r, &context, &definitions, item);
	struct retype_definition *copy = cmt_alloc(r, definitions.count, sizeof(*copy));
	if (copy && definitions.count) {
		memcpy(copy, definitions.all, definitions.count * sizeof(*copy));
		out->definitions = copy;
		out->definition_count = (uint32_t)definitions.count;
	}
	free(definitions.all);
}

static void make_unit(struct cmt_reader *r, uint32_t number, struct retype_unit *out)
{
	const struct cmt_unit *unit = r->units[number];
	uint32_t facade = unit->is_interface || unit->has_no_interface || unit->is_pack
				  ? number
				  : interface_of(r, number);
	*out = (struct retype_unit){.name = unit->name,
		.source = unit->source,
		.builddir = unit->builddir,
		.from_interface = unit->is_interface};
	memcpy(out->crc, unit->digest, sizeof(out->crc));
	make_definitions(r, number, out);
	if (facade == RETYPE_NONE || unit->is_partial || unit->is_pack)
		return;
	cmt_unit_module(r, unit->name, number);
	if (!r->units[facade]->is_registered)
		cmt_walk(r, facade, NULL);
	struct cmt_context context = cmt_new_context(r, facade, RETYPE_NONE);
	out->fields = cmt_module_fields(r, &context, r->units[facade]->facade, &out->field_count);
	out->exported = out->field_count;
}

static int by_unit_name(const void *left, const void *right)
{
	return strcmp(((const struct retype_unit *)left)->name,
		((const struct retype_unit *)right)->name);
}

static int by_extension_name(const void *left, const void *right)
{
	return strcmp(((const struct retype_extension *)left)->name,
		((const struct retype_extension *)right)->name);
}

static void make_extensions(struct cmt_reader *r)
{
	uint64_t count = r->exception_count;
	struct retype_extension *extensions = cmt_alloc(r, count, sizeof(*extensions));
	for (uint64_t i = 0; extensions && i < count; i++) {
		struct cmt_exception e = r->exceptions[i];
		struct cmt_context context =
			cmt_new_context(r, r->scopes[e.scope].unit, RETYPE_NONE);
		extensions[i].name = cmt_qualified(r, e.scope, RETYPE_NONE, e.name);
		extensions[i].fields =
			cmt_argument_fields(r, &context, e.arguments, &extensions[i].field_count);
	}
	if (extensions && count)
		qsort(extensions, count, sizeof(*extensions), by_extension_name);
	r->types->extensions = extensions;
	r->types->extension_count = extensions ? (uint32_t)count : 0;
}

/* Only units that the locations led to, and their implementations: others are known by need. */
void cmt_make_units(struct cmt_reader *r)
{
	uint64_t count = r->unit_count;
	struct retype_unit *units = cmt_alloc(r, count, sizeof(*units));
	uint32_t made = 0;
	for (uint32_t i = 0; units && i < count; i++)
		if (r->units[i]->is_registered && !r->units[i]->is_interface)
			make_unit(r, i, &units[made++]);
	if (made)
		qsort(units, made, sizeof(*units), by_unit_name);
	r->types->units = units;
	r->types->unit_count = made;
	for (uint32_t i = 1; i < made; i++)
		base_assert(by_unit_name(&units[i - 1], &units[i]) <= 0);
	make_extensions(r);
}
