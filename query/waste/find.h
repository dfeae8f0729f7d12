/*
 * Looking for waste: what its passes share (find_values.c, find_shapes.c), and rows.
 */
#ifndef QUERY_WASTE_FIND_H
#define QUERY_WASTE_FIND_H

#include "query/shared/types.h"

struct waste {
	struct hg_snapshot *snapshot;
	struct base_arena arena; /* what there is one of for each block */
	uint32_t *kinds;         /* of a type the first one of its name */
	struct hg_waste_row *rows;
	uint64_t count, capacity;
};

/* Rows that save nothing are none. */
enum hg_status waste_add(struct waste *waste, const struct hg_waste_row *row);

/* The first type that has the name of this one. */
static inline uint32_t waste_type(const struct waste *waste, uint32_t type)
{
	return waste->kinds && waste->kinds[type] ? waste->kinds[type] : type;
}

/* The declaration of a type that is no several at once; NULL if it has none. */
const struct retype_declaration *waste_declaration(
	const struct hg_snapshot *snapshot, struct retype_term type);

/* Static data is not in the heap: its blocks cannot be saved. */
bool waste_is_static(const struct hg_snapshot *snapshot, uint32_t rank);

/* Equal strings, bytes and values. */
enum hg_status waste_find_equal(struct waste *waste);

/* Tables, tails, boxes. */
enum hg_status waste_find_shapes(struct waste *waste);

#endif
