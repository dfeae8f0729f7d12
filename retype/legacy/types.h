#ifndef RETYPE_LEGACY_TYPES_H
#define RETYPE_LEGACY_TYPES_H

#include "retype/legacy/modules.h"

/* Where a type expression stands: 'parameters' are its variables, of a declaration. */
struct cmt_context {
	struct cmt_place place;
	uint32_t generation; /* of r->terms */
	uint32_t parameter_count;
	struct snap_value parameters[CMT_MOST_PARAMETERS];
};

/* A context without parameters: every variable is unknown. */
struct cmt_context cmt_context(struct cmt_reader *r, uint32_t unit, uint32_t bindings);

/* The term of a Types.type_expr. */
struct retype_term cmt_term(
	struct cmt_reader *r, struct cmt_context *context, struct snap_value type);

/* Terms of a list of type expressions as nameless fields; NULL and 0 when there are none. */
const struct retype_field *cmt_argument_fields(
	struct cmt_reader *r, struct cmt_context *context, struct snap_value list, uint32_t *count);

/* The number of the declaration of a type; RETYPE_NONE when memory is wanting. */
uint32_t cmt_declaration(struct cmt_reader *r, const struct cmt_target *target, uint32_t arity);

/* Fills all declarations that terms refer to, as long as there are new ones. */
void cmt_settle_declarations(struct cmt_reader *r);

/* Fields of the block of a module with this Types.signature, in its order. */
const struct retype_field *cmt_module_fields(struct cmt_reader *r, struct cmt_context *context,
	struct snap_value signature, uint32_t *count);

/* Without links; absent when they lead nowhere. */
struct snap_value cmt_unlinked(const struct snap_marshal *m, struct snap_value type);

/* The number of elements of a list, at most 'most'. */
uint32_t cmt_length(const struct snap_marshal *m, struct snap_value list, uint32_t most);

void *cmt_alloc(struct cmt_reader *r, uint64_t count, size_t size);

#endif
