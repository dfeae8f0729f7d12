/* Binary search by a number and sets of bits, beside what a loop over all of them finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/assert.h"
#include "base/bits.h"
#include "base/search.h"

enum { MOST = 40 };

struct wide {
	char before;
	uint64_t number;
};

struct wrapped {
	struct {
		uint32_t n;
	} number;
	char after;
};

/* Every array of up to MOST entries, with runs of equal ones, and every limit around them. */
static void first_entries_are_found(void **state)
{
	struct wide wide[MOST] = {0};
	struct wrapped wrapped[MOST] = {0};
	(void)state;
	for (uint64_t i = 0; i < MOST; i++) {
		wide[i].number = i / 3 * 2 + 1;
		wrapped[i].number.n = (uint32_t)wide[i].number;
	}
	for (uint64_t count = 0; count <= MOST; count++) {
		for (uint64_t limit = 0; limit < MOST; limit++) {
			uint64_t from = 0, above = 0;
			while (from < count && wide[from].number < limit)
				from++;
			while (above < count && wide[above].number <= limit)
				above++;
			assert_int_equal(BASE_FIRST_FROM(wide, count, number, limit), from);
			assert_int_equal(BASE_FIRST_ABOVE(wide, count, number, limit), above);
			assert_int_equal(BASE_FIRST_FROM(wrapped, count, number, limit), from);
			assert_int_equal(BASE_FIRST_ABOVE(wrapped, count, number, limit), above);
		}
	}
}

static void the_ends_of_numbers(void **state)
{
	struct wide wide[] = {{0, 0}, {0, UINT64_MAX - 1}, {0, UINT64_MAX}};
	struct wide *none = NULL;
	(void)state;
	assert_int_equal(BASE_FIRST_FROM(wide, 3, number, UINT64_MAX), 2);
	assert_int_equal(BASE_FIRST_ABOVE(wide, 3, number, UINT64_MAX), 3);
	assert_int_equal(BASE_FIRST_FROM(wide, 3, number, 0), 0);
	assert_int_equal(BASE_FIRST_ABOVE(wide, 3, number, 0), 1);
	/* A limit of 64 bits is not cut to the width of the numbers. */
	struct wrapped narrow[] = {{{0}, 0}, {{UINT32_MAX}, 0}};
	assert_int_equal(BASE_FIRST_FROM(narrow, 2, number, (uint64_t)UINT32_MAX + 1), 2);
	assert_int_equal(BASE_FIRST_FROM(narrow, 2, number, UINT32_MAX), 1);
	assert_int_equal(BASE_FIRST_FROM(none, 0, number, 5), 0);
}

static void order_is_told(void **state)
{
	struct wide wide[] = {{0, 1}, {0, 1}, {0, 5}, {0, 4}};
	(void)state;
	uint64_t count = 0;
	assert_true(BASE_IS_SORTED(wide, count, number));
	assert_true(BASE_IS_SORTED(wide, 3, number));
	assert_false(BASE_IS_SORTED(wide, 4, number));
}

static void bits_are_kept_apart(void **state)
{
	uint64_t bits[4] = {0};
	bool expected[256] = {false};
	(void)state;
	assert_int_equal(base_bit_words(0), 0);
	assert_int_equal(base_bit_words(1), 1);
	assert_int_equal(base_bit_words(64), 1);
	assert_int_equal(base_bit_words(65), 2);
	assert_int_equal(base_bit_words(256), 4);
	assert_int_equal(base_bit_words(UINT64_MAX), UINT64_MAX / 64 + 1);
	for (unsigned i = 0; i < 1000; i++) {
		unsigned number = i * 37 % 256;
		if (i % 3) {
			base_bit_set(bits, number);
			expected[number] = true;
		} else {
			base_bit_clear(bits, number);
			expected[number] = false;
		}
		for (unsigned j = 0; j < 256; j++)
			assert_int_equal(base_bit(bits, j), expected[j]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_entries_are_found),
		cmocka_unit_test(the_ends_of_numbers),
		cmocka_unit_test(order_is_told),
		cmocka_unit_test(bits_are_kept_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
