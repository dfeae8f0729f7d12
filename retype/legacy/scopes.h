/*
 * What is defined where: types, modules and module types.
 */
#ifndef RETYPE_LEGACY_SCOPES_H
#define RETYPE_LEGACY_SCOPES_H

#include "retype/legacy/reader.h"

/* What encloses a definition: a unit, a module with a name, the body of a functor. */
struct cmt_scope {
	uint32_t unit;
	uint32_t parent;        /* RETYPE_NONE for that of a unit */
	const char *name;       /* NULL: of something that has none */
	uint32_t functor_stamp; /* of the parameter, of the body of a functor; else 0 */
	const char *made_by;    /* the functor that is not known and has made it, or NULL */
};

enum cmt_space { CMT_TYPES, CMT_MODULES, CMT_MODULE_TYPES };

enum cmt_entry_form {
	CMT_TYPE,        /* node: Types.type_declaration */
	CMT_EXPRESSION,  /* a module; node: Typedtree.module_expr */
	CMT_MODULE_TYPE, /* of a module or a module type; node: Types.module_type */
	CMT_PARAMETER,   /* of a functor; node: Types.module_type */
	CMT_PROJECTION,  /* what an included module_expr calls so */
};

/* A definition, found by its stamp in its unit, and by its name in its scope. */
struct cmt_entry {
	enum cmt_space space;
	enum cmt_entry_form form;
	uint32_t scope, stamp;
	uint32_t next; /* of the same name in that scope, defined before; RETYPE_NONE */
	const char *name;
	struct snap_value node;
};

/* An exception; 'arguments' is a list of types. */
struct cmt_exception {
	uint32_t scope;
	const char *name;
	struct snap_value arguments;
};

/* Of the unit that they are of. */
const struct snap_marshal *cmt_scope_marshal(const struct cmt_reader *r, uint32_t scope);
const struct snap_marshal *cmt_entry_marshal(const struct cmt_reader *r, uint32_t entry);

/* The number of a new scope; RETYPE_NONE when memory is wanting. */
uint32_t cmt_scope_new(struct cmt_reader *r, struct cmt_scope scope);

/* Remembers that a node (a structure, a signature, a module expression) has this scope. */
void cmt_scope_remember(
	struct cmt_reader *r, uint32_t unit, struct snap_value node, uint32_t scope);
uint32_t cmt_scope_of(const struct cmt_reader *r, uint32_t unit, struct snap_value node);

/*
 * The next element of a list of definitions, each of whose cells is gone through once: in a damaged
 * file many lists may end alike.
 */
bool cmt_next_definition(
	struct cmt_reader *r, uint32_t scope, struct cmt_list *list, struct snap_value *out);

/* The definitions of a structure_item, by stamp and name. */
void cmt_register_item(struct cmt_reader *r, struct snap_value item, uint32_t scope);
/* Those of a Types.signature, as far as their stamps are not known from elsewhere. */
void cmt_register_signature(struct cmt_reader *r, struct snap_value signature, uint32_t scope);
/* The parameter of a functor: an ident and the type of the module that it is. */
void cmt_register_parameter(
	struct cmt_reader *r, struct snap_value ident, struct snap_value type, uint32_t scope);
/* A module bound in an expression. */
void cmt_register_module(struct cmt_reader *r, struct snap_value ident,
	struct snap_value expression, uint32_t scope);

/* Numbers of entries, or RETYPE_NONE.  Of a name the last definition, then those before it. */
uint32_t cmt_entry_stamped(const struct cmt_reader *r, uint32_t unit, int64_t stamp);
uint32_t cmt_entry_named(
	const struct cmt_reader *r, uint32_t scope, enum cmt_space space, const char *name);
uint32_t cmt_entry_before(const struct cmt_reader *r, uint32_t entry);

#endif
