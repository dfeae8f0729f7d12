/*
 * The locations that the snapshot names, and what is allocated there.
 */
#ifndef RETYPE_LEGACY_LOCATIONS_H
#define RETYPE_LEGACY_LOCATIONS_H

#include "retype/legacy/reader.h"

/* A location that the snapshot names: file, line and columns as there. */
struct cmt_wanted {
	const char *file;
	uint32_t line, start, end;
	uint32_t end_line, end_column;
};

/* An expression that a location of the snapshot names. */
struct cmt_found {
	uint32_t unit, wanted; /* number in 'wanted' */
	struct snap_value expression;
	const char *kind;
	bool thunk; /* what delays the expression, not its value */
	uint32_t order;
};

/* The locations that the snapshot names: only what is there is looked at. */
enum hg_status cmt_want_locations(struct cmt_reader *r);

/* Opens the units whose sources these locations are in, and finds the expressions there. */
enum hg_status cmt_find_locations(struct cmt_reader *r);

/* The location that the snapshot names, of a Location.t; false if it names none such. */
bool cmt_find_wanted(struct cmt_reader *r, const struct snap_marshal *m, struct snap_value location,
	uint32_t *number);

/* Fills types->locations from what was found. */
void cmt_make_locations(struct cmt_reader *r);

#endif
