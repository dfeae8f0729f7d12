/*
 * Places in the source by the types of what they make: what the profile lists, indexed once with
 * the first question, and what blocks tell of their locations.
 */
#ifndef QUERY_PLACES_PLACES_H
#define QUERY_PLACES_PLACES_H

#include "query/shared/query.h"

/* A place as the profile or blocks tell it. */
struct query_place {
	const char *file;
	uint32_t line;
	bool own, exact, direct;
	const char *kind;
	uint64_t blocks, bytes; /* that are known to have been allocated here */
};

/*
 * All lines where values of a type are made, each once, in the order of hg_list_places(); from
 * malloc().
 */
enum hg_status query_places_of(
	struct hg_snapshot *snapshot, uint32_t type, struct query_place **out, uint64_t *count);

/* Where a sampled block was allocated. */
struct query_sample_line {
	const char *file; /* lives as long as the snapshot */
	uint32_t line;
};

/*
 * The line of the innermost call that is in the program's own source, or with 'own' false where the
 * block was allocated if that is in a library.  False if there is none.
 */
bool query_line_of_sample(
	struct hg_snapshot *snapshot, uint32_t rank, bool own, struct query_sample_line *out);

#endif
