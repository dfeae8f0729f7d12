/*
 * A definition gets one number, and one more for each instance of the functor it is in; a type of
 * which only the name is known gets one by that name.
 */
#include "retype/legacy/declare.h"

#include "retype/legacy/scopes.h"
#include "retype/legacy/stdlib.h"
#include "retype/legacy/unit.h"

#include <string.h>

/* Of Types.type_declaration. */
enum { DECLARED_PARAMETERS };

/* Pervasives is open everywhere, so that its name is not written. */
static const char *printed_name(struct cmt_reader *r, const char *name)
{
	static const char prefix[] = "Pervasives.";
	if (strncmp(name, prefix, sizeof(prefix) - 1) == 0)
		name += sizeof(prefix) - 1;
	return retype_intern(r->types, name, strlen(name));
}

static bool is_in_functor(const struct cmt_reader *r, uint32_t scope)
{
	for (; scope != RETYPE_NONE; scope = r->scopes[scope].parent)
		if (r->scopes[scope].functor_stamp)
			return true;
	return false;
}

static uint32_t reserve_number(struct cmt_reader *r, struct retype_declaration *declaration,
	struct cmt_pending pending, uint64_t key)
{
	if (r->status == HG_OK)
		r->status = base_grow(&r->pending, r->pending_count, &r->pending_capacity,
			sizeof(*r->pending), r->error);
	if (r->status != HG_OK)
		return RETYPE_NONE;
	pending.number = retype_declare(r->types, declaration);
	if (pending.number == RETYPE_NONE)
		return RETYPE_NONE;
	r->status = base_map_set(&r->declarations, key, pending.number, r->error);
	r->pending[r->pending_count++] = pending;
	return pending.number;
}

static uint32_t declare_entry(struct cmt_reader *r, const struct cmt_target *target)
{
	uint64_t key = (uint64_t)target->entry << 32 | target->bindings;
	const struct cmt_entry *entry = &r->entries[target->entry];
	struct retype_declaration declaration = {
		.name = target->name, .origin = RETYPE_NONE, .inner = RETYPE_NOTHING};
	uint32_t number;
	if (base_map_number(&r->declarations, key, &number)) {
		base_assert(number >= RETYPE_BASES && number < r->types->declaration_count);
		return number;
	}
	uint32_t scope = entry->scope;
	const struct snap_marshal *m = cmt_entry_marshal(r, target->entry);
	declaration.parameters = cmt_length(
		m, snap_marshal_field(m, entry->node, DECLARED_PARAMETERS), CMT_MOST_PARAMETERS);
	if (target->bindings != RETYPE_NONE) {
		struct cmt_target body = *target;
		body.bindings = RETYPE_NONE;
		body.name = cmt_qualified(r, scope, RETYPE_NONE, r->entries[body.entry].name);
		declaration.is_instance = true;
		declaration.origin = declare_entry(r, &body);
		base_assert(declaration.origin < r->types->declaration_count ||
			    declaration.origin == RETYPE_NONE);
	} else if (is_in_functor(r, scope)) {
		declaration.origin = r->types->declaration_count;
	}
	declaration.name = printed_name(r, declaration.name);
	return reserve_number(r, &declaration,
		(struct cmt_pending){.entry = target->entry, .bindings = target->bindings}, key);
}

/* A type of which only the name is known, or which the compiler or the library made. */
static uint32_t declare_name(struct cmt_reader *r, const char *name, uint32_t arity)
{
	name = printed_name(r, name);
	for (uint32_t i = 0; i < RETYPE_BASES; i++)
		if (strcmp(r->types->declarations[i].name, name) == 0)
			return i;
	uint32_t index = cmt_stdlib_index(name), number;
	if (index != RETYPE_NONE)
		arity = cmt_stdlib_parameters(index);
	uint64_t key = cmt_key_string((uint64_t)arity << 8 | 1, name);
	if (base_map_number(&r->declarations, key, &number))
		return number;
	struct retype_declaration declaration = {.name = name,
		.parameters = arity,
		.origin = RETYPE_NONE,
		.form = RETYPE_ABSTRACT,
		.inner = RETYPE_NOTHING};
	return reserve_number(r, &declaration,
		(struct cmt_pending){.entry = RETYPE_NONE, .bindings = RETYPE_NONE}, key);
}

uint32_t cmt_declaration(struct cmt_reader *r, const struct cmt_target *target, uint32_t arity)
{
	return target->entry == RETYPE_NONE ? declare_name(r, target->name, arity)
					    : declare_entry(r, target);
}

uint32_t cmt_layout(struct cmt_reader *r, const struct cmt_module *module)
{
	uint64_t key = cmt_key((uint64_t)module->unit << 32 | module->scope, module->bindings);
	struct retype_layout layout = {.name = module->name ? module->name : ""};
	uint32_t number;
	base_assert(module->kind == CMT_STRUCTURE);
	if (base_map_number(&r->layouts, key, &number))
		return number;
	if (r->status == HG_OK)
		r->status = base_grow(&r->pending_layouts, r->pending_layout_count,
			&r->pending_layout_capacity, sizeof(*r->pending_layouts), r->error);
	if (r->status != HG_OK)
		return RETYPE_NONE;
	number = retype_add_layout(r->types, &layout);
	if (number == RETYPE_NONE)
		return RETYPE_NONE;
	r->status = base_map_set(&r->layouts, key, number, r->error);
	r->pending_layouts[r->pending_layout_count++] =
		(struct cmt_pending_layout){number, *module};
	return number;
}
