#ifndef RETYPE_LEGACY_SCOPES_H
#define RETYPE_LEGACY_SCOPES_H

#include "retype/legacy/parts.h"

uint32_t cmt_scope_new(struct cmt_reader *r, struct cmt_scope scope);

/* Remembers that a node (a structure, a signature, a module expression) has this scope. */
void cmt_scope_remember(
	struct cmt_reader *r, uint32_t unit, struct snap_value node, uint32_t scope);
uint32_t cmt_scope_of(const struct cmt_reader *r, uint32_t unit, struct snap_value node);

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
