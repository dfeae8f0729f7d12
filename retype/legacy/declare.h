/*
 * Numbers of declarations and layouts, as soon as terms refer to them.  What is in them is read
 * when all of these terms are made, so that no type is read inside another (declarations.h).
 */
#ifndef RETYPE_LEGACY_DECLARE_H
#define RETYPE_LEGACY_DECLARE_H

#include "retype/legacy/modules.h"

/* A declaration whose number is known and whose contents are not yet converted. */
struct cmt_pending {
	uint32_t number, entry, bindings;
};

/* The layout of a module's block, the same. */
struct cmt_pending_layout {
	uint32_t number;
	struct cmt_module module;
};

/* The number of the declaration of a type; RETYPE_NONE when memory is wanting. */
uint32_t cmt_declaration(struct cmt_reader *r, const struct cmt_target *target, uint32_t arity);

/* The number of the layout of a structure's block; RETYPE_NONE when memory is wanting. */
uint32_t cmt_layout(struct cmt_reader *r, const struct cmt_module *module);

#endif
