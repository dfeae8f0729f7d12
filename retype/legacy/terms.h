/*
 * Type expressions as terms.
 */
#ifndef RETYPE_LEGACY_TERMS_H
#define RETYPE_LEGACY_TERMS_H

#include "retype/legacy/declare.h"
#include "retype/legacy/unit.h"

/* Where a type expression stands: 'parameters' are its variables, of a declaration. */
struct cmt_context {
	struct cmt_environment env;
	uint32_t generation; /* of r->terms */
	uint32_t parameter_count;
	struct snap_value parameters[CMT_MOST_PARAMETERS];
};

/* Of the unit that a context is in. */
static inline const struct snap_marshal *cmt_context_marshal(
	const struct cmt_reader *r, const struct cmt_context *context)
{
	base_assert(context->env.unit < r->unit_count);
	return &r->units[context->env.unit]->m;
}

/* A context without parameters: every variable is unknown. */
struct cmt_context cmt_new_context(struct cmt_reader *r, uint32_t unit, uint32_t bindings);

/* The term of a Types.type_expr. */
struct retype_term cmt_term(
	struct cmt_reader *r, struct cmt_context *context, struct snap_value type);

/* Terms of a list of type expressions as nameless fields; NULL and 0 when there are none. */
const struct retype_field *cmt_argument_fields(
	struct cmt_reader *r, struct cmt_context *context, struct snap_value list, uint32_t *count);

/* Without links; absent when they lead nowhere. */
struct snap_value cmt_unlinked(const struct snap_marshal *m, struct snap_value type);

#endif
