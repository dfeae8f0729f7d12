/*
 * The reader of .cmt files, and how it reads values.  Its parts are files (files.h), units
 * (unit.h), the walk over typed trees (walk.h), names of types and modules (scopes.h, modules.h),
 * types (declare.h, terms.h, declarations.h) and locations (locations.h).
 *
 * Trees are as deep as the program that was compiled and come from files we did not write: walks
 * over expressions keep their own stack; what follows module expressions and type expressions stops
 * at a depth, and all of it together when the work budget is used up.
 */
#ifndef RETYPE_LEGACY_READER_H
#define RETYPE_LEGACY_READER_H

#include "base/assert.h"
#include "base/grow.h"
#include "base/hash.h"
#include "retype/legacy/cmt400.h"
#include "snapshot/marshal/marshal.h"

enum {
	CMT_MOST_MODULE_DEPTH = 60,
	CMT_MOST_TYPE_DEPTH = 200,
	CMT_MOST_PARAMETERS = 64,
	CMT_MOST_LIST = 1 << 20, /* elements of one list, which may be cyclic */
	CMT_MOST_NOTES = 8,
};

/* Steps through modules and types, for all files together; real programs need some per type. */
#define CMT_WORK_BUDGET 20000000u

struct cmt_reader {
	struct retype_types *types;
	struct snap *snap;
	struct hg_error *error;
	struct base_pool *pool; /* of the types */
	struct base_pool scratch;
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
	struct cmt_pending_layout *pending_layouts;
	uint64_t pending_layout_count, pending_layout_capacity;
	struct cmt_exception *exceptions;
	uint64_t exception_count, exception_capacity;
	struct cmt_found *found;
	uint64_t found_count, found_capacity;
	struct cmt_wanted *wanted;
	uint64_t wanted_count, wanted_capacity;
	struct base_map by_unit;      /* hash of name and digest -> unit */
	struct base_map bound;        /* hash of a binding -> its number */
	struct base_map by_stamp;     /* unit, stamp -> entry */
	struct base_map by_name;      /* scope, space, name -> entry */
	struct base_map scope_of;     /* unit, node -> scope */
	struct base_map declarations; /* entry, bindings; or hash of a name -> declaration */
	struct base_map terms;        /* generation, node -> term */
	struct base_map layouts;      /* hash of a module -> its layout */
	struct base_map registered;   /* unit, cell of a list of definitions: a set */
	struct base_map locations;    /* hash of a location -> number in 'wanted' */
	uint32_t generation;
	uint64_t budget; /* steps that are left */
	unsigned notes;
	enum hg_status status; /* HG_OK, or memory was wanting */
};

/* Memory of the types, zeroed; NULL and a status when there is none. */
void *cmt_alloc(struct cmt_reader *r, uint64_t count, size_t size);

/* Takes steps from the budget; false, and it is used up, if there are not so many left. */
bool cmt_spend(struct cmt_reader *r, uint32_t steps);

/* A key for several numbers and a string: equal ones have the same, as hardly any others do. */
uint64_t cmt_key(uint64_t key, uint64_t number);
uint64_t cmt_key_string(uint64_t key, const char *string);

/* A copy of a string of a value, each once; NULL if it is none or holds a NUL. */
const char *cmt_string(struct cmt_reader *r, const struct snap_marshal *m, struct snap_value value);

/* Steps of walks over lists: cells with tag 0, [head; tail]. */
struct cmt_list {
	const struct snap_marshal *m;
	struct snap_value rest;
	uint32_t left;
};

static inline struct cmt_list cmt_read_list(const struct snap_marshal *m, struct snap_value value)
{
	return (struct cmt_list){m, value, CMT_MOST_LIST};
}

static inline bool cmt_next(struct cmt_list *list, struct snap_value *out)
{
	if (snap_marshal_tag(list->m, list->rest) != 0 ||
		snap_marshal_size(list->m, list->rest) != 2 || !list->left)
		return false;
	list->left--;
	*out = snap_marshal_field(list->m, list->rest, 0);
	list->rest = snap_marshal_field(list->m, list->rest, 1);
	return true;
}

/* The value in an option; absent if there is none. */
static inline struct snap_value cmt_some(const struct snap_marshal *m, struct snap_value value)
{
	return snap_marshal_field(m, value, 0);
}

/* An integer field, or the number given. */
static inline int64_t cmt_int(
	const struct snap_marshal *m, struct snap_value value, uint32_t field, int64_t otherwise)
{
	int64_t number;
	return snap_marshal_int(m, snap_marshal_field(m, value, field), &number) ? number
										 : otherwise;
}

/* The number of elements of a list, at most 'most'. */
uint32_t cmt_length(const struct snap_marshal *m, struct snap_value list, uint32_t most);

#endif
