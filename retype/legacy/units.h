/*
 * What the units that were opened define besides types: the fields of their blocks, exceptions.
 */
#ifndef RETYPE_LEGACY_UNITS_H
#define RETYPE_LEGACY_UNITS_H

#include "retype/legacy/reader.h"

/* Fills types->units and types->extensions from the units opened. */
void cmt_make_units(struct cmt_reader *r);

#endif
