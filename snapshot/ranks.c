/* Numbers for blocks and kept words, by counted bits. */
#include "snapshot/ranks.h"

#include "base/assert.h"
#include "base/grow.h"
#include "base/search.h"

#include <string.h>

/*
 * Lines cost at most 1,536 bytes for each block with fields or header in a granule of its own.
 * Leaves beyond this much per block, and a constant, mean blocks 128 MB apart: no heap.
 */
enum { LEAF_BYTES_PER_BLOCK = 2048, FREE_BYTES = 64 << 20 };

enum hg_status snap_granules_add(struct snap_granules *granules, uint64_t first_address,
	uint64_t last_address, struct hg_error *error)
{
	base_assert(first_address <= last_address);
	uint64_t from = first_address >> SNAP_GRANULE_SHIFT;
	uint64_t to = last_address >> SNAP_GRANULE_SHIFT;
	if (granules->count && granules->numbers[granules->count - 1] == from)
		from++;
	for (; from <= to; from++) {
		BASE_TRY(base_grow(&granules->numbers, granules->count, &granules->capacity,
			sizeof(*granules->numbers), error));
		granules->numbers[granules->count++] = from;
	}
	granules->last = to;
	return HG_OK;
}

void snap_granules_release(struct snap_granules *granules)
{
	free(granules->numbers);
	*granules = (struct snap_granules){0};
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Ascending, each once; chunks mostly come in that order already. */
static void sort_granules(struct snap_granules *granules)
{
	uint64_t *numbers = granules->numbers;
	bool sorted = true;
	for (uint64_t i = 1; i < granules->count; i++)
		sorted &= numbers[i - 1] < numbers[i];
	if (sorted)
		return;
	qsort(numbers, granules->count, sizeof(*numbers), by_number);
	uint64_t kept = 0;
	for (uint64_t i = 0; i < granules->count; i++)
		if (kept == 0 || numbers[kept - 1] != numbers[i])
			numbers[kept++] = numbers[i];
	granules->count = kept;
	for (uint64_t i = 1; i < kept; i++)
		base_assert(numbers[i - 1] < numbers[i]);
}

static uint64_t count_leaves(const struct snap_granules *granules)
{
	uint64_t leaves = 0;
	for (uint64_t i = 0; i < granules->count; i++)
		if (i == 0 || granules->numbers[i] >> SNAP_LEAF_SHIFT !=
				      granules->numbers[i - 1] >> SNAP_LEAF_SHIFT)
			leaves++;
	return leaves;
}

/* 'leaves' are those that there is room for, the empty one included. */
static void fill_table(
	struct snap_ranks *ranks, const struct snap_granules *granules, uint64_t leaves)
{
	uint32_t leaf = 0;
	for (uint32_t i = 0; i < granules->count; i++) {
		uint64_t number = granules->numbers[i];
		base_assert(number >> SNAP_LEAF_SHIFT < SNAP_TOP_ENTRIES);
		uint32_t *top = &ranks->top[number >> SNAP_LEAF_SHIFT];
		if (*top == 0)
			*top = ++leaf;
		uint64_t middle = number & ((1 << SNAP_LEAF_SHIFT) - 1);
		ranks->leaves[((uint64_t)*top << SNAP_LEAF_SHIFT) + middle] = i + 1;
		ranks->numbers[i + 1] = number;
	}
	base_assert(leaf + 1 == leaves);
}

enum hg_status snap_ranks_init(struct snap_ranks *ranks, struct snap_granules *granules,
	struct base_arena *arena, uint64_t blocks, struct hg_error *error)
{
	sort_granules(granules);
	uint64_t count = granules->count + 1, leaves = count_leaves(granules) + 1;
	uint64_t leaf_bytes = leaves * sizeof(uint32_t) << SNAP_LEAF_SHIFT;
	if (leaf_bytes > blocks * LEAF_BYTES_PER_BLOCK + FREE_BYTES)
		return base_corrupt(error, HG_NO_OFFSET,
			"its blocks are strewn over %llu pieces of 32 KiB, which is no heap",
			(unsigned long long)granules->count);
	BASE_TRY(base_arena_zalloc(arena, count * SNAP_GRANULE_LINES, sizeof(struct snap_line),
		(void **)&ranks->lines, error));
	BASE_TRY(base_arena_zalloc(arena, leaves << SNAP_LEAF_SHIFT, sizeof(uint32_t),
		(void **)&ranks->leaves, error));
	BASE_TRY(base_arena_reserve(
		arena, SNAP_TOP_ENTRIES, sizeof(uint32_t), (void **)&ranks->top, error));
	BASE_TRY(base_arena_alloc(
		arena, count, sizeof(*ranks->numbers), (void **)&ranks->numbers, error));
	ranks->granule_count = count;
	if (granules->count) {
		unsigned words = SNAP_GRANULE_SHIFT - 3;
		ranks->first_word = granules->numbers[0] << words;
		uint64_t end = (granules->numbers[granules->count - 1] + 1) << words;
		ranks->word_span = end - ranks->first_word;
	}
	fill_table(ranks, granules, leaves);
	snap_granules_release(granules);
	return HG_OK;
}

enum hg_status snap_ranks_count(struct snap_ranks *ranks, uint64_t *blocks, struct hg_error *error)
{
	uint64_t kept = 0, headers = 0;
	uint64_t lines = ranks->granule_count * SNAP_GRANULE_LINES;
	for (uint64_t i = 0; i < lines; i++) {
		struct snap_line *line = &ranks->lines[i];
		line->kept_before = (uint32_t)kept;
		line->blocks_before = (uint32_t)headers;
		kept += (uint64_t)__builtin_popcountll(line->kept);
		headers += (uint64_t)__builtin_popcountll(line->header & line->kept);
	}
	if (kept >= (uint64_t)1 << 31)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"%llu blocks and pointers: more than the 2^31 that this version can hold",
			(unsigned long long)kept);
	/* Every block has a slot of its own. */
	base_assert(headers <= kept);
	ranks->slot_count = kept;
	*blocks = headers;
	return HG_OK;
}

static uint64_t line_word(const struct snap_ranks *ranks, uint64_t line)
{
	uint64_t number = ranks->numbers[line / SNAP_GRANULE_LINES];
	return (number << (SNAP_GRANULE_SHIFT - 3)) + (line % SNAP_GRANULE_LINES) * 64;
}

/* Position of the n-th set bit, which must exist. */
static unsigned select_bit(uint64_t bits, uint32_t n)
{
	while (n--)
		bits &= bits - 1;
	return (unsigned)__builtin_ctzll(bits);
}

/* Last line that counts at most 'number' before it, by rank or by slot; the first counts none. */
static uint64_t find_line(const struct snap_ranks *ranks, uint32_t number, bool by_slot)
{
	uint64_t count = ranks->granule_count * SNAP_GRANULE_LINES;
	base_assert(ranks->lines[0].kept_before == 0 && ranks->lines[0].blocks_before == 0);
	return (by_slot ? BASE_FIRST_ABOVE(ranks->lines, count, kept_before, number)
			: BASE_FIRST_ABOVE(ranks->lines, count, blocks_before, number)) -
	       1;
}

struct snap_header_address snap_ranks_header(const struct snap_ranks *ranks, struct snap_rank rank)
{
	uint64_t line = find_line(ranks, rank.n, false);
	const struct snap_line *l = &ranks->lines[line];
	uint64_t headers = l->header & l->kept;
	base_assert(rank.n - l->blocks_before < (uint32_t)__builtin_popcountll(headers));
	unsigned bit = select_bit(headers, rank.n - l->blocks_before);
	return snap_word_header(line_word(ranks, line) + bit);
}

struct snap_header_address snap_ranks_slot_header(
	const struct snap_ranks *ranks, struct snap_slot slot)
{
	base_assert(slot.n < ranks->slot_count);
	uint64_t line = find_line(ranks, slot.n, true);
	const struct snap_line *l = &ranks->lines[line];
	unsigned bit = select_bit(l->kept, slot.n - l->kept_before);
	return snap_word_header(line_word(ranks, line) + bit);
}

/* First granule after a number: for words between granules. */
static uint64_t granules_up_to(const struct snap_ranks *ranks, uint64_t number)
{
	return 1 + BASE_FIRST_NUMBER_ABOVE(ranks->numbers + 1, ranks->granule_count - 1, number);
}

bool snap_ranks_block_before(
	const struct snap_ranks *ranks, uint64_t address, struct snap_rank *rank)
{
	uint64_t word = address >> 3;
	uint64_t number = word >> (SNAP_GRANULE_SHIFT - 3);
	uint64_t after = granules_up_to(ranks, number);
	if (after == 1)
		return false;
	uint64_t line;
	uint32_t before;
	if (ranks->numbers[after - 1] == number) {
		line = (after - 1) * SNAP_GRANULE_LINES + (word >> 6 & 63);
		uint64_t upto = UINT64_MAX >> (63 - (word & 63));
		const struct snap_line *l = &ranks->lines[line];
		before = l->blocks_before +
			 (uint32_t)__builtin_popcountll(l->header & l->kept & upto);
	} else {
		line = after * SNAP_GRANULE_LINES - 1;
		const struct snap_line *l = &ranks->lines[line];
		before = l->blocks_before + (uint32_t)__builtin_popcountll(l->header & l->kept);
	}
	if (before == 0)
		return false;
	rank->n = before - 1;
	base_assert(snap_ranks_header(ranks, *rank).a <= address);
	return true;
}
