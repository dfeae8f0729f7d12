/*
 * Closures whose class is their function although a sample tells the type of some of them.
 *
 * A type that only the place of a sampled allocation tells is not that of the other closures of the
 * function, whose type is not known: they would be of two classes, and grow twice.  So where
 * samples tell, closures of a function are of the class that most of those not sampled are of.
 */
#ifndef QUERY_RETENTION_CLOSURE_CLASSES_H
#define QUERY_RETENTION_CLOSURE_CLASSES_H

#include "query/shared/query.h"

/* "_ -> _" and the like tell less of a closure than its function does. */
bool query_tells_nothing(const char *type);

/* The code that a closure's block begins with; 0 if the file does not have it. */
uint64_t query_code_of_cell(
	struct hg_snapshot *snapshot, uint32_t rank, const struct snap_cell *cell);

/* A zeroed one has none; released with base_map_release(). */
enum hg_status query_count_closures(struct hg_snapshot *snapshot, struct base_map *votes);

/* Whether a closure is of its function's class, whatever its type is. */
bool query_is_by_function(struct hg_snapshot *snapshot, const struct base_map *votes, uint32_t rank,
	const struct snap_cell *cell);

#endif
