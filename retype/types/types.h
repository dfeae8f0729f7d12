/*
 * The type table: type terms, declarations of type constructors, layouts of module blocks, and what
 * leads to types: units, functions, places that allocate, extension constructors, classes.
 *
 * Two readers fill it: exe.prof (hgprof.c) and the .cmt of OCaml 4.00.1 (cmt400.c).  Terms are
 * hash-consed: equal terms have equal numbers, so that a type is 4 bytes in every array.
 *
 * Open terms have variables and occur in declarations, closed ones do not: only these are types of
 * blocks.  retype_instance() turns one into the other.  Closed terms grow in depth with the data
 * (nested datatypes); below RETYPE_DEEPEST a term is unknown.
 *
 * Functions that make terms never fail: when memory is wanting they answer RETYPE_NOTHING and set
 * 'status', which is looked at once, at the end of a pass.
 */
#ifndef RETYPE_TYPES_TYPES_H
#define RETYPE_TYPES_TYPES_H

#include "base/arena.h"
#include "base/pool.h"

#include <stdbool.h>

enum { RETYPE_DEEPEST = 25, RETYPE_MOST_ALTERNATIVES = 4 };

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

enum retype_kind {
	RETYPE_UNKNOWN, /* existentials and unbound variables too */
	RETYPE_MANY,    /* RETYPE_TOO_MANY */
	RETYPE_VARIABLE,
	RETYPE_CONSTRUCTED, /* 'number' is the declaration, arguments are its parameters */
	RETYPE_TUPLE,
	RETYPE_ARROW,        /* arguments: parameter, result; names[0]: the label or "" */
	RETYPE_POLY_VARIANT, /* names: tags, ascending by hash; arguments, RETYPE_NOTHING: constant
			      */
	RETYPE_OBJECT,       /* names: methods, ascending; arguments: their types */
	RETYPE_MODULE,       /* 'number' is the layout */
	RETYPE_SET,          /* arguments: 2 to RETYPE_MOST_ALTERNATIVES types, by their heads */
};

/* A view of a term, valid until the next term is made. */
struct retype_view {
	enum retype_kind kind;
	uint32_t number; /* of a declaration, layout or variable */
	uint32_t count;
	const struct retype_term *arguments;
	const char *const *names;
};

/* How values of a declared type are represented. */
enum retype_form {
	RETYPE_ABSTRACT, /* anything */
	RETYPE_IMMEDIATE,
	RETYPE_ALIAS,   /* 'inner' */
	RETYPE_UNBOXED, /* 'inner', but with a name of its own */
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

struct retype_field {
	const char *name; /* "" for arguments of constructors and parts of tuples */
	struct retype_term type;
	bool is_mutable;
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
	const struct retype_field *fields; /* of records */
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

struct retype_unit {
	const char *name;   /* "Stdlib__List" */
	const char *source; /* "list.ml"; "" unknown */
	const char *builddir;
	char crc[33];                    /* of the .cmi, hexadecimal; "" unknown */
	bool from_interface;             /* no implementation was found */
	enum retype_agreement agreement; /* with that of the program: set by agree.c */
	uint32_t exported;               /* of the fields of its block, those of the interface */
	uint32_t field_count;
	const struct retype_field *fields; /* NULL: not known */
	uint32_t definition_count;         /* of readers that know them */
	const struct retype_definition *definitions;
};

/* A value with a symbol of its own, or a function. */
struct retype_value {
	uint32_t unit;
	const char *ident; /* "table_277" */
	struct retype_term type;
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
};

/* What one place allocates. */
struct retype_place {
	const char *file;          /* interned: equal names are equal pointers */
	uint32_t line, start, end; /* columns; 'end' from the beginning of 'line' */
	uint32_t end_line, end_column;
	uint32_t function;   /* the innermost around it; RETYPE_NONE */
	uint32_t unit;       /* that the file is of; RETYPE_NONE */
	uint32_t made_count; /* RETYPE_NONE: not read yet; ask retype_place_made() */
	union {
		const struct retype_made *made; /* set by readers that know it at once */
		const uint8_t *text;            /* private to hgprof */
	};
};

/* One kind of block that a place makes. */
struct retype_made {
	const char *kind; /* "con.Some", "tuple", ... */
	struct retype_term type;
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

struct retype_types {
	struct base_pool pool;
	struct hg_error *error;
	const char *ocaml_version; /* "" unknown */
	struct retype_declaration *declarations;
	struct retype_layout *layouts;
	struct retype_unit *units; /* by name */
	struct retype_value *values;
	struct retype_function *functions;
	struct retype_place *places;         /* those of a file together, by line, start, end */
	struct retype_extension *extensions; /* by name */
	struct retype_class *classes;
	struct retype_terms *terms; /* private to types_parts.h */
	void *reader;               /* private to hgprof.c: what is read when asked for */
	uint32_t declaration_count, layout_count, unit_count, value_count, function_count,
		place_count, extension_count, class_count;
	enum hg_status status; /* HG_OK, or memory was wanting */
	bool is_400;           /* of OCaml 4.00.1: exceptions are "tag 0, [name]" slots */
};

/*
 * An empty table with the predefined types.  'error' must outlive the table.  Readers add to it:
 * declarations and layouts with the functions below, the other arrays as they like, in memory that
 * they release themselves or in the pool.  Not thread safe.
 */
enum hg_status retype_types_init(struct retype_types *types, struct hg_error *error);
void retype_types_release(struct retype_types *types);

/* The one copy of a string in the table; "" and 'status' set when memory is wanting. */
const char *retype_intern(struct retype_types *types, const void *bytes, size_t length);

/* Adds to 'declarations' or 'layouts' and returns the number; RETYPE_NONE when memory is wanting.
 * What they point to must live as long as the table.  A declaration may be completed later, but
 * before the first retype_instance(), retype_join() or retype_fit(). */
uint32_t retype_declare(struct retype_types *types, const struct retype_declaration *declaration);
uint32_t retype_add_layout(struct retype_types *types, const struct retype_layout *layout);

/*
 * Reads exe.prof from its bytes, which must outlive the table.  HG_ERROR_INPUT names the line: a
 * file cut short, a number that is not defined or out of range, a later format.
 */
enum hg_status retype_hgprof_read(
	struct retype_types *types, const uint8_t *bytes, size_t size, struct hg_error *error);
bool retype_is_hgprof(const uint8_t *bytes, size_t size);

/* Making terms.  Arguments may be open or closed; sets are made by retype_join(). */
struct retype_term retype_variable(struct retype_types *types, uint32_t index);
struct retype_term retype_constructed(struct retype_types *types, uint32_t declaration,
	const struct retype_term *arguments, uint32_t count);
struct retype_term retype_tuple(
	struct retype_types *types, const struct retype_term *parts, uint32_t count);
struct retype_term retype_arrow(struct retype_types *types, const char *label,
	struct retype_term parameter, struct retype_term result);
struct retype_term retype_poly_variant(struct retype_types *types, const char *const *tags,
	const struct retype_term *arguments, uint32_t count);
struct retype_term retype_object(struct retype_types *types, const char *const *methods,
	const struct retype_term *results, uint32_t count);
struct retype_term retype_module(struct retype_types *types, uint32_t layout);

/* A predefined type ("string", "float", "array", ...: the BASEs of docs/exe-prof.md) applied to
 * unknown arguments, and the number of its declaration, which every table has; RETYPE_NOTHING and
 * RETYPE_NONE if there is no type so called. */
struct retype_term retype_base(struct retype_types *types, const char *base);
uint32_t retype_base_declaration(const struct retype_types *types, const char *base);

uint32_t retype_term_count(const struct retype_types *types);
struct retype_view retype_view(const struct retype_types *types, struct retype_term term);

/* The term with variable i replaced by arguments[i], unknown where there is none; what is deeper
 * than RETYPE_DEEPEST is unknown.  Closed if the arguments are. */
struct retype_term retype_instance(struct retype_types *types, struct retype_term term,
	const struct retype_term *arguments, uint32_t count);

/*
 * The least type that is at least as specific as both: commutative, associative, idempotent, with
 * RETYPE_NOTHING below and RETYPE_TOO_MANY above all.  Heads that agree are joined argument by
 * argument, poly variants and objects are united, aliases are what they stand for.  A functor's
 * instance wins over its body, an unboxed type over what it is made of (if its declaration tells
 * that), extensible types over the slots of their constructors, and everything over abstract types.
 * Other heads make a set; of abstract ones alone, only the first RETYPE_MOST_ALTERNATIVES by name
 * are kept.  *conflict (may be NULL) is set, never cleared, when heads did not agree.
 */
struct retype_term retype_join(
	struct retype_types *types, struct retype_term a, struct retype_term b, bool *conflict);

/* How a block of a closed type may look. */
enum retype_match {
	RETYPE_MISFIT,    /* no value of this type is such a block */
	RETYPE_UNTOLD,    /* the type says nothing of blocks: unknown, abstract, any */
	RETYPE_LEAF,      /* it fits, and has no fields to type; 'fields' of records of floats */
	RETYPE_FIELDS,    /* it fits: 'fields' are its first ones */
	RETYPE_ELEMENTS,  /* it fits: all fields have the type 'inner' */
	RETYPE_INNER,     /* the value is the block of type 'inner' itself: short-cut lazies */
	RETYPE_FUNCTION,  /* it fits: a closure */
	RETYPE_TAGGED,    /* a poly variant: field 0 is the tag, see retype_tagged() */
	RETYPE_EXTENSION, /* by the slot in field 0, or the slot itself */
	RETYPE_INSTANCE,  /* an object: by its class */
	RETYPE_WEAKLY, /* it fits: data of type 'inner', 'fields' are keys, the last one repeats */
};

struct retype_fit {
	enum retype_match match;
	uint32_t field_count;
	const char *constructor;           /* "" none */
	const struct retype_field *fields; /* closed; they live as long as the table */
	struct retype_term inner;
};

/* Memoised by (term, tag, wosize).  Of a set: the first of its types that fits, with the fields of
 * all that do joined.  Aliases and unboxed types fit as what they are made of. */
struct retype_fit retype_fit(
	struct retype_types *types, struct retype_term term, unsigned tag, uint64_t wosize);

/* The type of the argument of a poly variant's tag, RETYPE_NOTHING if it is not known; and its name
 * or NULL. */
struct retype_term retype_tagged(
	struct retype_types *types, struct retype_term term, int64_t hash, const char **name);

/* The hash of a poly variant's tag or a method's name: as the compiler's Btype.hash_variant. */
int32_t retype_hash_name(const char *name);

/*
 * The name of an immediate of this type as OCaml writes it: "None", "true", "'a'", "()", "`Tag",
 * "42"; as snprintf(3) counts.  "" if the type does not tell it from an integer and it is to be
 * printed as such.
 */
size_t retype_immediate(struct retype_types *types, struct retype_term term, int64_t value,
	char *buffer, size_t size);

/*
 * The type in OCaml's syntax: "(string, int list) Hashtbl.t", "_" for what is not known inside,
 * "" for RETYPE_NOTHING, alternatives of a set as "(a | b)"; "..." below some depth.  As
 * snprintf(3) counts.
 */
size_t retype_name(
	const struct retype_types *types, struct retype_term term, char *buffer, size_t size);

/* Look-ups; RETYPE_NONE or NULL if there is none. */
uint32_t retype_unit_named(const struct retype_types *types, const char *name);
const struct retype_extension *retype_extension_named(
	const struct retype_types *types, const char *name);
/* "Unit__ident_12" without "caml", as the symbols of functions are, either separator. */
const struct retype_function *retype_function_symbol(
	const struct retype_types *types, const char *symbol);
/* The class with exactly these method names' hashes, ascending; the one with the fewest instance
 * variables >= field_count if several.  Of several classes, or extensions of one name, that have as
 * many fields a field has a type if it is the same in all. */
const struct retype_class *retype_class_of(const struct retype_types *types, const int32_t *hashes,
	uint32_t count, uint64_t field_count);

/*
 * The places with these numbers, in NULL and 0 if there are none: several units may have a file of
 * that name.  'clamped': the numbers are those of OCaml 4.00 to 5.1's debuginfo, start cut to 255,
 * end to 1023, line to 2^20 - 1.
 */
const struct retype_place *retype_places_at(const struct retype_types *types, const char *file,
	uint32_t line, uint32_t start, uint32_t end, bool clamped, uint32_t *count);
/* What a place makes; it lives as long as the table. */
const struct retype_made *retype_place_made(
	struct retype_types *types, const struct retype_place *place, uint32_t *count);

#endif
