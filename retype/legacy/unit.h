#ifndef RETYPE_LEGACY_UNIT_H
#define RETYPE_LEGACY_UNIT_H

#include "retype/legacy/parts.h"

/*
 * Opens a file once; *unit is RETYPE_NONE if it cannot be used, and a note says why.  A status
 * that is not HG_OK is want of memory.
 */
enum hg_status cmt_open_file(struct cmt_reader *r, uint32_t file, uint32_t *unit);

/*
 * The unit of a name: the implementation if there is one, else the interface.  'user' is the unit
 * that refers to it, which knows the digest of the interface it was compiled with; RETYPE_NONE for
 * none.  RETYPE_NONE if it is not found.
 */
uint32_t cmt_unit_named(struct cmt_reader *r, const char *name, uint32_t user);

void cmt_unit_release(struct cmt_unit *unit);

/* A copy of a string of a value, each once; NULL if it is none or holds a NUL. */
const char *cmt_string(struct cmt_reader *r, const struct snap_marshal *m, struct snap_value value);

/* Steps of walks over lists: cells with tag 0, [head; tail]. */
struct cmt_list {
	const struct snap_marshal *m;
	struct snap_value rest;
	uint32_t left;
};

static inline struct cmt_list cmt_list(const struct snap_marshal *m, struct snap_value value)
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

#endif
