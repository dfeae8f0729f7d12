/* Results: the arrays that belong to one are listed in front of what the caller sees. */
#include "query/shared/result.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

/* hg_explain_nodes() has four arrays of rows with their pointers, and names. */
enum { MOST_ARRAYS = 9 };

/* In front of the struct that the caller sees. */
struct result {
	void *arrays[MOST_ARRAYS];
	size_t count;
};

_Static_assert(sizeof(struct result) % sizeof(uint64_t) == 0, "what follows is aligned");

static struct result *result_of(void *answer)
{
	return (struct result *)answer - 1;
}

enum hg_status query_answer_of(struct hg_error *error, size_t size, void *out)
{
	struct result *result = calloc(1, sizeof(*result) + size);
	if (!result)
		return base_no_memory(error, sizeof(*result) + size);
	void *answer = result + 1;
	memcpy(out, &answer, sizeof(answer));
	return HG_OK;
}

enum hg_status query_answer(struct hg_snapshot *snapshot, size_t size, void *out)
{
	void *none = NULL;
	if (!out)
		return query_no_place(snapshot);
	memcpy(out, &none, sizeof(none));
	BASE_TRY(query_begin(snapshot));
	return query_answer_of(&snapshot->session->error, size, out);
}

void query_keep(void *answer, void *array)
{
	struct result *result = result_of(answer);
	base_assert(result->count < MOST_ARRAYS);
	result->arrays[result->count++] = array;
}

enum hg_status query_keep_rows_of(
	struct hg_error *error, void *answer, void *array, uint64_t count, size_t size, void *rows)
{
	query_keep(answer, array);
	char **pointers = calloc(count + 1, sizeof(*pointers));
	if (!pointers)
		return base_no_memory(error, count * sizeof(*pointers));
	query_keep(answer, pointers);
	for (uint64_t i = 0; i < count; i++)
		pointers[i] = (char *)array + i * size;
	memcpy(rows, &pointers, sizeof(pointers));
	return HG_OK;
}

enum hg_status query_keep_rows(struct hg_snapshot *snapshot, void *answer, void *array,
	uint64_t count, size_t size, void *rows)
{
	return query_keep_rows_of(&snapshot->session->error, answer, array, count, size, rows);
}

void query_free(void *out)
{
	void *answer = NULL, *none = NULL;
	if (out)
		memcpy(&answer, out, sizeof(answer));
	if (!answer)
		return;
	struct result *result = result_of(answer);
	for (size_t i = 0; i < result->count; i++)
		free(result->arrays[i]);
	free(result);
	memcpy(out, &none, sizeof(none));
}
