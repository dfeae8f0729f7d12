/*
 * Types.type_declaration and Types.signature of 4.00.1.  What a library hides is completed from the
 * table of stdlib.c.
 */
#include "retype/legacy/declarations.h"

#include "retype/legacy/scopes.h"
#include "retype/legacy/stdlib.h"
#include "retype/legacy/unit.h"

/* Of Types.type_declaration and its type_kind. */
enum { DECLARED_PARAMETERS, DECLARED_KIND = 2, DECLARED_MANIFEST = 4 };
enum { KIND_RECORD, KIND_VARIANT };

/* Of Types.signature_item, what has a field in a module's block. */
enum { SIG_VALUE, SIG_EXCEPTION = 2, SIG_MODULE, SIG_CLASS = 5 };

enum { MOST_MEMBERS = 1 << 16 };

/* Variables of a type expression, as parameters of a context. */
static void gather_variables(const struct snap_marshal *m, struct snap_value type,
	struct cmt_context *context, unsigned depth)
{
	struct snap_value desc = snap_marshal_field(m, type, 0);
	if (depth > 16 || context->parameter_count == CMT_MOST_PARAMETERS)
		return;
	if (snap_marshal_tag(m, desc) == 0 || snap_marshal_tag(m, desc) == 9) {
		for (uint32_t i = 0; i < context->parameter_count; i++)
			if (snap_value_same(context->parameters[i], type))
				return;
		context->parameters[context->parameter_count++] = type;
		return;
	}
	/* Whatever they are: of paths and labels nothing looks like a variable's description. */
	for (uint32_t i = 0; i < snap_marshal_size(m, desc) && i < 4; i++) {
		struct snap_value part = snap_marshal_field(m, desc, i);
		struct cmt_list list = cmt_read_list(m, part);
		struct snap_value element;
		if (snap_marshal_size(m, part) == 3)
			gather_variables(m, part, context, depth + 1);
		for (unsigned left = 8; left && cmt_next(&list, &element); left--)
			gather_variables(m, element, context, depth + 1);
	}
}

/* The arguments of a constructor's own result, whose variables are not the type's parameters. */
static void read_cmt_result(struct cmt_reader *r, struct cmt_context *context,
	struct snap_value result, struct retype_constructor *out)
{
	const struct snap_marshal *m = &r->units[context->env.unit]->m;
	struct snap_value arguments = snap_marshal_field(m, snap_marshal_field(m, result, 0), 1);
	uint32_t count = cmt_length(m, arguments, CMT_MOST_PARAMETERS), i = 0;
	struct retype_term *terms = cmt_alloc(r, count, sizeof(*terms));
	struct cmt_list list = cmt_read_list(m, arguments);
	struct snap_value element;
	while (terms && i < count && cmt_next(&list, &element))
		terms[i++] = cmt_term(r, context, element);
	out->is_gadt = true;
	out->result = terms;
	out->result_count = i;
}

/* (ident, arguments, result option) */
static void read_cmt_constructor(struct cmt_reader *r, struct cmt_context *context,
	struct snap_value item, struct retype_constructor *out)
{
	const struct snap_marshal *m = &r->units[context->env.unit]->m;
	struct snap_value arguments = snap_marshal_field(m, item, 1);
	struct snap_value result = cmt_some(m, snap_marshal_field(m, item, 2));
	const char *name =
		cmt_string(r, m, snap_marshal_field(m, snap_marshal_field(m, item, 0), 1));
	struct cmt_context own = *context;
	out->name = name ? name : "";
	if (!snap_value_absent(result)) {
		own = cmt_new_context(r, context->env.unit, context->env.bindings);
		gather_variables(m, result, &own, 0);
		read_cmt_result(r, &own, result, out);
	}
	out->fields = cmt_argument_fields(r, &own, arguments, &out->field_count);
	out->is_constant = out->field_count == 0;
}

static void read_cmt_variant(struct cmt_reader *r, struct cmt_context *context,
	struct snap_value list, struct retype_declaration *out)
{
	const struct snap_marshal *m = &r->units[context->env.unit]->m;
	uint32_t count = cmt_length(m, list, MOST_MEMBERS), i = 0;
	struct cmt_list items = cmt_read_list(m, list);
	struct snap_value item;
	if (!cmt_spend(r, count))
		return;
	struct retype_constructor *constructors = cmt_alloc(r, count, sizeof(*constructors));
	for (; constructors && i < count && cmt_next(&items, &item); i++)
		read_cmt_constructor(r, context, item, &constructors[i]);
	out->form = RETYPE_VARIANT;
	out->constructors = constructors;
	out->constructor_count = i;
}

/* (ident, mutable, type) list; representation */
static void read_cmt_record(struct cmt_reader *r, struct cmt_context *context,
	struct snap_value kind, struct retype_declaration *out)
{
	const struct snap_marshal *m = &r->units[context->env.unit]->m;
	struct snap_value list = snap_marshal_field(m, kind, 0), item;
	uint32_t count = cmt_length(m, list, MOST_MEMBERS), i = 0;
	struct cmt_list items = cmt_read_list(m, list);
	if (!cmt_spend(r, count))
		return;
	struct retype_field *fields = cmt_alloc(r, count, sizeof(*fields));
	for (; fields && i < count && cmt_next(&items, &item); i++) {
		const char *name =
			cmt_string(r, m, snap_marshal_field(m, snap_marshal_field(m, item, 0), 1));
		fields[i].name = name ? name : "";
		fields[i].mutability =
			cmt_int(m, item, 1, 0) == 1 ? RETYPE_MUTABLE : RETYPE_IMMUTABLE;
		fields[i].type = cmt_term(r, context, snap_marshal_field(m, item, 2));
	}
	out->form = cmt_int(m, kind, 1, 0) == 1 ? RETYPE_FLOAT_RECORD : RETYPE_RECORD;
	out->fields = fields;
	out->field_count = i;
}

/* What the library has made of a type that an interface or an unknown functor hides. */
static uint32_t library_type(
	const struct cmt_reader *r, uint32_t number, const struct retype_declaration *declaration)
{
	const struct cmt_entry *entry = &r->entries[number];
	const struct cmt_scope *scope = &r->scopes[entry->scope];
	uint32_t index = RETYPE_NONE;
	if (scope->made_by)
		index = cmt_stdlib_made(scope->made_by, entry->name);
	else if (r->units[scope->unit]->is_interface)
		index = cmt_stdlib_index(declaration->name);
	return index != RETYPE_NONE && cmt_stdlib_parameters(index) == declaration->parameters
		       ? index
		       : RETYPE_NONE;
}

static void read_declaration(
	struct cmt_reader *r, const struct cmt_pending *pending, struct retype_declaration *out)
{
	struct cmt_entry entry = r->entries[pending->entry];
	const struct snap_marshal *m = cmt_entry_marshal(r, pending->entry);
	struct snap_value kind = snap_marshal_field(m, entry.node, DECLARED_KIND), parameter;
	struct snap_value manifest =
		cmt_some(m, snap_marshal_field(m, entry.node, DECLARED_MANIFEST));
	struct cmt_context context =
		cmt_new_context(r, r->scopes[entry.scope].unit, pending->bindings);
	struct cmt_list parameters =
		cmt_read_list(m, snap_marshal_field(m, entry.node, DECLARED_PARAMETERS));
	base_assert(context.parameter_count == 0);
	while (context.parameter_count < CMT_MOST_PARAMETERS && cmt_next(&parameters, &parameter))
		context.parameters[context.parameter_count++] = cmt_unlinked(m, parameter);
	uint32_t library = library_type(r, pending->entry, out);
	if (library != RETYPE_NONE) {
		cmt_stdlib_fill(
			r, library, pending->number, pending->entry, pending->bindings, out);
	} else if (!snap_value_absent(manifest)) {
		out->form = RETYPE_ALIAS;
		out->inner = cmt_term(r, &context, manifest);
	} else if (snap_marshal_tag(m, kind) == KIND_RECORD) {
		read_cmt_record(r, &context, kind, out);
	} else if (snap_marshal_tag(m, kind) == KIND_VARIANT) {
		read_cmt_variant(r, &context, snap_marshal_field(m, kind, 0), out);
	} else {
		out->form = RETYPE_ABSTRACT;
	}
}

/* Primitives have no field: value_description has type, kind, location. */
static bool is_primitive(const struct snap_marshal *m, struct snap_value value)
{
	struct snap_value kind = snap_marshal_field(m, value, 1);
	return snap_marshal_tag(m, kind) == 0;
}

/* Whether a signature_item has a field in the block of its module. */
static bool has_field(const struct snap_marshal *m, struct snap_value item)
{
	switch (snap_marshal_tag(m, item)) {
	case SIG_VALUE:
		return !is_primitive(m, snap_marshal_field(m, item, 1));
	case SIG_EXCEPTION:
	case SIG_MODULE:
	case SIG_CLASS:
		return true;
	default:
		return false;
	}
}

static struct retype_term member_type(
	struct cmt_reader *r, struct cmt_context *context, struct snap_value item)
{
	const struct snap_marshal *m = &r->units[context->env.unit]->m;
	struct snap_value what = snap_marshal_field(m, item, 1);
	if (snap_marshal_tag(m, item) == SIG_VALUE)
		return cmt_term(r, context, snap_marshal_field(m, what, 0));
	if (snap_marshal_tag(m, item) == SIG_EXCEPTION)
		return retype_base(r->types, "extcon");
	return RETYPE_NOTHING;
}

/* The last value of a name is the one that is exported. */
static bool is_hidden(struct base_map *last, uint64_t key, uint32_t index)
{
	uint32_t number;
	return base_map_number(last, key, &number) && number != index;
}

static uint64_t member_key(struct cmt_reader *r, const struct snap_marshal *m,
	struct snap_value item, const char **name)
{
	struct snap_value ident = snap_marshal_field(m, item, 0);
	*name = cmt_string(r, m, snap_marshal_field(m, ident, 1));
	return (uint64_t)(uintptr_t)*name << 3 | (uint64_t)snap_marshal_tag(m, item);
}

const struct retype_field *cmt_module_fields(struct cmt_reader *r, struct cmt_context *context,
	struct snap_value signature, uint32_t *count)
{
	const struct snap_marshal *m = &r->units[context->env.unit]->m;
	uint32_t most = cmt_length(m, signature, MOST_MEMBERS), i = 0;
	struct cmt_list items = cmt_read_list(m, signature);
	struct base_map last = {0};
	struct snap_value item;
	const char *name;
	if (!cmt_spend(r, most))
		most = 0;
	struct retype_field *fields = cmt_alloc(r, most, sizeof(*fields));
	for (; i < most && r->status == HG_OK && cmt_next(&items, &item); i++)
		r->status = base_map_set(&last, member_key(r, m, item, &name), i, r->error);
	*count = 0;
	items = cmt_read_list(m, signature);
	for (i = 0; fields && i < most && cmt_next(&items, &item); i++)
		if (has_field(m, item) && !is_hidden(&last, member_key(r, m, item, &name), i))
			fields[(*count)++] = (struct retype_field){
				.name = name ? name : "", .type = member_type(r, context, item)};
	base_map_release(&last);
	return fields;
}

static void complete_declaration(struct cmt_reader *r, const struct cmt_pending *pending)
{
	base_assert(pending->number < r->types->declaration_count);
	struct retype_declaration declaration = r->types->declarations[pending->number];
	uint32_t known = cmt_stdlib_index(declaration.name);
	if (pending->entry != RETYPE_NONE)
		read_declaration(r, pending, &declaration);
	else if (known != RETYPE_NONE)
		cmt_stdlib_fill(r, known, pending->number, RETYPE_NONE, RETYPE_NONE, &declaration);
	/* The array may have grown meanwhile. */
	r->types->declarations[pending->number] = declaration;
}

static void complete_layout(struct cmt_reader *r, const struct cmt_pending_layout *pending)
{
	const struct cmt_module *module = &pending->module;
	struct cmt_context context = cmt_new_context(r, module->unit, module->bindings);
	uint32_t count;
	const struct retype_field *fields = cmt_module_fields(r, &context, module->node, &count);
	base_assert(pending->number < r->types->layout_count);
	r->types->layouts[pending->number].fields = fields;
	r->types->layouts[pending->number].field_count = count;
}

void cmt_complete_declarations(struct cmt_reader *r)
{
	while ((r->pending_count || r->pending_layout_count) && r->status == HG_OK &&
		r->types->status == HG_OK) {
		if (r->pending_count) {
			struct cmt_pending pending = r->pending[--r->pending_count];
			complete_declaration(r, &pending);
		} else {
			struct cmt_pending_layout pending =
				r->pending_layouts[--r->pending_layout_count];
			complete_layout(r, &pending);
		}
	}
}
