/*
 * What is in declarations of types and in blocks of modules.
 */
#ifndef RETYPE_LEGACY_DECLARATIONS_H
#define RETYPE_LEGACY_DECLARATIONS_H

#include "retype/legacy/terms.h"

/* Fills all declarations and layouts that terms refer to, as long as there are new ones. */
void cmt_complete_declarations(struct cmt_reader *r);

/* Fields of the block of a module with this Types.signature, in its order. */
const struct retype_field *cmt_module_fields(struct cmt_reader *r, struct cmt_context *context,
	struct snap_value signature, uint32_t *count);

#endif
