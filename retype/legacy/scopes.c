/*
 * Definitions are found by their stamps, which are unique in a unit, and by their names in a scope,
 * where a later one of the same name hides those before.
 */
#include "retype/legacy/scopes.h"

#include "retype/legacy/unit.h"

#include <string.h>

/* Of Typedtree.structure_item_desc. */
enum {
	ITEM_TYPE = 3,
	ITEM_EXCEPTION,
	ITEM_MODULE = 6,
	ITEM_RECMODULE,
	ITEM_MODTYPE,
	ITEM_CLASS = 10,
	ITEM_CLASS_TYPE,
	ITEM_INCLUDE
};

/* Of Types.signature_item. */
enum { SIG_TYPE = 1, SIG_MODULE = 3, SIG_MODTYPE };

static uint64_t stamp_key(uint32_t unit, int64_t stamp)
{
	return (uint64_t)unit << 32 | (uint32_t)stamp;
}

static uint64_t name_key(uint32_t scope, enum cmt_space space, const char *name)
{
	return cmt_key_string((uint64_t)scope << 3 | space, name);
}

const struct snap_marshal *cmt_scope_marshal(const struct cmt_reader *r, uint32_t scope)
{
	base_assert(scope < r->scope_count && r->scopes[scope].unit < r->unit_count);
	return &r->units[r->scopes[scope].unit]->m;
}

const struct snap_marshal *cmt_entry_marshal(const struct cmt_reader *r, uint32_t entry)
{
	base_assert(entry < r->entry_count);
	return cmt_scope_marshal(r, r->entries[entry].scope);
}

uint32_t cmt_scope_new(struct cmt_reader *r, struct cmt_scope scope)
{
	if (r->status == HG_OK)
		r->status = base_grow(&r->scopes, r->scope_count, &r->scope_capacity,
			sizeof(*r->scopes), r->error);
	if (r->status != HG_OK)
		return RETYPE_NONE;
	base_assert(scope.unit < r->unit_count);
	base_assert(scope.parent == RETYPE_NONE || scope.parent < r->scope_count);
	r->scopes[r->scope_count] = scope;
	return (uint32_t)r->scope_count++;
}

void cmt_scope_remember(struct cmt_reader *r, uint32_t unit, struct snap_value node, uint32_t scope)
{
	if (r->status == HG_OK && !snap_value_absent(node))
		r->status = base_map_set(
			&r->scope_of, (uint64_t)unit << 32 | node.bits, scope, r->error);
}

uint32_t cmt_scope_of(const struct cmt_reader *r, uint32_t unit, struct snap_value node)
{
	uint32_t scope;
	return base_map_number(&r->scope_of, (uint64_t)unit << 32 | node.bits, &scope)
		       ? scope
		       : RETYPE_NONE;
}

uint32_t cmt_entry_stamped(const struct cmt_reader *r, uint32_t unit, int64_t stamp)
{
	uint32_t entry;
	return base_map_number(&r->by_stamp, stamp_key(unit, stamp), &entry) ? entry : RETYPE_NONE;
}

static bool is_entry_named(const struct cmt_reader *r, uint32_t entry, uint32_t scope,
	enum cmt_space space, const char *name)
{
	base_assert(entry < r->entry_count);
	const struct cmt_entry *e = &r->entries[entry];
	return e->scope == scope && e->space == space && strcmp(e->name, name) == 0;
}

uint32_t cmt_entry_named(
	const struct cmt_reader *r, uint32_t scope, enum cmt_space space, const char *name)
{
	uint32_t entry;
	if (!base_map_number(&r->by_name, name_key(scope, space, name), &entry) ||
		!is_entry_named(r, entry, scope, space, name))
		return RETYPE_NONE;
	return entry;
}

uint32_t cmt_entry_before(const struct cmt_reader *r, uint32_t entry)
{
	base_assert(r->entries[entry].next == RETYPE_NONE || r->entries[entry].next < entry);
	return r->entries[entry].next;
}

/* 'stamp' 0: of a name only. */
static void add_scope_entry(struct cmt_reader *r, struct cmt_entry entry)
{
	if (!entry.name || r->status != HG_OK)
		return;
	base_assert(entry.scope < r->scope_count);
	uint32_t number = (uint32_t)r->entry_count;
	entry.next = cmt_entry_named(r, entry.scope, entry.space, entry.name);
	r->status = base_grow(
		&r->entries, r->entry_count, &r->entry_capacity, sizeof(*r->entries), r->error);
	if (r->status != HG_OK)
		return;
	r->entries[r->entry_count++] = entry;
	r->status = base_map_set(
		&r->by_name, name_key(entry.scope, entry.space, entry.name), number, r->error);
	if (r->status == HG_OK && entry.stamp)
		r->status = base_map_set(&r->by_stamp,
			stamp_key(r->scopes[entry.scope].unit, entry.stamp), number, r->error);
}

/* Ident.t: stamp, name, flags. */
static void add_ident(struct cmt_reader *r, struct snap_value ident, enum cmt_space space,
	enum cmt_entry_form form, struct snap_value node, uint32_t scope)
{
	const struct snap_marshal *m = cmt_scope_marshal(r, scope);
	int64_t stamp = cmt_int(m, ident, 0, 0);
	add_scope_entry(r, (struct cmt_entry){.space = space,
				   .form = form,
				   .scope = scope,
				   .stamp = stamp > 0 && stamp <= INT32_MAX ? (uint32_t)stamp : 0,
				   .name = cmt_string(r, m, snap_marshal_field(m, ident, 1)),
				   .node = node});
}

void cmt_register_parameter(
	struct cmt_reader *r, struct snap_value ident, struct snap_value type, uint32_t scope)
{
	add_ident(r, ident, CMT_MODULES, CMT_PARAMETER, type, scope);
}

void cmt_register_module(
	struct cmt_reader *r, struct snap_value ident, struct snap_value expression, uint32_t scope)
{
	add_ident(r, ident, CMT_MODULES, CMT_EXPRESSION, expression, scope);
}

bool cmt_next_definition(
	struct cmt_reader *r, uint32_t scope, struct cmt_list *list, struct snap_value *out)
{
	uint64_t cell = (uint64_t)r->scopes[scope].unit << 32 | list->rest.bits;
	bool is_new = false;
	if (r->status == HG_OK)
		r->status = base_map_note(&r->registered, cell, &is_new, r->error);
	return is_new && cmt_next(list, out);
}

static void register_types(struct cmt_reader *r, struct snap_value desc, uint32_t scope)
{
	const struct snap_marshal *m = cmt_scope_marshal(r, scope);
	struct cmt_list list = cmt_read_list(m, snap_marshal_field(m, desc, 0));
	struct snap_value item;
	/* (ident, name, Typedtree.type_declaration) */
	while (cmt_next_definition(r, scope, &list, &item))
		add_ident(r, snap_marshal_field(m, item, 0), CMT_TYPES, CMT_TYPE,
			snap_marshal_field(m, snap_marshal_field(m, item, 2), 1), scope);
}

static void register_recmodules(struct cmt_reader *r, struct snap_value desc, uint32_t scope)
{
	const struct snap_marshal *m = cmt_scope_marshal(r, scope);
	struct cmt_list list = cmt_read_list(m, snap_marshal_field(m, desc, 0));
	struct snap_value item;
	while (cmt_next_definition(r, scope, &list, &item))
		add_ident(r, snap_marshal_field(m, item, 0), CMT_MODULES, CMT_EXPRESSION,
			snap_marshal_field(m, item, 3), scope);
}

/* ident, name, Typedtree.exception_declaration, which holds that of Types, which holds the types */
static void register_exception(struct cmt_reader *r, struct snap_value desc, uint32_t scope)
{
	const struct snap_marshal *m = cmt_scope_marshal(r, scope);
	struct snap_value declared = snap_marshal_field(m, snap_marshal_field(m, desc, 2), 1);
	struct cmt_exception exception = {.scope = scope,
		.name = cmt_string(r, m, snap_marshal_field(m, snap_marshal_field(m, desc, 0), 1)),
		.arguments = snap_marshal_field(m, declared, 0)};
	if (!exception.name)
		return;
	if (r->status == HG_OK)
		r->status = base_grow(&r->exceptions, r->exception_count, &r->exception_capacity,
			sizeof(*r->exceptions), r->error);
	if (r->status == HG_OK)
		r->exceptions[r->exception_count++] = exception;
}

/* What is included may be anything: it is asked when it is looked for. */
static void register_include(struct cmt_reader *r, struct snap_value desc, uint32_t scope)
{
	const struct snap_marshal *m = cmt_scope_marshal(r, scope);
	struct snap_value included = snap_marshal_field(m, desc, 0), ident;
	static const enum cmt_space spaces[] = {CMT_MODULE_TYPES, CMT_MODULES, CMT_TYPES};
	struct cmt_list list = cmt_read_list(m, snap_marshal_field(m, desc, 1));
	while (cmt_next_definition(r, scope, &list, &ident))
		for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++)
			add_ident(r, ident, spaces[i], CMT_PROJECTION, included, scope);
}

void cmt_register_item(struct cmt_reader *r, struct snap_value item, uint32_t scope)
{
	const struct snap_marshal *m = cmt_scope_marshal(r, scope);
	struct snap_value desc = snap_marshal_field(m, item, 0);
	struct snap_value ident = snap_marshal_field(m, desc, 0);
	switch (snap_marshal_tag(m, desc)) {
	case ITEM_TYPE:
		register_types(r, desc, scope);
		break;
	case ITEM_EXCEPTION:
		register_exception(r, desc, scope);
		break;
	case ITEM_MODULE:
		cmt_register_module(r, ident, snap_marshal_field(m, desc, 2), scope);
		break;
	case ITEM_RECMODULE:
		register_recmodules(r, desc, scope);
		break;
	case ITEM_MODTYPE: /* ident, name, Typedtree.module_type */
		add_ident(r, ident, CMT_MODULE_TYPES, CMT_MODULE_TYPE,
			snap_marshal_field(m, snap_marshal_field(m, desc, 2), 1), scope);
		break;
	case ITEM_INCLUDE:
		register_include(r, desc, scope);
		break;
	default:
		break;
	}
}

static void register_signature_item(struct cmt_reader *r, struct snap_value item, uint32_t scope)
{
	const struct snap_marshal *m = cmt_scope_marshal(r, scope);
	struct snap_value ident = snap_marshal_field(m, item, 0);
	struct snap_value what = snap_marshal_field(m, item, 1);
	int64_t stamp = cmt_int(m, ident, 0, 0);
	if (stamp > 0 && cmt_entry_stamped(r, r->scopes[scope].unit, stamp) != RETYPE_NONE)
		return;
	switch (snap_marshal_tag(m, item)) {
	case SIG_TYPE:
		add_ident(r, ident, CMT_TYPES, CMT_TYPE, what, scope);
		break;
	case SIG_MODULE:
		add_ident(r, ident, CMT_MODULES, CMT_MODULE_TYPE, what, scope);
		break;
	case SIG_MODTYPE: /* abstract, or a module type in an option-like block */
		add_ident(r, ident, CMT_MODULE_TYPES, CMT_MODULE_TYPE, cmt_some(m, what), scope);
		break;
	default:
		break;
	}
}

void cmt_register_signature(struct cmt_reader *r, struct snap_value signature, uint32_t scope)
{
	struct cmt_list list = cmt_read_list(cmt_scope_marshal(r, scope), signature);
	struct snap_value item;
	while (cmt_next_definition(r, scope, &list, &item))
		register_signature_item(r, item, scope);
}
