/*
 * Memory for the big arrays of one phase of an analysis.
 *
 * Large arrays lie in transparent huge pages, which are only taken from the system when they are
 * touched, so that an array may be sized by an upper bound, and go back to it when the array is
 * freed; all goes with the arena.  Behind it stands a jemalloc arena of its own that keeps no freed
 * pages (jemalloc(3), "arenas.create"), or the system's allocator in builds for sanitizers and
 * valgrind (-DBASE_ARENA_SYSTEM).
 *
 * A budget is shared by the arenas of one session: base_arena_alloc() fails with HG_ERROR_LIMIT
 * when the bytes handed out would exceed it.  Not thread safe: allocate before threads start.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/error.h"

struct base_budget {
	uint64_t limit; /* bytes; 0: none */
	uint64_t used;  /* bytes handed out in the session, touched or not */
	uint64_t peak;
};

/* For memory that no arena has; 'phase' is for the message. */
enum hg_status base_budget_charge(
	struct base_budget *budget, const char *phase, uint64_t bytes, struct hg_error *error);
void base_budget_return(struct base_budget *budget, uint64_t bytes);

struct base_arena {
	struct base_budget *budget;
	const char *phase; /* for messages */
	struct base_array *arrays;
	uint64_t charged; /* bytes of the budget that its arrays have */
	unsigned jemalloc_index;
};

enum hg_status base_arena_init(struct base_arena *arena, struct base_budget *budget,
	const char *phase, struct hg_error *error);

/* Frees every array.  An arena that was only zero-initialised may be released too. */
void base_arena_release(struct base_arena *arena);

/*
 * An array of count elements of 'size' bytes, with any contents or zeroed; never NULL on success,
 * even for count 0.
 */
enum hg_status base_arena_alloc(
	struct base_arena *arena, uint64_t count, size_t size, void **out, struct hg_error *error);
enum hg_status base_arena_zalloc(
	struct base_arena *arena, uint64_t count, size_t size, void **out, struct hg_error *error);

/*
 * A zeroed array sized by a far upper bound and touched only in part: the budget is not charged for
 * it.
 */
enum hg_status base_arena_reserve(
	struct base_arena *arena, uint64_t count, size_t size, void **out, struct hg_error *error);

/* Charges the budget for the first 'bytes' bytes of a reserved array, which have been touched. */
enum hg_status base_arena_touch(
	struct base_arena *arena, void *array, uint64_t bytes, struct hg_error *error);

/* Frees one array before its arena ends; NULL is ignored. */
void base_arena_free(struct base_arena *arena, void *array);

/* Keeps the contents of only the first 'bytes' bytes of an array, which stays where it is. */
void base_arena_shrink(struct base_arena *arena, void *array, uint64_t bytes);

/* What serves the arenas: "jemalloc" with its version, or "system". */
void base_arena_backend(char *buffer, size_t size);

/* Checks that the allocator really serves an arena: for the start-up of the command. */
enum hg_status base_arena_check(struct hg_error *error);

#endif
