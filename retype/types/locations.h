/*
 * What leads from a location in the source to what it allocates.
 */
#ifndef RETYPE_TYPES_LOCATIONS_H
#define RETYPE_TYPES_LOCATIONS_H

#include "retype/types/table.h"

/*
 * The locations with these numbers, in NULL and 0 if there are none: several units may have a file
 * of that name.  'clamped': the numbers are those of OCaml 4.00 to 5.1's debuginfo, start cut to
 * 255, end to 1023, line to 2^20 - 1.
 */
const struct retype_location *retype_locations_at(const struct retype_types *types,
	const char *file, uint32_t line, uint32_t start, uint32_t end, bool clamped,
	uint32_t *count);

/* What a location makes; it lives as long as the table. */
const struct retype_made *retype_location_made(
	struct retype_types *types, const struct retype_location *location, uint32_t *count);

/* What the word of a kind says of it, for readers. */
enum retype_maker retype_maker_of(const char *kind);

/* Sorts the locations and indexes them now and not with the first question. */
void retype_locations_index(struct retype_types *types);

void retype_locations_release(struct retype_types *types);

#endif
