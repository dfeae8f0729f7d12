/*
 * The types that blocks of a snapshot have, by their names; and what a type tells of a block's
 * fields.
 */
#ifndef QUERY_SHARED_TYPES_H
#define QUERY_SHARED_TYPES_H

#include "query/shared/query.h"

#include "base/pattern.h"

enum { QUERY_LONGEST_NAME = 8192 };

/* Which types blocks have, by number; the caller frees *out. */
enum hg_status query_types_met(struct hg_snapshot *snapshot, bool **out);

/* Of these, those whose name is 'literal' or, when that is NULL, matches the expression. */
enum hg_status query_types_match(struct hg_snapshot *snapshot, const struct base_pattern *pattern,
	const char *literal, bool **out);

/* Whether a block has a type of exactly this name. */
enum hg_status query_types_have(struct hg_snapshot *snapshot, const char *name, bool *out);

/* For each of them the first one of the same name, which stands for all; 0 for 0 and the others. */
enum hg_status query_types_by_name(struct hg_snapshot *snapshot, uint32_t **out);

/* Types that an expression of the user matches; *out is NULL if that is NULL. */
enum hg_status query_types_of_pattern(
	struct hg_snapshot *snapshot, const char *pattern, bool **out);

/* Compiles an expression of the user; HG_ERROR_USAGE if it is none. */
enum hg_status query_pattern(
	struct hg_snapshot *snapshot, const char *text, struct base_pattern *out);

/* A block and what its type says of it; fields are read by query_field(). */
struct query_shape {
	uint32_t rank;
	unsigned tag;
	uint64_t wosize, field_count; /* of fields that are values or code */
	struct retype_term type;
	struct retype_fit fit;
	const struct retype_extension *extension; /* of an exception that is known */
	const char *tag_name;                     /* of a polymorphic variant, or NULL */
	struct retype_term tag_type;              /* of its argument */
	const struct retype_class *class;         /* of an object, or NULL */
	const struct retype_function *function;   /* of a closure with what it captures, or NULL */
	uint64_t first_capture;
};

/* Behind the methods and the number of an object are its instance variables. */
enum { QUERY_FIRST_VARIABLE = 2 };

/* The declaration, if it is of an unboxed type, whose values are those of another one; or NULL. */
const struct retype_declaration *query_unboxed(
	const struct hg_snapshot *snapshot, struct retype_term type);

/*
 * 'expected' is what the field says that leads to the block: where the block's own type is several
 * at once, or unboxed, and only there, it decides: constants of several types are one block.  False
 * if the file has changed meanwhile.
 */
bool query_read_shape(struct hg_snapshot *snapshot, uint32_t rank, struct retype_term expected,
	struct query_shape *out);

/*
 * The code that takes all arguments, of the function of a closure that begins at 'field': that
 * field, or the second one after it if the function takes several, whose number is in the highest
 * byte of the one between (runtime/caml/mlvalues.h).
 */
uint64_t query_code(struct hg_snapshot *snapshot, uint32_t rank, uint64_t field);

/* "Dune__exe__Cache.Full" -> "Cache.Full", "Stdlib.Exit" -> "Exit": as types are spelled.  The
 * string is changed; what is wanted of it is returned. */
const char *query_spell(char *name);

/* The word in a field, 1 past the end. */
uint64_t query_word(struct hg_snapshot *snapshot, uint32_t rank, uint64_t field);

/* Name of a field or of a variable in it, "" for none; and its type. */
struct retype_field query_field(const struct query_shape *shape, uint64_t field);

/* Cells of lists: the constructor that has two fields without names. */
bool query_is_list(const struct query_shape *shape);
/* Lazy values that are a block of their own, forced or not. */
bool query_is_lazy(const struct query_shape *shape);

/* First bytes of a block without fields that the file has; 0 for none. */
size_t query_content(struct hg_snapshot *snapshot, uint32_t rank, unsigned tag, uint64_t wosize,
	const uint8_t **out, bool *cut);

/*
 * The name in the slot of an exception or other extension constructor that a block is or begins
 * with, as people write it: "Failure", "Cache.Full"; false if there is none.  'raw' as in the slot.
 */
bool query_extension_name(struct hg_snapshot *snapshot, const struct query_shape *shape, bool raw,
	char *buffer, size_t size);

#endif
