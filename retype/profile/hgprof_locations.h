/*
 * Locations, most of exe.prof: of these only the numbers are kept; what they make is read when it
 * is asked for.
 */
#ifndef RETYPE_PROFILE_HGPROF_LOCATIONS_H
#define RETYPE_PROFILE_HGPROF_LOCATIONS_H

#include "retype/profile/hgprof_reader.h"

/* Adds the location of a line L, for which there is room. */
enum hg_status hgprof_read_location(struct hgprof_reader *reader, struct hgprof_line *line);

/* Lets the table read what they make, from the text and the closed terms. */
enum hg_status hgprof_defer_locations(struct hgprof_reader *reader);

#endif
