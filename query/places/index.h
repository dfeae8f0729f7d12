/*
 * The index of places by the types of what they make; a snapshot keeps it.
 */
#ifndef QUERY_PLACES_INDEX_H
#define QUERY_PLACES_INDEX_H

#include "base/pool.h"
#include "query/shared/query.h"

/* One kind of block that a location makes. */
struct query_made {
	uint64_t head;
	uint32_t type, location;
	bool direct; /* the expression itself makes it */
	const char *kind;
};

/* What blocks say of one type and location. */
struct query_located {
	uint64_t blocks, bytes;
};

struct query_places {
	struct query_made *made; /* by head, type, location */
	uint64_t made_count;
	struct base_map own; /* by the pointer of a file's name: whether its unit is own */
	uint32_t *same;      /* by type: the first one of the same name, 0 of none */
	uint32_t same_count;
	/* Lines of the source that blocks tell of: numbers of files and lines. */
	struct query_pairs lines;
	struct base_map file_numbers; /* by the pointer of a name */
	const char **files;
	uint64_t file_count, file_capacity;
	/* Types, as 'same' has them, and twice the number of a line; 1 more: only a call is there.
	 */
	struct query_pairs pairs;
	struct query_located *located; /* by number of the pair */
	uint64_t located_capacity;
	uint32_t *next_located;  /* the next pair of the same type, + 1 */
	uint32_t *first_located; /* by type: a pair, + 1 */
	/* What was answered in few words, by type, part and how many; the text is in the pool. */
	struct base_map told;
	struct base_pool pool;
};

void query_places_release(struct query_places *places);

#endif
