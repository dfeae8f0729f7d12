/* Tables keyed by what stands in files: keys chosen to meet must cost what others do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/hash.h"
#include "snapshot/image/elf_file.h"
#include "tests/unit/core.h"

enum { KEYS = 1 << 15 };

/*
 * Slots looked at in vain while the table grew: at most half full, with random hashes, a search
 * passes 0.5 of them on average when it is fullest (Knuth, The Art of Computer Programming, vol. 3,
 * 6.4: linear probing), and every key is placed twice at the most, on average.
 */
static void check_probes(uint64_t probes, uint64_t keys)
{
	if (probes > 2 * keys)
		fail_msg("%llu slots for %llu keys", (unsigned long long)probes,
			(unsigned long long)keys);
}

static void fill(struct base_map *map, uint64_t (*key)(uint64_t i))
{
	struct hg_error error;
	base_error_clear(&error);
	for (uint64_t i = 0; i < KEYS; i++) {
		uint64_t value = i;
		bool added;
		assert_int_equal(base_map_add(map, key(i), &value, &added, &error), HG_OK);
		assert_true(added);
	}
}

static void check_map(uint64_t (*key)(uint64_t i))
{
	struct base_map map = {0};
	struct hg_error error;
	bool added;
	base_error_clear(&error);
	fill(&map, key);
	assert_int_equal(map.count, KEYS);
	check_probes(map.probes, KEYS);
	for (uint64_t i = 0; i < KEYS; i++) {
		uint64_t value = HG_UNKNOWN;
		assert_true(base_map_get(&map, key(i), &value));
		assert_int_equal(value, i);
	}
	uint64_t value = 7, none = 7;
	assert_int_equal(base_map_add(&map, key(3), &value, &added, &error), HG_OK);
	assert_false(added);
	assert_int_equal(value, 3);
	assert_false(base_map_get(&map, key(KEYS), &none));
	assert_int_equal(none, 7);
	base_map_release(&map);
	assert_false(base_map_get(&map, key(3), &none));
}

static uint64_t same_low_bits(uint64_t i)
{
	return i << 48;
}

static uint64_t same_middle_bits(uint64_t i)
{
	return i >> 8 << 56 | (i & 0xff);
}

static uint64_t neighbours(uint64_t i)
{
	return UINT64_C(0x7f0000000000) + 8 * i;
}

/* i times the inverse of the golden ratio's multiplier: what that multiplier makes i of. */
static uint64_t against_golden_ratio(uint64_t i)
{
	return i * UINT64_C(0xf1de83e19937733d);
}

static void keys_that_meet(void **state)
{
	(void)state;
	assert_int_equal(UINT64_C(0xf1de83e19937733d) * UINT64_C(0x9e3779b97f4a7c15), 1);
	check_map(same_low_bits);
	check_map(same_middle_bits);
	check_map(neighbours);
	check_map(against_golden_ratio);
}

/* Bytes of all lengths: each position and the length count. */
static void bytes(void **state)
{
	(void)state;
	struct base_map seen = {0};
	struct hg_error error;
	bool added;
	uint8_t text[40];
	memset(text, 0, sizeof(text));
	base_error_clear(&error);
	for (size_t length = 0; length <= sizeof(text); length++) {
		for (size_t at = 0; at <= length; at++) {
			if (at < length)
				text[at] = 1;
			uint64_t hash = base_hash_bytes(base_process_secret(), text, length);
			assert_int_equal(
				base_hash_bytes(base_process_secret(), text, length), hash);
			assert_int_equal(base_map_note(&seen, hash, &added, &error), HG_OK);
			assert_true(added);
			if (at < length)
				text[at] = 0;
		}
	}
	base_map_release(&seen);
}

/* FNV-1a with its halves folded: what names were once placed by. */
static uint32_t fnv(const char *name)
{
	uint32_t h = 2166136261u;
	for (; *name; name++)
		h = (h ^ (uint8_t)*name) * 16777619u;
	return h ^ h >> 15;
}

/* Names of symbols that all meet in one of 2048 places under a hash that everybody knows. */
static void names_that_meet(void **state)
{
	(void)state;
	enum { NAMES = 1000, PLACES = 2048 };
	static char names[NAMES][16];
	static Elf64_Sym symbols[NAMES];
	char strings[NAMES * 16] = "";
	struct snap_elf elf = {.table_count = 1, .symbol_count = NAMES};
	struct snap_elf_symbol found;
	unsigned count = 0;
	for (unsigned i = 0; count < NAMES; i++) {
		snprintf(names[count], sizeof(names[count]), "caml%u", i);
		if (fnv(names[count]) % PLACES == 0)
			count++;
	}
	for (unsigned i = 0; i < NAMES; i++) {
		memcpy(strings + 16 * i, names[i], sizeof(names[i]));
		symbols[i] = (Elf64_Sym){.st_name = 16 * i,
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = 1,
			.st_value = i};
	}
	elf.tables[0] = (struct snap_symbol_table){
		(const uint8_t *)symbols, strings, sizeof(strings), NAMES, 0};
	for (unsigned i = 0; i < NAMES; i++) {
		assert_true(snap_elf_find_symbol(&elf, names[i], &found));
		assert_int_equal(found.value, i);
	}
	/* Placed once, looked for once. */
	check_probes(elf.probes, NAMES);
	free(elf.slots);
	free(elf.by_address);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_that_meet),
		cmocka_unit_test(bytes),
		cmocka_unit_test(names_that_meet),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
