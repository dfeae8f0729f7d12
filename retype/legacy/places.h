#ifndef RETYPE_LEGACY_PLACES_H
#define RETYPE_LEGACY_PLACES_H

#include "retype/legacy/parts.h"

/* The locations that the snapshot names: only what is there is looked at. */
enum hg_status cmt_want_places(struct cmt_reader *r);

/* Opens the units whose sources these locations are in, and finds the expressions there. */
enum hg_status cmt_find_places(struct cmt_reader *r);

/* The location that the snapshot names, of a Location.t; false if it names none such. */
bool cmt_find_wanted(struct cmt_reader *r, const struct snap_marshal *m, struct snap_value location,
	uint32_t *number);

/* Fills types->locations from what was found. */
void cmt_make_places(struct cmt_reader *r);

/* Fills types->units and types->extensions from the units opened. */
void cmt_make_units(struct cmt_reader *r);

#endif
