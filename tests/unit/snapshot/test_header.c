/* The header word, for every width of the reserved bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "snapshot/header.h"

/* The header by its definition, field by field, not by the shifts of the code. */
static uint64_t define(
	unsigned reserved, uint64_t high, uint64_t wosize, uint64_t color, uint64_t tag)
{
	uint64_t header = tag + 256 * color + 1024 * wosize;
	for (uint64_t i = 0, bit = (uint64_t)1 << (64 - reserved) % 64; i < reserved;
		i++, bit <<= 1)
		if (high >> i & 1)
			header += bit;
	return header;
}

static void check(unsigned reserved, uint32_t high, uint64_t wosize, unsigned color, unsigned tag)
{
	uint64_t header = define(reserved, high, wosize, color, tag);
	assert_int_equal(snap_header_tag(header), tag);
	assert_int_equal(snap_header_color(header), color);
	assert_int_equal(snap_header_wosize(header, reserved), wosize);
	assert_int_equal(snap_header_reserved(header, reserved), high);
	if (color == SNAP_COLOR_WHITE)
		assert_int_equal(snap_header_make(reserved, high, wosize, tag), header);
}

/* Every bit of wosize and reserved alone, all but one, and the extremes, with every tag and color.
 */
static void check_width(unsigned reserved)
{
	uint64_t max = snap_header_max_wosize(reserved);
	uint32_t all = reserved ? (uint32_t)(UINT32_MAX >> (32 - reserved)) : 0;
	assert_int_equal(max, ((uint64_t)1 << (54 - reserved)) - 1);
	for (unsigned low = 0; low < 1024; low++) {
		unsigned color = low >> 8, tag = low & 0xff;
		check(reserved, all, max, color, tag);
		check(reserved, 0, 0, color, tag);
		check(reserved, 0, max, color, tag);
		check(reserved, all, 0, color, tag);
		for (unsigned bit = 0; bit < 54 - reserved; bit++) {
			check(reserved, 0, (uint64_t)1 << bit, color, tag);
			check(reserved, all, max ^ (uint64_t)1 << bit, color, tag);
		}
		for (unsigned bit = 0; bit < reserved; bit++) {
			check(reserved, (uint32_t)1 << bit, 0, color, tag);
			check(reserved, all ^ (uint32_t)1 << bit, max, color, tag);
		}
	}
}

static void every_width_decodes(void **state)
{
	(void)state;
	for (unsigned reserved = 0; reserved <= 31; reserved++)
		check_width(reserved);
}

/* All 2^21 location ids, and all sizes up to 2^21 words, at the widths that occur. */
static void all_ids_and_small_sizes(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < (uint32_t)1 << 21; i++) {
		check(21, i, i ^ 0x155555, i & 3, i & 0xff);
		check(0, 0, i, i >> 8 & 3, i >> 10 & 0xff);
	}
}

static void opaque_tags(void **state)
{
	(void)state;
	for (unsigned tag = 0; tag < 256; tag++)
		assert_int_equal(snap_tag_has_fields(tag), tag < 251);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_width_decodes),
		cmocka_unit_test(all_ids_and_small_sizes),
		cmocka_unit_test(opaque_tags),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
