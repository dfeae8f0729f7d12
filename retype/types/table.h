/*
 * The data of the type table, which its readers fill and everybody else looks at: declarations of
 * type constructors, layouts of module blocks, and what leads to types: units, functions, locations
 * that allocate, extension constructors, classes.
 *
 * Functions that make something in the table never fail: when memory is wanting they answer with
 * nothing and set 'status', which is looked at once, at the end of a pass.
 */
#ifndef RETYPE_TYPES_TABLE_H
#define RETYPE_TYPES_TABLE_H

#include "base/pool.h"

#include <stdbool.h>

/* A type expression.  Number 0 knows nothing, number 1 is several types at once that do not go
 * together, too many to be listed. */
struct retype_term {
	uint32_t n;
};
#define RETYPE_NOTHING ((struct retype_term){0})
#define RETYPE_TOO_MANY ((struct retype_term){1})

static inline bool retype_is(struct retype_term a, struct retype_term b)
{
	return a.n == b.n;
}

#define RETYPE_NONE UINT32_MAX

/* How values of a declared type are represented. */
enum retype_form {
	RETYPE_ABSTRACT, /* anything */
	RETYPE_IMMEDIATE,
	RETYPE_ALIAS,   /* 'inner' */
	RETYPE_UNBOXED, /* 'inner', but with a name of its own */
	RETYPE_EITHER,  /* of the type of any of its fields: Obj.magic made it so */
	RETYPE_RECORD,
	RETYPE_FLOAT_RECORD,
	RETYPE_VARIANT,
	RETYPE_EXTENSIBLE, /* exn and other open types */
	RETYPE_STRING,     /* bytes too */
	RETYPE_FLOAT,
	RETYPE_FLOAT_ARRAY,
	RETYPE_CUSTOM, /* int32, int64, nativeint, channels, Bigarray, ... */
	RETYPE_ARRAY,  /* of any elements: argument 0 */
	RETYPE_LAZY,
	RETYPE_ATOMIC,
	RETYPE_WEAK,      /* of argument 0 */
	RETYPE_EPHEMERON, /* of keys and, the last argument, data; or of none */
	RETYPE_SLOT,      /* the block of an extension constructor itself */
	RETYPE_SOME_OBJECT,
	RETYPE_ANY, /* Obj.t */
	RETYPE_CONTINUATION,
};

enum retype_mutability { RETYPE_IMMUTABLE, RETYPE_MUTABLE, RETYPE_ATOMIC_FIELD };

struct retype_field {
	const char *name; /* "" for arguments of constructors and parts of tuples */
	struct retype_term type;
	enum retype_mutability mutability;
};

struct retype_constructor {
	const char *name;
	bool is_constant, is_record;
	bool is_gadt; /* 'result' has the arguments of its result type, as many as parameters */
	uint32_t field_count, result_count;
	const struct retype_field *fields;
	const struct retype_term *result;
};

struct retype_declaration {
	const char *name; /* as it is printed: "Map.Make(String).t" */
	const char *base; /* "int", "char", ... of what is represented like that; or NULL */
	uint32_t parameters;
	uint32_t origin;  /* equal in a functor's body and its instances; RETYPE_NONE */
	bool is_instance; /* of a functor's body */
	enum retype_form form;
	struct retype_term inner;          /* of aliases and unboxed ones */
	struct retype_constructor unboxed; /* of unboxed ones: the constructor or field's name */
	uint32_t field_count;
	const struct retype_field
		*fields; /* of records; the types that a RETYPE_EITHER may be of */
	uint32_t constructor_count;
	const struct retype_constructor *constructors; /* in the order of the source */
};

struct retype_layout {
	const char *name;
	uint32_t field_count;
	const struct retype_field *fields;
};

/*
 * What a unit's initialisation defines, one after the other: as bytecode keeps it on the stack.
 */
struct retype_definition {
	struct retype_term type;
	const char *file; /* where its block is allocated; NULL: not known */
	uint32_t line, start, end;
	bool is_unknown; /* any number of values */
};

/* The worse the later. */
enum retype_agreement {
	RETYPE_UNIT_SAME,
	RETYPE_UNIT_REBUILT, /* its interface is the same, its other values may not be */
	RETYPE_UNIT_STALE,   /* another interface */
};

/* Whose sources a unit is of. */
enum retype_owner {
	RETYPE_OWNER_UNTOLD, /* until retype_find_owners() */
	RETYPE_OWN,          /* of the program */
	RETYPE_LIBRARY,
};

/* Where in the source something is defined. */
struct retype_place {
	const char *file; /* NULL: not known */
	uint32_t line;
};

struct retype_unit {
	const char *name;   /* "Stdlib__List" */
	const char *source; /* "list.ml"; "" unknown */
	const char *builddir;
	char crc[33];                    /* of the .cmi, hexadecimal; "" unknown */
	bool from_interface;             /* no implementation was found */
	enum retype_agreement agreement; /* with that of the program */
	enum retype_owner owner;
	uint32_t exported; /* of the fields of its block, those of the interface */
	uint32_t field_count;
	const struct retype_field *fields; /* NULL: not known */
	uint32_t place_count;
	const struct retype_place *places; /* where its first fields are defined */
	uint32_t definition_count;         /* of readers that know them */
	const struct retype_definition *definitions;
};

/* A value with a symbol of its own, or a function. */
struct retype_value {
	uint32_t unit;
	const char *ident; /* "table_277" */
	struct retype_term type;
	struct retype_place place; /* where it is defined */
};

struct retype_function {
	uint32_t unit;
	const char *ident; /* "find_753"; "fun" */
	const char *file;
	uint32_t line, start, end; /* columns; both from the beginning of 'line' */
	uint32_t end_line, end_column;
	uint32_t arity, parameter_count, capture_count;
	const struct retype_term *parameters;
	const struct retype_field *captures; /* in the order of the environment */
	/*
	 * With variables, where captured variables or applied arguments have some in common with
	 * what the function is then: its type, and its captures again.  Else nothing and NULL.
	 */
	struct retype_term general;
	const struct retype_field *general_captures; /* as many */
};

/* What one location allocates. */
struct retype_location {
	const char *file;          /* interned: equal names are equal pointers */
	uint32_t line, start, end; /* columns; 'end' from the beginning of 'line' */
	uint32_t end_line, end_column;
	uint32_t function;   /* the innermost around it; RETYPE_NONE */
	uint32_t unit;       /* that the file is of; RETYPE_NONE */
	uint32_t made_count; /* RETYPE_NONE: not read yet; ask retype_location_made() */
	union {
		const struct retype_made *made;
		const uint8_t *unread; /* of the reader, where it has not been read yet */
	};
};

/* Who makes a block at a location, and how many others at once. */
enum retype_maker {
	RETYPE_MADE_HERE,         /* the expression itself, this block */
	RETYPE_MADE_BY_CALL,      /* the function that it calls */
	RETYPE_MADE_BY_PRIMITIVE, /* a primitive, with what the block holds */
	RETYPE_MADE_BY_READER,    /* the same, as many as are read: input_value */
};

/* One kind of block that a location makes. */
struct retype_made {
	const char *kind; /* "con.Some", "tuple", ... */
	struct retype_term type;
	enum retype_maker maker; /* as the kind tells */
};

struct retype_extension {
	const char *name; /* as in the slot's block, with "." for "__": "Stdlib.Exit" */
	uint32_t field_count;
	const struct retype_field *fields;
};

struct retype_class {
	const char *name;
	uint32_t method_count, field_count;
	const char *const *methods;
	const struct retype_field *fields; /* instance variables, in order of the object's fields */
};

struct retype_types;

/*
 * Most of a profile is what locations make, of which few are asked for.  A reader that leaves them
 * unread says how one of them is read later; it sets 'made' and 'made_count' in any case.
 */
struct retype_deferred {
	void (*read_made)(struct retype_types *types, struct retype_location *location);
	const void *reader; /* private to it */
};

struct retype_types {
	struct base_pool pool;
	struct hg_error *error;
	const char *ocaml_version; /* "" unknown */
	struct retype_declaration *declarations;
	struct retype_layout *layouts;
	struct retype_unit *units; /* by name */
	struct retype_value *values;
	struct retype_function *functions;
	struct retype_location *locations;   /* those of a file together, by line, start, end */
	struct retype_extension *extensions; /* by name */
	struct retype_class *classes;
	uint32_t declaration_count, layout_count, unit_count, value_count, function_count,
		location_count, extension_count, class_count;
	enum hg_status status; /* HG_OK, or memory was wanting */
	bool is_400;           /* of OCaml 4.00.1: exceptions are "tag 0, [name]" slots */
	struct retype_deferred deferred;

	/* Each is private to the file of its name. */
	struct retype_strings *strings;
	struct retype_nodes *nodes;
	struct retype_instances *instances;
	struct retype_joins *joins;
	struct retype_fits *fits;
	struct retype_lookups *lookups;
	struct retype_location_index *location_index;
};

/*
 * Adds to 'declarations' or 'layouts' and returns the number; RETYPE_NONE when memory is wanting.
 * What they point to must live as long as the table.  A declaration may be completed later, but
 * before the first retype_instance(), retype_join() or retype_find_fit().  To the other arrays
 * readers add as they like, in memory that they release themselves or in the pool.
 */
uint32_t retype_declare(struct retype_types *types, const struct retype_declaration *declaration);
uint32_t retype_add_layout(struct retype_types *types, const struct retype_layout *layout);

/* In the pool of the types, not yet set; NULL, and the types have failed, without memory. */
struct retype_field *retype_new_fields(struct retype_types *types, uint32_t count);

/* Keeps the first status that is a failure. */
static inline void retype_keep_status(struct retype_types *types, enum hg_status status)
{
	if (types->status == HG_OK)
		types->status = status;
}

#endif
