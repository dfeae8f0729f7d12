/* The runtime of programs without symbols: addresses against those that symbols told before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "snapshot/runtime/found/shapes.h"
#include "snapshot/runtime/runtime.h"
#include "tests/unit/core.h"

/* Samples with truth; they are no part of the repository. */
#ifndef SAMPLES
#define SAMPLES "../shared/data/versions/static-stripped"
#endif

/* One of several that look alike may bear the name of another. */
static bool is_alike(const char *a, const char *b)
{
	static const char *const families[] = {"caml_global_roots", "finalisable_"};
	for (size_t i = 0; i < LENGTH(families); i++)
		if (strncmp(a, families[i], strlen(families[i])) == 0)
			return strncmp(b, families[i], strlen(families[i])) == 0;
	return strcmp(a, b) == 0;
}

/* Whether the list of symbols of nm has a name, and at this address; else *address is 0. */
static bool knows_symbol(const char *symbols, const char *name, uint64_t *address)
{
	char line[512], symbol[256], type;
	unsigned long long at;
	bool is_known = false, is_there = false;
	FILE *file = fopen(symbols, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx %c %255s", &at, &type, symbol) != 3 ||
			!is_alike(symbol, name))
			continue;
		is_known = true;
		is_there |= at == *address;
	}
	fclose(file);
	*address = is_there ? *address : 0;
	return is_known;
}

/* All that the symbols know is found where they say, tables among it. */
static void compare_symbols(const char *core, const char *executable, const char *symbols)
{
	const struct snap_image_options options = {.core = core, .executable = executable};
	struct snap_image image;
	struct snap_runtime runtime;
	struct hg_error error;
	unsigned compared = 0;
	if (snap_image_open(&image, &options, &error) != HG_OK ||
		snap_runtime_open(&runtime, &image, &error) != HG_OK)
		fail_msg("%s: %s", core, error.message);
	const struct snap_found *found = runtime.found;
	assert_non_null(found);
	for (unsigned i = 0; i < found->variable_count; i++) {
		const char *name = found->variables[i].name;
		uint64_t address = found->variables[i].address - image.main->bias;
		if (!knows_symbol(symbols, name, &address))
			continue;
		if (!address)
			fail_msg("%s: %s is elsewhere", core, name);
		compared++;
	}
	assert_true(compared >= 8);
	assert_true(snap_found_variable(found, "caml_globals") != 0);
	assert_true(snap_found_variable(found, "caml_frametable") != 0);
	assert_int_equal(snap_found_variable(found, "nothing"), 0);
	snap_runtime_close(&runtime);
	snap_image_close(&image);
}

static void equals_symbols(void **state)
{
	(void)state;
	compare_symbols("tests/fixtures/static/static-4.13.1.core.zst", NULL,
		"tests/fixtures/static/static-4.13.1.nm");
	compare_symbols("tests/fixtures/static/static-5.3.0.core.zst", NULL,
		"tests/fixtures/static/static-5.3.0.nm");
}

static void equals_symbols_of_samples(void **state)
{
	static const char *const names[] = {"basic.static", "basic.musl.static"};
	(void)state;
	if (access(SAMPLES, R_OK) != 0)
		skip();
	for (size_t i = 0; i < LENGTH(names); i++) {
		char core[256], executable[256], symbols[256];
		snprintf(core, sizeof(core), SAMPLES "/%s.stripped.exe.core.zst", names[i]);
		snprintf(executable, sizeof(executable), SAMPLES "/%s.stripped.exe.zst", names[i]);
		snprintf(symbols, sizeof(symbols), SAMPLES "/%s.nm", names[i]);
		compare_symbols(core, executable, symbols);
	}
}

/* Shapes in memory made by hand */

enum { BASE = 0x100000, HEAP = 0x200000, WORDS = 512 };

struct memory {
	uint64_t data[WORDS], heap[WORDS];
};

static bool read_memory(void *data, uint64_t address, void *buffer, size_t size)
{
	struct memory *memory = data;
	const bool is_heap = address >= HEAP;
	uint64_t offset = address - (is_heap ? HEAP : BASE);
	if (address < BASE || offset > 8 * WORDS || size > 8 * WORDS - offset)
		return false;
	memcpy(buffer, (uint8_t *)(is_heap ? memory->heap : memory->data) + offset, size);
	return true;
}

static void found_open(struct snap_found *found, struct memory *memory, const char *version)
{
	struct hg_error error;
	*memory = (struct memory){0};
	*found = (struct snap_found){.read = read_memory, .data = memory, .program = "p"};
	found->layout = snap_layout_of(version);
	found->is_5 = found->layout->version >= SNAP_OCAML_5_0;
	assert_int_equal(snap_found_add_space(
				 found, (struct snap_range){BASE, BASE + 8 * WORDS}, true, &error),
		HG_OK);
}

/* One cell: key, data, next. */
static bool fits_cell(struct snap_found *found, struct memory *memory, uint64_t key, uint64_t data)
{
	struct snap_candidate candidate = {BASE, HEAP + 64, 1};
	memory->data[0] = HEAP + 64;
	memory->heap[8] = key;
	memory->heap[9] = data;
	memory->heap[10] = 0;
	return snap_fits_c_roots(found, HEAP + 64, &candidate);
}

static void roots_of_c(void **state)
{
	struct snap_found found;
	struct memory memory;
	(void)state;
	found_open(&found, &memory, "5.1.0");
	memory.data[100] = 3;
	assert_true(fits_cell(&found, &memory, BASE + 800, 0));
	assert_true(fits_cell(&found, &memory, BASE + 800, 1));
	assert_false(fits_cell(&found, &memory, BASE + 800, 2));
	assert_false(fits_cell(&found, &memory, 8, 0));
	/* A block of two words; free ones have another colour; one that is too large. */
	memory.data[100] = HEAP + 808;
	memory.heap[100] = 2 << 10;
	assert_true(fits_cell(&found, &memory, BASE + 800, 0));
	memory.heap[100] |= SNAP_COLOR_BLACK << 8;
	assert_false(fits_cell(&found, &memory, BASE + 800, 0));
	memory.heap[100] = (uint64_t)WORDS << 10;
	assert_false(fits_cell(&found, &memory, BASE + 800, 0));
	/* A second head, or a level, that nothing leads to. */
	memory.data[100] = 3;
	memory.data[1] = HEAP + 64;
	assert_false(fits_cell(&found, &memory, BASE + 800, 0));
	memory.data[1] = 0;
	memory.data[17] = 1;
	assert_false(fits_cell(&found, &memory, BASE + 800, 0));
	snap_found_release(&found);
}

/* A free pool is a page with a link to the next, and no owner. */
static void free_pools(void **state)
{
	struct snap_found found;
	struct memory memory;
	struct snap_candidate candidate = {BASE, HEAP, 1};
	(void)state;
	found_open(&found, &memory, "5.1.0");
	memory.data[0] = HEAP;
	memory.heap[0] = BASE;
	assert_false(snap_fits_c_roots(&found, HEAP, &candidate));
	memory.heap[0] = BASE + 8;
	assert_true(snap_fits_c_roots(&found, HEAP, &candidate));
	snap_found_release(&found);
}

static void lists_end(void **state)
{
	(void)state;
	struct snap_found_list list = {0};
	uint64_t steps = 0;
	while (snap_found_goes_on(&list, 0x1000 + 8 * (steps < 100 ? steps : 100 + steps % 7)))
		steps++;
	assert_true(steps > 100 && steps < 300);
	list = (struct snap_found_list){0};
	for (steps = 0; steps < 1000; steps++)
		assert_true(snap_found_goes_on(&list, 0x1000 + 8 * steps));
}

static void segments_in_order(void **state)
{
	struct snap_found found;
	struct memory memory;
	struct hg_error error;
	(void)state;
	found_open(&found, &memory, "4.13.1");
	assert_int_equal(snap_found_tables(&found, &error), HG_OK);
	assert_int_equal(found.globals, 0);
	assert_int_equal(snap_found_add_space(
				 &found, (struct snap_range){BASE + 8, BASE + 16}, true, &error),
		HG_OK);
	assert_int_equal(snap_found_tables(&found, &error), HG_ERROR_INPUT);
	assert_non_null(strstr(error.message, "not in the order of their addresses"));
	snap_found_release(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_symbols),
		cmocka_unit_test(equals_symbols_of_samples),
		cmocka_unit_test(roots_of_c),
		cmocka_unit_test(free_pools),
		cmocka_unit_test(lists_end),
		cmocka_unit_test(segments_in_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
