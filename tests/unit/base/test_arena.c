/* Arenas: contents, budgets, and that any order of allocations can be released. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/arena.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAYS = 24, ROUNDS = 60 };

static uint64_t next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* Sizes of all orders of magnitude up to 32 MB. */
static uint64_t any_size(uint64_t *state)
{
	return 1 + next(state) % ((uint64_t)1 << (1 + next(state) % 25));
}

struct array {
	unsigned char *bytes;
	uint64_t size;
};

static void fill(struct base_arena *arena, struct array *array, uint64_t *state)
{
	struct hg_error error;
	void *bytes;
	bool zeroed = next(state) % 2;
	array->size = any_size(state);
	enum hg_status status = zeroed ? base_arena_zalloc(arena, array->size, 1, &bytes, &error)
				       : base_arena_alloc(arena, array->size, 1, &bytes, &error);
	assert_int_equal(status, HG_OK);
	array->bytes = bytes;
	if (zeroed) {
		assert_int_equal(array->bytes[0], 0);
		assert_int_equal(array->bytes[array->size / 2], 0);
		assert_int_equal(array->bytes[array->size - 1], 0);
	}
	memset(bytes, 0xa5, array->size);
}

/* What an analysis does to its arena, in any order and size, several arenas at a time. */
static void any_order_can_be_released(void **state)
{
	uint64_t random = 1;
	struct base_budget budget = {0};
	struct hg_error error;
	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct base_arena arenas[2];
		struct array arrays[2][ARRAYS] = {0};
		for (unsigned a = 0; a < 2; a++)
			assert_int_equal(
				base_arena_init(&arenas[a], &budget, "test", &error), HG_OK);
		for (unsigned step = 0; step < 3 * ARRAYS; step++) {
			unsigned a = next(&random) % 2;
			struct array *array = &arrays[a][next(&random) % ARRAYS];
			if (!array->bytes) {
				fill(&arenas[a], array, &random);
			} else if (next(&random) % 3 == 0) {
				uint64_t kept = array->size / 2;
				base_arena_shrink(&arenas[a], array->bytes, kept);
				array->size = kept;
			} else {
				if (array->size)
					assert_int_equal(array->bytes[array->size - 1], 0xa5);
				base_arena_free(&arenas[a], array->bytes);
				array->bytes = NULL;
			}
			assert_int_equal(arenas[0].charged + arenas[1].charged, budget.used);
		}
		base_arena_release(&arenas[0]);
		base_arena_release(&arenas[1]);
		base_arena_release(&arenas[1]);
		assert_int_equal(budget.used, 0);
	}
	assert_true(budget.peak > 0);
}

static void the_budget_is_kept(void **state)
{
	struct base_budget budget = {.limit = 1000};
	struct base_arena arena;
	struct hg_error error;
	void *first, *second;
	(void)state;
	assert_int_equal(base_arena_init(&arena, &budget, "test", &error), HG_OK);
	assert_int_equal(base_arena_alloc(&arena, 600, 1, &first, &error), HG_OK);
	assert_int_equal(base_arena_alloc(&arena, 401, 1, &second, &error), HG_ERROR_LIMIT);
	assert_non_null(strstr(error.message, "test"));
	assert_int_equal(base_arena_alloc(&arena, 400, 1, &second, &error), HG_OK);
	assert_int_equal(budget.used, 1000);
	base_arena_shrink(&arena, first, 100);
	assert_int_equal(budget.used, 500);
	base_arena_free(&arena, first);
	assert_int_equal(budget.used, 400);
	/* An upper bound that is not touched is not charged. */
	assert_int_equal(base_arena_reserve(&arena, (uint64_t)1 << 30, 1, &first, &error), HG_OK);
	assert_int_equal(budget.used, 400);
	assert_int_equal(((char *)first)[(1 << 30) - 1], 0);
	/* What is touched is charged once, as far as the limit allows, and goes with the rest. */
	assert_int_equal(base_arena_touch(&arena, first, 300, &error), HG_OK);
	assert_int_equal(base_arena_touch(&arena, first, 200, &error), HG_OK);
	assert_int_equal(budget.used, 700);
	assert_int_equal(base_arena_touch(&arena, first, 601, &error), HG_ERROR_LIMIT);
	base_arena_shrink(&arena, first, 250);
	assert_int_equal(budget.used, 650);
	assert_int_equal(arena.charged, 650);
	base_arena_release(&arena);
	assert_int_equal(budget.used, 0);
}

static void sizes_that_overflow(void **state)
{
	struct base_budget budget = {0};
	struct base_arena arena;
	struct hg_error error;
	void *array;
	(void)state;
	assert_int_equal(base_arena_init(&arena, &budget, "test", &error), HG_OK);
	assert_int_equal(
		base_arena_alloc(&arena, UINT64_MAX / 4, 8, &array, &error), HG_ERROR_LIMIT);
	assert_int_equal(base_arena_alloc(&arena, UINT64_MAX, 1, &array, &error), HG_ERROR_LIMIT);
	assert_int_equal(base_arena_alloc(&arena, 0, 8, &array, &error), HG_OK);
	assert_non_null(array);
	base_arena_release(&arena);
}

static void the_start_up_check_passes(void **state)
{
	struct hg_error error;
	char backend[64];
	(void)state;
	assert_int_equal(base_arena_check(&error), HG_OK);
	base_arena_backend(backend, sizeof(backend));
	assert_true(strncmp(backend, "jemalloc 5", 10) == 0 || strcmp(backend, "system") == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order_can_be_released),
		cmocka_unit_test(the_budget_is_kept),
		cmocka_unit_test(sizes_that_overflow),
		cmocka_unit_test(the_start_up_check_passes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
