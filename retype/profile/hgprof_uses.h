/*
 * What leads to types in exe.prof: units, values, functions, extensions, classes, locations.
 */
#ifndef RETYPE_PROFILE_HGPROF_USES_H
#define RETYPE_PROFILE_HGPROF_USES_H

#include "retype/profile/hgprof_reader.h"

/* After hgprof_read_types(). */
enum hg_status hgprof_read_uses(struct hgprof_reader *reader);

#endif
