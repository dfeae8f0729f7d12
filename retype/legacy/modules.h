/*
 * What paths to modules and types lead to.
 */
#ifndef RETYPE_LEGACY_MODULES_H
#define RETYPE_LEGACY_MODULES_H

#include "retype/legacy/reader.h"

enum cmt_module_kind {
	CMT_NO_MODULE,    /* only its name is known */
	CMT_STRUCTURE,    /* 'scope' has its definitions */
	CMT_FUNCTOR,      /* node: Typedtree.module_expr_desc */
	CMT_FUNCTOR_TYPE, /* node: Types.module_type */
};

/* What a module expression or path stands for. */
struct cmt_module {
	enum cmt_module_kind kind;
	uint32_t unit, scope;
	uint32_t bindings; /* of functor parameters around it; RETYPE_NONE for none */
	struct snap_value node;
	const char *name; /* as it is printed; NULL: without name */
};

/* The argument of a functor that was applied. */
struct cmt_binding {
	uint32_t unit, stamp, next;
	struct cmt_module module;
	const char *label; /* of the module that the application makes, or NULL */
};

/* Where names are looked up: a unit, and what the parameters of functors around stand for. */
struct cmt_environment {
	uint32_t unit, bindings;
};

/*
 * What a path to a type leads to: its definition, with what the parameters of the functors around
 * it stand for; or, if only its name is known, that name.
 */
struct cmt_target {
	uint32_t entry; /* RETYPE_NONE: not known */
	uint32_t bindings;
	const char *name; /* as it is printed, with the module it is in */
};

struct cmt_target cmt_resolve_type(
	struct cmt_reader *r, struct cmt_environment env, struct snap_value path);

/* The type of this name in the module that an entry is in; entry RETYPE_NONE if there is none. */
struct cmt_target cmt_sibling(
	struct cmt_reader *r, uint32_t entry, uint32_t bindings, const char *name);

/* The signature that a path to a module type leads to: a module that has its definitions. */
struct cmt_module cmt_resolve_module_type(
	struct cmt_reader *r, struct cmt_environment env, struct snap_value path);

/* The printed name of what is defined in a scope. */
const char *cmt_qualified(
	struct cmt_reader *r, uint32_t scope, uint32_t bindings, const char *name);

/* What the unit of this name is as a module. */
struct cmt_module cmt_unit_module(struct cmt_reader *r, const char *name, uint32_t user);

#endif
