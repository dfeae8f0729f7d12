/*
 * Results that the caller frees: a struct of the public header, which the library alone makes, and
 * the arrays that belong to it.  Rows are reached by pointers, so that both the struct and its rows
 * may grow in later versions.
 */
#ifndef QUERY_SHARED_RESULT_H
#define QUERY_SHARED_RESULT_H

#include "query/shared/query.h"

/*
 * Begins the answer to a question: a zeroed struct of 'size' bytes at *out, a pointer to it.
 * HG_ERROR_USAGE, and NULL at *out, if the snapshot is none that has been analysed.
 */
enum hg_status query_answer(struct hg_snapshot *snapshot, size_t size, void *out);

/* A malloc'ed array is freed with the result from now on. */
void query_keep(void *result, void *array);

/*
 * The same for an array of 'count' rows of 'size' bytes, and sets *rows, a member of the result,
 * to an array of pointers to them.  The array is taken over, after a failure too.
 */
enum hg_status query_keep_rows(struct hg_snapshot *snapshot, void *result, void *array,
	uint64_t count, size_t size, void *rows);

/* The same without a snapshot, for results over several. */
enum hg_status query_answer_of(struct hg_error *error, size_t size, void *out);
enum hg_status query_keep_rows_of(
	struct hg_error *error, void *result, void *array, uint64_t count, size_t size, void *rows);

/* Frees the result that *out points to, if any, and sets it to NULL. */
void query_free(void *out);

#endif
