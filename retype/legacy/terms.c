/*
 * Types.type_expr of 4.00.1: graphs with links, which may be cyclic.  What is being converted is
 * unknown inside itself, and a term is converted once in each context.
 */
#include "retype/legacy/terms.h"

#include "retype/legacy/scopes.h"

#include <string.h>

/* Of Types.type_desc. */
enum {
	TYPE_VAR,
	TYPE_ARROW,
	TYPE_TUPLE,
	TYPE_CONSTR,
	TYPE_OBJECT,
	TYPE_FIELD,
	TYPE_LINK,
	TYPE_SUBST,
	TYPE_VARIANT,
	TYPE_UNIVAR,
	TYPE_POLY,
	TYPE_PACKAGE
};

/* Of Types.row_field. */
enum { ROW_PRESENT, ROW_EITHER };

enum { MOST_ARGUMENTS = 4096 };

static struct retype_term term_of_type(
	struct cmt_reader *r, struct cmt_context *context, struct snap_value type, unsigned depth);

static void *scratch_alloc(struct cmt_reader *r, uint64_t count, size_t size)
{
	void *memory = NULL;
	if (r->status == HG_OK)
		r->status = base_pool_alloc(&r->scratch, count, size, &memory, r->error);
	return memory;
}

struct cmt_context cmt_new_context(struct cmt_reader *r, uint32_t unit, uint32_t bindings)
{
	return (struct cmt_context){.env = {unit, bindings}, .generation = ++r->generation};
}

/* Without links; absent when they lead nowhere. */
struct snap_value cmt_unlinked(const struct snap_marshal *m, struct snap_value type)
{
	for (uint32_t left = CMT_MOST_LIST; left; left--) {
		struct snap_value desc = snap_marshal_field(m, type, 0);
		int tag = snap_marshal_tag(m, desc);
		if (tag != TYPE_LINK && tag != TYPE_SUBST)
			return type;
		type = snap_marshal_field(m, desc, 0);
	}
	return (struct snap_value){0};
}

/* The terms of a list, in memory of their own; at most MOST_ARGUMENTS. */
static struct retype_term *terms_of_list(struct cmt_reader *r, struct cmt_context *context,
	struct snap_value list, uint32_t *count, unsigned depth)
{
	const struct snap_marshal *m = cmt_context_marshal(r, context);
	uint32_t length = cmt_length(m, list, MOST_ARGUMENTS), i = 0;
	struct cmt_list cells = cmt_read_list(m, list);
	struct snap_value element;
	base_assert(depth <= CMT_MOST_TYPE_DEPTH + 1);
	*count = 0;
	if (!cmt_spend(r, length))
		return NULL;
	struct retype_term *terms = scratch_alloc(r, length + 1, sizeof(*terms));
	if (!terms)
		return NULL;
	for (; i < length && cmt_next(&cells, &element); i++)
		terms[i] = term_of_type(r, context, element, depth);
	*count = i;
	return terms;
}

const struct retype_field *cmt_argument_fields(
	struct cmt_reader *r, struct cmt_context *context, struct snap_value list, uint32_t *count)
{
	struct retype_term *terms = terms_of_list(r, context, list, count, 0);
	struct retype_field *fields = cmt_alloc(r, *count, sizeof(*fields));
	if (!terms || !fields)
		return NULL;
	for (uint32_t i = 0; i < *count; i++)
		fields[i] = (struct retype_field){.name = "", .type = terms[i]};
	return fields;
}

/* A path applied to a list of types, the first 'skip' of them left out. */
static struct retype_term constructed_term(struct cmt_reader *r, struct cmt_context *context,
	struct snap_value path, struct snap_value list, uint32_t skip, unsigned depth)
{
	uint32_t count;
	struct cmt_target target = cmt_resolve_type(r, context->env, path);
	struct retype_term *arguments = terms_of_list(r, context, list, &count, depth);
	if (!arguments || !target.name || count < skip)
		return RETYPE_NOTHING;
	uint32_t declaration = cmt_declaration(r, &target, count - skip);
	if (declaration == RETYPE_NONE)
		return RETYPE_NOTHING;
	return retype_constructed(r->types, declaration, arguments + skip, count - skip);
}

/* A type by the name that the programmer gave it: (path, types) option ref or option. */
static struct retype_term by_its_name(struct cmt_reader *r, struct cmt_context *context,
	struct snap_value name, uint32_t skip, unsigned depth)
{
	const struct snap_marshal *m = cmt_context_marshal(r, context);
	if (snap_marshal_size(m, name) != 2)
		return RETYPE_NOTHING;
	return constructed_term(r, context, snap_marshal_field(m, name, 0),
		snap_marshal_field(m, name, 1), skip, depth);
}

/* Named parts that are being gathered, before they are sorted. */
struct part {
	const char *name;
	int32_t hash;
	struct retype_term type;
};

struct parts {
	struct part *parts;
	uint64_t count, capacity;
};

static void add_part(struct cmt_reader *r, struct parts *parts, struct part part)
{
	if (!part.name || parts->count >= MOST_ARGUMENTS || r->status != HG_OK)
		return;
	r->status = base_grow(
		&parts->parts, parts->count, &parts->capacity, sizeof(*parts->parts), r->error);
	if (r->status == HG_OK && parts->parts)
		parts->parts[parts->count++] = part;
}

static int by_tag_hash(const void *left, const void *right)
{
	const struct part *a = left, *b = right;
	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int by_part_name(const void *left, const void *right)
{
	return strcmp(((const struct part *)left)->name, ((const struct part *)right)->name);
}

static struct retype_term finish_parts(struct cmt_reader *r, struct parts *parts, bool is_variant)
{
	struct retype_term result = RETYPE_NOTHING;
	uint32_t kept = 0;
	const char **names = scratch_alloc(r, parts->count, sizeof(*names));
	struct retype_term *types = scratch_alloc(r, parts->count, sizeof(*types));
	if (parts->count)
		qsort(parts->parts, parts->count, sizeof(*parts->parts),
			is_variant ? by_tag_hash : by_part_name);
	for (uint64_t i = 0; names && types && i < parts->count; i++) {
		if (kept && strcmp(names[kept - 1], parts->parts[i].name) == 0)
			continue;
		names[kept] = parts->parts[i].name;
		types[kept++] = parts->parts[i].type;
	}
	base_assert(kept <= parts->count);
	free(parts->parts);
	if (names && types)
		result = is_variant ? retype_poly_variant(r->types, names, types, kept)
				    : retype_object(r->types, names, types, kept);
	return result;
}

/* Tfield[name; kind; type; rest] ... */
static struct retype_term object_term(
	struct cmt_reader *r, struct cmt_context *context, struct snap_value desc, unsigned depth)
{
	const struct snap_marshal *m = cmt_context_marshal(r, context);
	/* A contents of (class, row variable :: arguments). */
	struct snap_value name = cmt_some(m, cmt_some(m, snap_marshal_field(m, desc, 1)));
	struct retype_term named = by_its_name(r, context, name, 1, depth);
	struct snap_value rest = cmt_unlinked(m, snap_marshal_field(m, desc, 0));
	struct parts parts = {0};
	if (named.n)
		return named;
	for (uint32_t left = MOST_ARGUMENTS; left; left--) {
		struct snap_value field = snap_marshal_field(m, rest, 0);
		if (snap_marshal_tag(m, field) != TYPE_FIELD)
			break;
		const char *label = cmt_string(r, m, snap_marshal_field(m, field, 0));
		struct snap_value type = snap_marshal_field(m, field, 2);
		/* The compiler hides one in the type of self. */
		if (label && strcmp(label, "*dummy method*") != 0)
			add_part(r, &parts,
				(struct part){.name = label,
					.type = term_of_type(r, context, type, depth)});
		rest = cmt_unlinked(m, snap_marshal_field(m, field, 3));
	}
	return finish_parts(r, &parts, false);
}

/* What a tag that may be there has become: Reither[constant; types; matched; row_field option ref]
 */
static struct snap_value resolved_field(const struct snap_marshal *m, struct snap_value field)
{
	for (uint32_t left = MOST_ARGUMENTS; left; left--) {
		struct snap_value becomes =
			cmt_some(m, cmt_some(m, snap_marshal_field(m, field, 3)));
		if (snap_marshal_tag(m, field) != ROW_EITHER || snap_value_absent(becomes))
			break;
		field = becomes;
	}
	return field;
}

static void add_tag(struct cmt_reader *r, struct cmt_context *context, struct parts *parts,
	struct snap_value pair, unsigned depth)
{
	const struct snap_marshal *m = cmt_context_marshal(r, context);
	struct snap_value field = resolved_field(m, snap_marshal_field(m, pair, 1));
	struct part part = {.name = cmt_string(r, m, snap_marshal_field(m, pair, 0))};
	struct snap_value type = {0};
	if (snap_marshal_tag(m, field) == ROW_PRESENT)
		type = cmt_some(m, snap_marshal_field(m, field, 0));
	else if (snap_marshal_tag(m, field) == ROW_EITHER)
		type = snap_marshal_field(m, snap_marshal_field(m, field, 1), 0);
	else
		return;
	if (!part.name)
		return;
	part.hash = retype_hash_name(part.name);
	part.type =
		snap_value_absent(type) ? RETYPE_NOTHING : term_of_type(r, context, type, depth);
	add_part(r, parts, part);
}

/* row_desc: fields, more, bound, closed, fixed, name.  'more' may be the rest of the row. */
static struct retype_term variant_term(
	struct cmt_reader *r, struct cmt_context *context, struct snap_value row, unsigned depth)
{
	const struct snap_marshal *m = cmt_context_marshal(r, context);
	struct parts parts = {0};
	struct retype_term named =
		by_its_name(r, context, cmt_some(m, snap_marshal_field(m, row, 5)), 0, depth);
	if (named.n)
		return named;
	for (uint32_t left = MOST_ARGUMENTS; left && !snap_value_absent(row); left--) {
		struct cmt_list fields = cmt_read_list(m, snap_marshal_field(m, row, 0));
		struct snap_value pair;
		while (parts.count < MOST_ARGUMENTS && cmt_next(&fields, &pair))
			add_tag(r, context, &parts, pair, depth);
		struct snap_value more = cmt_unlinked(m, snap_marshal_field(m, row, 1));
		struct snap_value desc = snap_marshal_field(m, more, 0);
		row = snap_marshal_tag(m, desc) == TYPE_VARIANT ? snap_marshal_field(m, desc, 0)
								: (struct snap_value){0};
	}
	return finish_parts(r, &parts, true);
}

/* A first-class module: the block of a module of that signature. */
static struct retype_term package_term(
	struct cmt_reader *r, struct cmt_context *context, struct snap_value desc)
{
	struct cmt_module module = cmt_resolve_module_type(
		r, context->env, snap_marshal_field(cmt_context_marshal(r, context), desc, 0));
	if (module.kind != CMT_STRUCTURE)
		return RETYPE_NOTHING;
	uint32_t layout = cmt_layout(r, &module);
	return layout == RETYPE_NONE ? RETYPE_NOTHING : retype_module(r->types, layout);
}

static struct retype_term variable_term(
	struct cmt_reader *r, const struct cmt_context *context, struct snap_value type)
{
	base_assert(context->parameter_count <= CMT_MOST_PARAMETERS);
	for (uint32_t i = 0; i < context->parameter_count; i++)
		if (snap_value_same(context->parameters[i], type))
			return retype_variable(r->types, i);
	return RETYPE_NOTHING;
}

static struct retype_term convert_type(
	struct cmt_reader *r, struct cmt_context *context, struct snap_value type, unsigned depth)
{
	const struct snap_marshal *m = cmt_context_marshal(r, context);
	struct snap_value desc = snap_marshal_field(m, type, 0);
	struct snap_value first = snap_marshal_field(m, desc, 0);
	switch (snap_marshal_tag(m, desc)) {
	case TYPE_VAR:
	case TYPE_UNIVAR:
		return variable_term(r, context, type);
	case TYPE_ARROW: {
		const char *label = cmt_string(r, m, first);
		struct retype_term from =
			term_of_type(r, context, snap_marshal_field(m, desc, 1), depth);
		struct retype_term to =
			term_of_type(r, context, snap_marshal_field(m, desc, 2), depth);
		return retype_arrow(r->types, label ? label : "", from, to);
	}
	case TYPE_TUPLE: {
		uint32_t count;
		struct retype_term *parts = terms_of_list(r, context, first, &count, depth);
		return parts ? retype_tuple(r->types, parts, count) : RETYPE_NOTHING;
	}
	case TYPE_CONSTR:
		return constructed_term(
			r, context, first, snap_marshal_field(m, desc, 1), 0, depth);
	case TYPE_OBJECT:
		return object_term(r, context, desc, depth);
	case TYPE_VARIANT:
		return variant_term(r, context, first, depth);
	case TYPE_POLY:
		return term_of_type(r, context, first, depth);
	case TYPE_PACKAGE:
		return package_term(r, context, desc);
	default:
		return RETYPE_NOTHING;
	}
}

/* What is being converted is unknown inside itself: recursive types are cut there. */
static struct retype_term term_of_type(
	struct cmt_reader *r, struct cmt_context *context, struct snap_value type, unsigned depth)
{
	const struct snap_marshal *m = cmt_context_marshal(r, context);
	uint32_t number = 0;
	type = cmt_unlinked(m, type);
	uint64_t key = (uint64_t)context->generation << 32 | type.bits;
	if (snap_marshal_tag(m, type) != 0 || depth > CMT_MOST_TYPE_DEPTH || !r->budget ||
		r->status != HG_OK)
		return RETYPE_NOTHING;
	if (base_map_number(&r->terms, key, &number)) {
		base_assert(number < retype_term_count(r->types));
		return (struct retype_term){number};
	}
	r->budget--;
	r->status = base_map_set(&r->terms, key, 0, r->error);
	if (r->status != HG_OK)
		return RETYPE_NOTHING;
	struct retype_term term = convert_type(r, context, type, depth + 1);
	if (r->status == HG_OK)
		r->status = base_map_set(&r->terms, key, term.n, r->error);
	return term;
}

struct retype_term cmt_term(
	struct cmt_reader *r, struct cmt_context *context, struct snap_value type)
{
	return term_of_type(r, context, type, 0);
}
