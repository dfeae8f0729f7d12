/*
 * Modules: what paths and module expressions stand for.  A signature that hides a structure is
 * looked through: values have the types of the structure.
 */
#include "retype/legacy/modules.h"

#include "retype/legacy/scopes.h"
#include "retype/legacy/unit.h"
#include "retype/legacy/walk.h"

#include <stdio.h>
#include <string.h>

/* Path.t, Typedtree.module_expr_desc, Types.module_type. */
enum { PATH_IDENT, PATH_DOT, PATH_APPLY };
enum { EXPR_IDENT, EXPR_STRUCTURE, EXPR_FUNCTOR, EXPR_APPLY, EXPR_CONSTRAINT, EXPR_UNPACK };
enum { MTY_IDENT, MTY_SIGNATURE, MTY_FUNCTOR };

enum { MOST_NAME = 1000 };

static const struct cmt_module no_module = {.scope = RETYPE_NONE, .bindings = RETYPE_NONE};
static const struct cmt_target no_target = {.entry = RETYPE_NONE, .bindings = RETYPE_NONE};

/* These call each other on parts of what they got; 'depth' and the work budget bound them. */
static struct cmt_module module_path(
	struct cmt_reader *r, struct cmt_environment env, struct snap_value path, unsigned depth);
static struct cmt_module module_expr(
	struct cmt_reader *r, struct cmt_environment env, struct snap_value expr, unsigned depth);
static struct cmt_module module_type(struct cmt_reader *r, struct cmt_environment env,
	struct snap_value type, uint32_t parent, const char *name, unsigned depth);
static struct cmt_module entry_module(
	struct cmt_reader *r, uint32_t entry, uint32_t bindings, unsigned depth);

static bool is_exhausted(struct cmt_reader *r, unsigned depth)
{
	if (r->status != HG_OK || !r->budget || depth > CMT_MOST_MODULE_DEPTH)
		return true;
	r->budget--;
	return false;
}

static const struct snap_marshal *marshal_in(const struct cmt_reader *r, struct cmt_environment env)
{
	base_assert(env.unit < r->unit_count);
	return &r->units[env.unit]->m;
}

static struct cmt_module named_only(struct cmt_reader *r, const char *outer, const char *name)
{
	struct cmt_module module = no_module;
	char text[MOST_NAME];
	if (!name)
		return module;
	int length = outer ? snprintf(text, sizeof(text), "%s.%s", outer, name)
			   : snprintf(text, sizeof(text), "%s", name);
	if (length > 0 && (size_t)length < sizeof(text))
		module.name = retype_intern(r->types, text, (size_t)length);
	return module;
}

/* Names */

static const struct cmt_binding *binding_of(
	const struct cmt_reader *r, uint32_t bindings, uint32_t unit, uint32_t stamp)
{
	for (; bindings != RETYPE_NONE; bindings = r->bindings[bindings].next)
		if (r->bindings[bindings].unit == unit && r->bindings[bindings].stamp == stamp)
			return &r->bindings[bindings];
	return NULL;
}

/* Scopes from the innermost outwards, written from the end of the buffer backwards. */
struct backwards {
	char text[MOST_NAME];
	size_t at;
	bool is_full;
};

static void put_before(struct backwards *b, const char *text)
{
	size_t length = strlen(text);
	base_assert(b->at <= MOST_NAME);
	if (length > b->at)
		b->is_full = true;
	if (b->is_full)
		return;
	b->at -= length;
	memcpy(b->text + b->at, text, length);
}

static void put_name_before(struct backwards *b, const char *name)
{
	if (b->at < MOST_NAME && b->text[b->at] != '(' && b->text[b->at] != '.')
		put_before(b, ".");
	put_before(b, name);
}

const char *cmt_qualified(struct cmt_reader *r, uint32_t scope, uint32_t bindings, const char *name)
{
	struct backwards b = {.at = MOST_NAME};
	put_name_before(&b, name);
	while (scope != RETYPE_NONE && !b.is_full) {
		const struct cmt_scope *s = &r->scopes[scope];
		const struct cmt_binding *binding =
			s->functor_stamp ? binding_of(r, bindings, s->unit, s->functor_stamp)
					 : NULL;
		if (binding && binding->module.name) {
			if (b.at == MOST_NAME || b.text[b.at] != '(')
				put_before(&b, ".");
			put_before(&b, ")");
			put_before(&b, binding->module.name);
			put_before(&b, "(");
		} else if (binding && binding->label) {
			/* An argument without a name: by what the functor makes of it. */
			put_name_before(&b, binding->label);
			break;
		}
		if (s->name)
			put_name_before(&b, s->name);
		scope = s->parent;
	}
	if (b.is_full)
		return name;
	return retype_intern(r->types, b.text + b.at, MOST_NAME - b.at);
}

static const char *scope_name(struct cmt_reader *r, uint32_t scope, uint32_t bindings)
{
	while (scope != RETYPE_NONE && !r->scopes[scope].name)
		scope = r->scopes[scope].parent;
	if (scope == RETYPE_NONE)
		return NULL;
	return r->scopes[scope].parent == RETYPE_NONE
		       ? r->scopes[scope].name
		       : cmt_qualified(r, r->scopes[scope].parent, bindings, r->scopes[scope].name);
}

/* Bindings */

static bool is_same_module(const struct cmt_module *a, const struct cmt_module *b)
{
	return a->kind == b->kind && a->unit == b->unit && a->scope == b->scope &&
	       a->bindings == b->bindings && snap_value_same(a->node, b->node) &&
	       a->name == b->name;
}

/* The same for the same module, so that equal instances of a functor are one. */
static uint32_t bind_parameter(struct cmt_reader *r, struct cmt_binding binding)
{
	uint64_t key = cmt_key((uint64_t)binding.unit << 32 | binding.stamp, binding.next);
	key = cmt_key(key, (uint64_t)binding.module.scope << 32 | binding.module.unit);
	key = cmt_key(key, (uint64_t)binding.module.bindings << 32 | binding.module.node.bits);
	key = cmt_key(key, (uintptr_t)binding.module.name);
	uint32_t number;
	for (; base_map_number(&r->bound, key, &number); key++) {
		const struct cmt_binding *other = &r->bindings[number];
		if (other->unit == binding.unit && other->stamp == binding.stamp &&
			other->next == binding.next &&
			is_same_module(&other->module, &binding.module))
			return number;
	}
	number = (uint32_t)r->binding_count;
	if (r->status == HG_OK)
		r->status = base_grow(&r->bindings, r->binding_count, &r->binding_capacity,
			sizeof(*r->bindings), r->error);
	if (r->status == HG_OK)
		r->status = base_map_set(&r->bound, key, number, r->error);
	if (r->status != HG_OK)
		return RETYPE_NONE;
	r->bindings[r->binding_count++] = binding;
	return number;
}

/* The bindings that matter to what is defined in a scope. */
static uint32_t enclosing_bindings(struct cmt_reader *r, uint32_t scope, uint32_t bindings)
{
	uint32_t kept = RETYPE_NONE;
	for (; bindings != RETYPE_NONE && scope != RETYPE_NONE; scope = r->scopes[scope].parent) {
		const struct cmt_scope *s = &r->scopes[scope];
		const struct cmt_binding *binding =
			s->functor_stamp ? binding_of(r, bindings, s->unit, s->functor_stamp)
					 : NULL;
		if (binding) {
			struct cmt_binding copy = *binding;
			copy.next = kept;
			kept = bind_parameter(r, copy);
		}
	}
	return kept;
}

/* Units */

struct cmt_module cmt_unit_module(struct cmt_reader *r, const char *name, uint32_t user)
{
	uint32_t unit = cmt_unit_named(r, name, user);
	if (unit == RETYPE_NONE)
		return named_only(r, NULL, name);
	if (!r->units[unit]->is_registered)
		cmt_walk(r, unit, NULL);
	return (struct cmt_module){.kind = CMT_STRUCTURE,
		.unit = unit,
		.scope = r->units[unit]->scope,
		.bindings = RETYPE_NONE,
		.name = r->units[unit]->name};
}

/* A member of a pack is a unit of its own, under its short name. */
static uint32_t packed_unit(struct cmt_reader *r, uint32_t pack, const char *name)
{
	const struct snap_marshal *m = &r->units[pack]->m;
	struct cmt_list list = cmt_read_list(m, r->units[pack]->members);
	struct snap_value member;
	while (cmt_next(&list, &member)) {
		const char *file = cmt_string(r, m, member);
		const char *slash = file ? strrchr(file, '/') : NULL;
		const char *stem = slash ? slash + 1 : file;
		size_t length = stem ? strcspn(stem, ".") : 0;
		if (length && strlen(name) == length &&
			strncmp(stem + 1, name + 1, length - 1) == 0)
			return cmt_unit_named(r, name, RETYPE_NONE);
	}
	return RETYPE_NONE;
}

/* Modules */

static struct cmt_module module_in(struct cmt_reader *r, const struct cmt_module *outer,
	enum cmt_space space, const char *name, unsigned depth)
{
	if (!name)
		return no_module;
	if (outer->kind != CMT_STRUCTURE)
		return named_only(r, outer->name, name);
	if (r->units[outer->unit]->is_pack && space == CMT_MODULES) {
		uint32_t member = packed_unit(r, outer->unit, name);
		if (member != RETYPE_NONE && member != outer->unit)
			return cmt_unit_module(r, r->units[member]->name, member);
	}
	uint32_t entry = cmt_entry_named(r, outer->scope, space, name);
	for (; entry != RETYPE_NONE; entry = cmt_entry_before(r, entry)) {
		struct cmt_module module = entry_module(r, entry, outer->bindings, depth + 1);
		if (module.kind != CMT_NO_MODULE || r->entries[entry].form != CMT_PROJECTION)
			return module;
	}
	return named_only(r, outer->name, name);
}

static struct cmt_module entry_module(
	struct cmt_reader *r, uint32_t entry, uint32_t bindings, unsigned depth)
{
	struct cmt_entry e = r->entries[entry];
	struct cmt_environment env = {r->scopes[e.scope].unit, bindings};
	if (is_exhausted(r, depth))
		return no_module;
	switch (e.form) {
	case CMT_EXPRESSION:
		return module_expr(r, env, e.node, depth + 1);
	case CMT_MODULE_TYPE:
		return module_type(r, env, e.node, e.scope, e.name, depth + 1);
	case CMT_PARAMETER: {
		const struct cmt_binding *binding = binding_of(r, bindings, env.unit, e.stamp);
		if (binding)
			return binding->module;
		return module_type(r, env, e.node, e.scope, e.name, depth + 1);
	}
	case CMT_PROJECTION: {
		struct cmt_module included = module_expr(r, env, e.node, depth + 1);
		return included.kind == CMT_STRUCTURE
			       ? module_in(r, &included, e.space, e.name, depth + 1)
			       : no_module;
	}
	default:
		return no_module;
	}
}

static struct cmt_module apply_functor(struct cmt_reader *r, const struct cmt_module *functor,
	const struct cmt_module *argument, const char *label, unsigned depth)
{
	if (functor->kind != CMT_FUNCTOR)
		return no_module;
	const struct snap_marshal *m = &r->units[functor->unit]->m;
	int64_t stamp = cmt_int(m, snap_marshal_field(m, functor->node, 0), 0, 0);
	struct cmt_binding binding = {.unit = functor->unit,
		.stamp = (uint32_t)stamp,
		.next = functor->bindings,
		.module = *argument,
		.label = label};
	uint32_t bindings = bind_parameter(r, binding);
	struct cmt_environment env = {functor->unit, bindings};
	if (r->status != HG_OK)
		return no_module;
	return module_expr(r, env, snap_marshal_field(m, functor->node, 3), depth + 1);
}

/* Application of a functor that is not known: its result has the types of its signature. */
static struct cmt_module made_by_unknown(struct cmt_reader *r, struct cmt_environment env,
	struct snap_value expr, const struct cmt_module *functor, unsigned depth)
{
	const struct snap_marshal *m = marshal_in(r, env);
	uint32_t scope = cmt_scope_of(r, env.unit, expr);
	struct snap_value type = snap_marshal_field(m, expr, 2);
	struct cmt_module result = module_type(r, env, type, scope, NULL, depth + 1);
	/* A signature with a name is that of other modules, too. */
	if (result.kind == CMT_STRUCTURE && snap_marshal_tag(m, type) == MTY_SIGNATURE)
		r->scopes[result.scope].made_by = functor->name;
	return result;
}

static struct cmt_module applied_functor(struct cmt_reader *r, struct cmt_environment env,
	struct snap_value expr, struct snap_value desc, unsigned depth)
{
	const struct snap_marshal *m = marshal_in(r, env);
	struct cmt_module functor = module_expr(r, env, snap_marshal_field(m, desc, 0), depth + 1);
	struct cmt_module argument = module_expr(r, env, snap_marshal_field(m, desc, 1), depth + 1);
	const char *label = scope_name(r, cmt_scope_of(r, env.unit, expr), env.bindings);
	struct cmt_module result = apply_functor(r, &functor, &argument, label, depth + 1);
	if (result.kind != CMT_NO_MODULE)
		return result;
	return made_by_unknown(r, env, expr, &functor, depth + 1);
}

static struct cmt_module module_expr(
	struct cmt_reader *r, struct cmt_environment env, struct snap_value expr, unsigned depth)
{
	const struct snap_marshal *m = marshal_in(r, env);
	struct snap_value desc = snap_marshal_field(m, expr, 0);
	struct snap_value first = snap_marshal_field(m, desc, 0);
	struct cmt_module module = no_module;
	if (is_exhausted(r, depth))
		return module;
	uint32_t scope = cmt_scope_of(r, env.unit, expr);
	switch (snap_marshal_tag(m, desc)) {
	case EXPR_IDENT:
		return module_path(r, env, first, depth + 1);
	case EXPR_STRUCTURE:
		scope = cmt_scope_of(r, env.unit, first);
		if (scope == RETYPE_NONE)
			return module;
		module = (struct cmt_module){.kind = CMT_STRUCTURE,
			.unit = env.unit,
			.scope = scope,
			.bindings = enclosing_bindings(r, scope, env.bindings),
			.node = first};
		/* A structure that is an argument, or included, has no name of its own. */
		if (r->scopes[scope].name)
			module.name = scope_name(r, scope, env.bindings);
		return module;
	case EXPR_FUNCTOR:
		return (struct cmt_module){.kind = CMT_FUNCTOR,
			.unit = env.unit,
			.scope = scope,
			.bindings = env.bindings,
			.node = desc,
			.name = scope_name(r, scope, env.bindings)};
	case EXPR_APPLY:
		return applied_functor(r, env, expr, desc, depth);
	case EXPR_CONSTRAINT:
		module = module_expr(r, env, first, depth + 1);
		break;
	default:
		break;
	}
	if (module.kind != CMT_NO_MODULE)
		return module;
	return module_type(r, env, snap_marshal_field(m, expr, 2), scope, NULL, depth + 1);
}

/* The definitions of a signature get a scope when it is first asked for. */
static struct cmt_module signature_module(struct cmt_reader *r, struct cmt_environment env,
	struct snap_value items, uint32_t parent, const char *name)
{
	uint32_t scope = cmt_scope_of(r, env.unit, items);
	if (scope == RETYPE_NONE) {
		scope = cmt_scope_new(
			r, (struct cmt_scope){.unit = env.unit, .parent = parent, .name = name});
		if (scope == RETYPE_NONE)
			return no_module;
		cmt_scope_remember(r, env.unit, items, scope);
		cmt_register_signature(r, items, scope);
	}
	return (struct cmt_module){.kind = CMT_STRUCTURE,
		.unit = env.unit,
		.scope = scope,
		.bindings = enclosing_bindings(r, scope, env.bindings),
		.node = items,
		.name = scope_name(r, scope, env.bindings)};
}

static struct cmt_module module_type_path(
	struct cmt_reader *r, struct cmt_environment env, struct snap_value path, unsigned depth)
{
	const struct snap_marshal *m = marshal_in(r, env);
	struct snap_value first = snap_marshal_field(m, path, 0);
	if (is_exhausted(r, depth))
		return no_module;
	if (snap_marshal_tag(m, path) == PATH_IDENT) {
		uint32_t entry = cmt_entry_stamped(r, env.unit, cmt_int(m, first, 0, 0));
		return entry == RETYPE_NONE
			       ? named_only(
					 r, NULL, cmt_string(r, m, snap_marshal_field(m, first, 1)))
			       : entry_module(r, entry, env.bindings, depth + 1);
	}
	if (snap_marshal_tag(m, path) != PATH_DOT)
		return no_module;
	struct cmt_module outer = module_path(r, env, first, depth + 1);
	return module_in(r, &outer, CMT_MODULE_TYPES,
		cmt_string(r, m, snap_marshal_field(m, path, 1)), depth + 1);
}

static struct cmt_module module_type(struct cmt_reader *r, struct cmt_environment env,
	struct snap_value type, uint32_t parent, const char *name, unsigned depth)
{
	const struct snap_marshal *m = marshal_in(r, env);
	struct snap_value first = snap_marshal_field(m, type, 0);
	if (is_exhausted(r, depth))
		return no_module;
	switch (snap_marshal_tag(m, type)) {
	case MTY_IDENT:
		return module_type_path(r, env, first, depth + 1);
	case MTY_SIGNATURE:
		return signature_module(r, env, first, parent, name);
	case MTY_FUNCTOR:
		return (struct cmt_module){.kind = CMT_FUNCTOR_TYPE,
			.unit = env.unit,
			.scope = parent,
			.bindings = env.bindings,
			.node = type,
			.name = name};
	default:
		return no_module;
	}
}

/* Paths */

static struct cmt_module ident_module(
	struct cmt_reader *r, struct cmt_environment env, struct snap_value ident, unsigned depth)
{
	const struct snap_marshal *m = marshal_in(r, env);
	const char *name = cmt_string(r, m, snap_marshal_field(m, ident, 1));
	int64_t stamp = cmt_int(m, ident, 0, 0);
	if (!name)
		return no_module;
	/* Units have no stamp. */
	if (stamp == 0)
		return cmt_unit_module(r, name, env.unit);
	uint32_t entry = cmt_entry_stamped(r, env.unit, stamp);
	struct cmt_module module =
		entry == RETYPE_NONE ? no_module : entry_module(r, entry, env.bindings, depth + 1);
	return module.kind == CMT_NO_MODULE && !module.name ? named_only(r, NULL, name) : module;
}

static struct cmt_module module_path(
	struct cmt_reader *r, struct cmt_environment env, struct snap_value path, unsigned depth)
{
	const struct snap_marshal *m = marshal_in(r, env);
	struct snap_value first = snap_marshal_field(m, path, 0);
	if (is_exhausted(r, depth))
		return no_module;
	switch (snap_marshal_tag(m, path)) {
	case PATH_IDENT:
		return ident_module(r, env, first, depth + 1);
	case PATH_DOT: {
		struct cmt_module outer = module_path(r, env, first, depth + 1);
		return module_in(r, &outer, CMT_MODULES,
			cmt_string(r, m, snap_marshal_field(m, path, 1)), depth + 1);
	}
	case PATH_APPLY: {
		struct cmt_module functor = module_path(r, env, first, depth + 1);
		struct cmt_module argument =
			module_path(r, env, snap_marshal_field(m, path, 1), depth + 1);
		struct cmt_module result = apply_functor(r, &functor, &argument, NULL, depth + 1);
		char text[MOST_NAME];
		if (result.kind != CMT_NO_MODULE || !functor.name || !argument.name)
			return result;
		int length = snprintf(text, sizeof(text), "%s(%s)", functor.name, argument.name);
		if (length > 0 && (size_t)length < sizeof(text))
			result.name = retype_intern(r->types, text, (size_t)length);
		return result;
	}
	default:
		return no_module;
	}
}

/* Types */

static struct cmt_target entry_target(
	struct cmt_reader *r, uint32_t entry, uint32_t bindings, unsigned depth);

static struct cmt_target type_in(
	struct cmt_reader *r, const struct cmt_module *outer, const char *name, unsigned depth)
{
	struct cmt_target target = no_target;
	uint32_t entry = outer->kind == CMT_STRUCTURE
				 ? cmt_entry_named(r, outer->scope, CMT_TYPES, name)
				 : RETYPE_NONE;
	for (; entry != RETYPE_NONE; entry = cmt_entry_before(r, entry)) {
		target = entry_target(r, entry, outer->bindings, depth + 1);
		if (target.entry != RETYPE_NONE)
			return target;
	}
	target = no_target;
	target.name = named_only(r, outer->name, name).name;
	return target;
}

/* The implementation of an interface, for what is defined at its top. */
static uint32_t implementation_of(struct cmt_reader *r, uint32_t scope)
{
	const struct cmt_scope *s = &r->scopes[scope];
	if (s->parent != RETYPE_NONE || !r->units[s->unit]->is_interface)
		return RETYPE_NONE;
	uint32_t unit = cmt_unit_named(r, r->units[s->unit]->name, RETYPE_NONE);
	return unit != RETYPE_NONE && !r->units[unit]->is_interface ? unit : RETYPE_NONE;
}

static struct cmt_target entry_target(
	struct cmt_reader *r, uint32_t entry, uint32_t bindings, unsigned depth)
{
	struct cmt_entry e = r->entries[entry];
	struct cmt_environment env = {r->scopes[e.scope].unit, bindings};
	if (is_exhausted(r, depth))
		return no_target;
	if (e.form == CMT_PROJECTION) {
		struct cmt_module included = module_expr(r, env, e.node, depth + 1);
		return type_in(r, &included, e.name, depth + 1);
	}
	if (e.form != CMT_TYPE)
		return no_target;
	uint32_t implementation = implementation_of(r, e.scope);
	if (implementation != RETYPE_NONE) {
		struct cmt_module outer =
			cmt_unit_module(r, r->units[implementation]->name, implementation);
		struct cmt_target target = type_in(r, &outer, e.name, depth + 1);
		if (target.entry != RETYPE_NONE)
			return target;
	}
	bindings = enclosing_bindings(r, e.scope, bindings);
	return (struct cmt_target){.entry = entry,
		.bindings = bindings,
		.name = cmt_qualified(r, e.scope, bindings, e.name)};
}

struct cmt_target cmt_resolve_type(
	struct cmt_reader *r, struct cmt_environment env, struct snap_value path)
{
	const struct snap_marshal *m = marshal_in(r, env);
	struct snap_value first = snap_marshal_field(m, path, 0);
	struct cmt_target target = no_target;
	if (snap_marshal_tag(m, path) == PATH_DOT) {
		const char *name = cmt_string(r, m, snap_marshal_field(m, path, 1));
		struct cmt_module outer = module_path(r, env, first, 0);
		return name ? type_in(r, &outer, name, 0) : target;
	}
	if (snap_marshal_tag(m, path) != PATH_IDENT)
		return target;
	uint32_t entry = cmt_entry_stamped(r, env.unit, cmt_int(m, first, 0, 0));
	if (entry != RETYPE_NONE && r->entries[entry].space != CMT_TYPES)
		entry = RETYPE_NONE;
	if (entry != RETYPE_NONE)
		target = entry_target(r, entry, env.bindings, 0);
	if (!target.name)
		target.name = cmt_string(r, m, snap_marshal_field(m, first, 1));
	return target;
}

struct cmt_target cmt_sibling(
	struct cmt_reader *r, uint32_t entry, uint32_t bindings, const char *name)
{
	uint32_t scope = r->entries[entry].scope;
	struct cmt_module outer = {.kind = CMT_STRUCTURE,
		.unit = r->scopes[scope].unit,
		.scope = scope,
		.bindings = bindings};
	return type_in(r, &outer, name, 0);
}

struct cmt_module cmt_resolve_module_type(
	struct cmt_reader *r, struct cmt_environment env, struct snap_value path)
{
	return module_type_path(r, env, path, 0);
}
