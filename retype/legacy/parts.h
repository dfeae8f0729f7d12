/*
 * The parts of the reader of .cmt files: files (files.c), units (unit.c), the walk
 * over typed trees (walk.c), names of types and modules (scopes.c, modules.c),
 * types (types.c) and places (places.c).
 *
 * Trees are as deep as the program that was compiled and come from files we did not write: walks
 * over expressions keep their own stack; what follows module expressions and type expressions stops
 * at a depth, and all of it together when the fuel is used up.
 */
#ifndef RETYPE_LEGACY_PARTS_H
#define RETYPE_LEGACY_PARTS_H

#include "base/grow.h"
#include "retype/legacy/cmt400.h"
#include "retype/types/map.h"
#include "snapshot/marshal.h"

enum {
	CMT_MOST_MODULE_DEPTH = 60,
	CMT_MOST_TYPE_DEPTH = 200,
	CMT_MOST_PARAMETERS = 64,
	CMT_MOST_LIST = 1 << 20, /* elements of one list, which may be cyclic */
	CMT_MOST_NOTES = 8,
};

/* Steps through modules and types, for all files together; real programs need some per type. */
#define CMT_FUEL 20000000u

/* The root of files below the current folder: nobody said that they are of the program. */
#define CMT_BY_CHANCE UINT32_MAX

/* A file by the unit it is of, as its name tells. */
struct cmt_file {
	const char *path;
	const char *stem; /* without folder and suffix */
	enum cmt_suffix { CMT_CMT, CMT_CMTI, CMT_CMI } suffix;
	uint64_t device, inode;
	uint32_t root; /* which of the folders that were searched; the first ones go before */
	enum { CMT_UNREAD, CMT_READ, CMT_UNUSABLE } state;
	uint32_t unit;
};

/* What one file holds. */
struct cmt_unit {
	const char *name, *source, *builddir, *path;
	struct base_file file;
	struct base_pool cells;
	struct snap_marshal m;
	struct snap_value tree;    /* Typedtree.structure or an array of parts; absent */
	struct snap_value facade;  /* Types.signature: of an interface, or what is inferred */
	struct snap_value members; /* of a pack: names of files */
	struct snap_value imports; /* (name, digest) list */
	char digest[33], source_digest[33]; /* hexadecimal; "" unknown */
	bool is_interface, is_partial, is_pack, is_of_other_version;
	bool has_no_interface; /* an implementation that exports all of it */
	bool is_registered;
	uint32_t scope;
};

/* What encloses a definition: a unit, a module with a name, the body of a functor. */
struct cmt_scope {
	uint32_t unit;
	uint32_t parent;        /* RETYPE_NONE for that of a unit */
	const char *name;       /* NULL: of something that has none */
	uint32_t functor_stamp; /* of the parameter, of the body of a functor; else 0 */
	const char *made_by;    /* the functor that is not known and has made it, or NULL */
};

enum cmt_space { CMT_TYPES, CMT_MODULES, CMT_MODULE_TYPES, CMT_CLASSES };

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

/* A declaration whose number is known and whose contents are not yet converted. */
struct cmt_pending {
	uint32_t number, entry, bindings;
};

/* An expression that a location of the snapshot names. */
struct cmt_found {
	uint32_t unit, place; /* number in 'wanted' */
	struct snap_value expression;
	const char *kind;
	bool thunk; /* what delays the expression, not its value */
	uint32_t order;
};

/* An exception; 'arguments' is a list of types. */
struct cmt_exception {
	uint32_t scope;
	const char *name;
	struct snap_value arguments;
};

/* A place that the snapshot names: file, line and columns as in its location. */
struct cmt_wanted {
	const char *file;
	uint32_t line, start, end;
	uint32_t end_line, end_column;
};

struct cmt_reader {
	struct retype_types *types;
	struct snap *snap;
	struct hg_error *error;
	struct base_pool *pool; /* of the types */
	struct base_pool scratch;
	uint32_t predefined_count; /* declarations that every table begins with */
	struct cmt_file *files;
	uint64_t file_count, file_capacity;
	struct cmt_unit **units;
	uint64_t unit_count, unit_capacity;
	struct cmt_scope *scopes;
	uint64_t scope_count, scope_capacity;
	struct cmt_entry *entries;
	uint64_t entry_count, entry_capacity;
	struct cmt_binding *bindings;
	uint64_t binding_count, binding_capacity;
	struct cmt_pending *pending;
	uint64_t pending_count, pending_capacity;
	struct cmt_exception *exceptions;
	uint64_t exception_count, exception_capacity;
	struct cmt_found *found;
	uint64_t found_count, found_capacity;
	struct cmt_wanted *wanted;
	uint64_t wanted_count, wanted_capacity;
	struct retype_map by_unit;      /* hash of name and digest -> unit */
	struct retype_map bound;        /* hash of a binding -> its number */
	struct retype_map by_stamp;     /* unit, stamp -> entry */
	struct retype_map by_name;      /* scope, space, name -> entry */
	struct retype_map scope_of;     /* unit, node -> scope */
	struct retype_map declarations; /* entry, bindings; or hash of a name -> declaration */
	struct retype_map terms;        /* generation, node -> term */
	struct retype_map layouts;      /* hash of a module -> its layout, or RETYPE_NONE */
	struct retype_map places;       /* hash of a location -> number in 'wanted' */
	uint32_t generation;
	uint64_t fuel;
	unsigned notes;
	enum hg_status status; /* HG_OK, or memory was wanting */
};

#endif
