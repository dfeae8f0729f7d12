/* Arrays that grow keep what is in them, small and large, and refuse sizes that cannot be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/grow.h"

typedef enum hg_status grow_fn(void *array, uint64_t count, uint64_t more, uint64_t *capacity,
	size_t size, struct hg_error *error);

/* Beyond several huge pages. */
enum { NUMBERS = 3 << 20 };

static uint64_t *fill_one_by_one(grow_fn *grow, uint64_t *capacity, unsigned *moves)
{
	struct hg_error error;
	uint64_t *numbers = NULL;
	*capacity = 0;
	for (uint64_t i = 0; i < NUMBERS; i++) {
		uint64_t before = *capacity;
		assert_int_equal(grow(&numbers, i, 1, capacity, sizeof(*numbers), &error), HG_OK);
		assert_true(*capacity > i);
		*moves += *capacity != before;
		numbers[i] = i * i;
	}
	for (uint64_t i = 0; i < NUMBERS; i++)
		assert_int_equal(numbers[i], i * i);
	return numbers;
}

static void refuse_too_many(grow_fn *grow)
{
	struct hg_error error;
	void *nothing = NULL;
	uint64_t capacity = 0;
	assert_int_equal(grow(&nothing, 0, UINT64_MAX / 2, &capacity, 8, &error), HG_ERROR_LIMIT);
	assert_int_equal(
		grow(&nothing, 0, SIZE_MAX / 24 + 1, &capacity, 24, &error), HG_ERROR_LIMIT);
	assert_null(nothing);
	assert_int_equal(capacity, 0);
}

static void arrays_of_malloc(void **state)
{
	uint64_t capacity;
	unsigned moves = 0;
	(void)state;
	free(fill_one_by_one(base_grow_by, &capacity, &moves));
	refuse_too_many(base_grow_by);
}

/* Twice at most after half a huge page is reached; the last growth is far beyond what is asked. */
static void large_arrays(void **state)
{
	uint64_t capacity;
	unsigned moves = 0, small = 0;
	(void)state;
	for (uint64_t count = 64; count * sizeof(uint64_t) < 1 << 20; count *= 2)
		small++;
	uint64_t *numbers = fill_one_by_one(base_huge_grow, &capacity, &moves);
	assert_true(moves <= small + 2);
	base_huge_release(numbers, capacity, sizeof(*numbers));
	refuse_too_many(base_huge_grow);
	base_huge_release(NULL, 0, 8);
}

static void many_at_once(void **state)
{
	struct hg_error error;
	char *bytes = NULL;
	uint64_t capacity = 0;
	(void)state;
	assert_int_equal(base_huge_grow(&bytes, 0, 5, &capacity, 1, &error), HG_OK);
	bytes[4] = 'x';
	assert_int_equal(base_huge_grow(&bytes, 5, 50 << 20, &capacity, 1, &error), HG_OK);
	assert_true(capacity >= 5 + (50 << 20));
	assert_int_equal(bytes[4], 'x');
	bytes[capacity - 1] = 'y';
	base_huge_release(bytes, capacity, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrays_of_malloc),
		cmocka_unit_test(large_arrays),
		cmocka_unit_test(many_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
