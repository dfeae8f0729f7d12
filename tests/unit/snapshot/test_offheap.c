/* Whose memory outside the heap is: by hand, and by painting every byte of random ranges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "snapshot/offheap.h"

#include <stdlib.h>

enum { BYTES = 64, RANKS = 8, MOST_RANGES = 12, ROUNDS = 20000 };

static uint64_t seed = 20261123;

/* A number below a limit (xorshift64). */
static uint64_t below_limit(uint64_t limit)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % limit;
}

static uint64_t mask_of(uint64_t start, uint64_t end)
{
	uint64_t below_end = end == BYTES ? UINT64_MAX : ((uint64_t)1 << end) - 1;
	return below_end & ~(((uint64_t)1 << start) - 1);
}

static bool is_reached(const void *data, uint32_t rank)
{
	return *(const uint32_t *)data >> rank & 1;
}

static void add(struct snap *snap, uint64_t start, uint64_t end, uint64_t view, uint32_t rank)
{
	if (!snap->outside)
		snap->outside = calloc(MOST_RANGES, sizeof(*snap->outside));
	assert_non_null(snap->outside);
	snap->outside[snap->outside_count++] =
		(struct snap_outside){.start = start, .end = end, .view = view, .rank = rank};
}

static void settle(struct snap *snap, uint32_t reached)
{
	struct hg_error error;
	snap_sort_outside(snap);
	assert_int_equal(snap_settle_offheap(snap, is_reached, &reached, &error), HG_OK);
}

static void release(struct snap *snap)
{
	free(snap->outside);
	free(snap->offheap);
	*snap = (struct snap){0};
}

static void parts_count_once(void **state)
{
	struct snap snap = {0};
	(void)state;
	/* The one that sees most, though it comes last. */
	add(&snap, 1000, 2000, 10, 1);
	add(&snap, 1000, 2000, 30, 4);
	add(&snap, 1000, 2000, 1000, 6);
	settle(&snap, 1 << 1 | 1 << 4 | 1 << 6);
	assert_int_equal(snap.offheap_count, 1);
	assert_int_equal(snap_offheap_bytes(&snap, 6), 1000);
	assert_int_equal(snap_offheap_bytes(&snap, 1), 0);
	release(&snap);
	/* Unless nothing reaches it. */
	add(&snap, 1000, 2000, 10, 1);
	add(&snap, 1000, 2000, 1000, 6);
	add(&snap, 1000, 2000, 10, 3);
	settle(&snap, 1 << 1 | 1 << 3);
	assert_int_equal(snap_offheap_bytes(&snap, 1), 1000);
	assert_int_equal(snap.offheap_count, 1);
	release(&snap);
	/* Garbage owns what only it has. */
	add(&snap, 1000, 2000, 1000, 6);
	settle(&snap, 0);
	assert_int_equal(snap_offheap_bytes(&snap, 6), 1000);
	release(&snap);
}

static void files_are_no_memory(void **state)
{
	struct snap snap = {0};
	(void)state;
	add(&snap, 4096, 8192, 4096, 2);
	snap.outside[0].is_file = true;
	add(&snap, 8192, 8200, 8, 2);
	add(&snap, 9000, 9100, 100, 2);
	settle(&snap, 1 << 2);
	assert_int_equal(snap.mapped_bytes, 4096);
	assert_int_equal(snap.offheap_count, 1);
	assert_int_equal(snap_offheap_bytes(&snap, 2), 108);
	release(&snap);
}

/* Some have a size, and no place where it could be that of others, too. */
static void without_a_place(void **state)
{
	struct snap snap = {0};
	(void)state;
	add(&snap, 0, 0, 64, 5);
	add(&snap, 0, 0, 64, 3);
	add(&snap, 8, 16, 8, 5);
	settle(&snap, 0);
	assert_int_equal(snap_offheap_bytes(&snap, 3), 64);
	assert_int_equal(snap_offheap_bytes(&snap, 5), 72);
	assert_int_equal(snap.unplaced_bytes, 128);
	release(&snap);
}

/* A range, of which some are the same memory as an earlier one. */
static struct snap_range random_range(const struct snap *snap)
{
	uint64_t start = below_limit(BYTES);
	struct snap_range range = {start, start + 1 + below_limit(BYTES - start)};
	if (snap->outside_count && below_limit(2)) {
		const struct snap_outside *other = &snap->outside[below_limit(snap->outside_count)];
		range = (struct snap_range){other->start, other->end};
	}
	return range;
}

/* All that is in any range is somebody's, once, who has it in one of his. */
static void check_random_ranges(void)
{
	struct snap snap = {0};
	uint64_t covered[RANKS] = {0}, all = 0, sum = 0;
	uint64_t count = 1 + below_limit(MOST_RANGES);
	for (uint64_t i = 0; i < count; i++) {
		struct snap_range range = random_range(&snap);
		uint32_t rank = (uint32_t)below_limit(RANKS);
		add(&snap, range.start, range.end, 1 + below_limit(BYTES), rank);
		covered[rank] |= mask_of(range.start, range.end);
		all |= mask_of(range.start, range.end);
	}
	settle(&snap, (uint32_t)below_limit(1 << RANKS));
	for (uint64_t i = 0; i < snap.offheap_count; i++) {
		const struct snap_offheap *o = &snap.offheap[i];
		assert_true(i == 0 || snap.offheap[i - 1].rank < o->rank);
		assert_true(o->bytes != 0);
		assert_true(o->bytes <= (uint64_t)__builtin_popcountll(covered[o->rank]));
		sum += o->bytes;
	}
	assert_int_equal(sum, __builtin_popcountll(all));
	release(&snap);
}

static void every_byte_has_one_owner(void **state)
{
	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++)
		check_random_ranges();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_count_once),
		cmocka_unit_test(files_are_no_memory),
		cmocka_unit_test(without_a_place),
		cmocka_unit_test(every_byte_has_one_owner),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
