/* The words of the note in a core of ours: those that are known, and those that are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "snapshot/image/capture_note.h"

#include <stdio.h>
#include <string.h>

/* Reads a note with these words for method and consistency; NULL for a line that is missing. */
static void read_words(struct snap_capture_note *capture, struct base_pool *pool,
	const char *method, const char *consistency)
{
	static char text[256];
	struct base_file core = {.bytes = (const uint8_t *)text};
	struct hg_error error;
	int length = snprintf(text, sizeof(text), "version=1\n%s%s\n%s%s\n",
		method ? "method=" : "other=", method ? method : "1",
		consistency ? "consistency=" : "other=", consistency ? consistency : "1");
	core.size = (size_t)length;
	struct snap_note note = {.desc = core.bytes, .desc_size = (uint32_t)length};
	assert_int_equal(snap_capture_note_read(capture, &note, &core, false, pool, &error), HG_OK);
}

static void known_words(void **state)
{
	struct base_pool pool = {0};
	struct snap_capture_note capture;
	(void)state;
	for (unsigned i = HG_MOMENT_CLEAN; i < HG_MOMENTS; i++) {
		const char *word = hg_moment_name((enum hg_moment)i);
		read_words(&capture, &pool, "fork", word);
		assert_int_equal(capture.moment, i);
		assert_string_equal(capture.consistency, word);
	}
	for (unsigned i = HG_CAPTURE_ANY + 1; i < HG_CAPTURE_METHODS; i++) {
		const char *word = hg_capture_method_name((enum hg_capture_method)i);
		read_words(&capture, &pool, word, "clean");
		assert_int_equal(capture.capture_method, i);
		assert_string_equal(capture.method, word);
	}
	base_pool_release(&pool);
}

/* They stand in reports as they are. */
static void unknown_words(void **state)
{
	static const char *const words[] = {"", "in-process", "Fork", "clean ", "unknown", "?"};
	struct base_pool pool = {0};
	struct snap_capture_note capture;
	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		read_words(&capture, &pool, words[i], words[i]);
		assert_int_equal(capture.capture_method, HG_CAPTURE_ANY);
		assert_int_equal(capture.moment, HG_MOMENT_UNKNOWN);
		assert_string_equal(capture.method, words[i]);
		assert_string_equal(capture.consistency, words[i]);
	}
	read_words(&capture, &pool, NULL, NULL);
	assert_string_equal(capture.method, "");
	assert_int_equal(capture.moment, HG_MOMENT_UNKNOWN);
	base_pool_release(&pool);
}

/* Runs of pages: in order and apart, or there are none. */
static void runs_of_pages(void **state)
{
	static const struct {
		uint64_t words[4];
		uint32_t size;
		uint64_t runs;
	} cases[] = {
		{{0x1000, 0x2000, 0x3000, 0x9000}, 32, 2},
		{{0x1000, 0x2000, 0x2000, 0x9000}, 32, 2},
		{{0x1000, 0x2000, 0x3000, 0x9000}, 31, 1},
		{{0x1000, 0x2000, 0x3000, 0x9000}, 15, 0},
		{{0x1000, 0x3000, 0x2000, 0x9000}, 32, 0},
		{{0x3000, 0x4000, 0x1000, 0x2000}, 32, 0},
		{{0x1000, 0x1000, 0x3000, 0x9000}, 32, 0},
		{{0x2000, 0x1000, 0x3000, 0x9000}, 32, 0},
		{{0x1000, 0x2001, 0x3000, 0x9000}, 32, 0},
		{{0x1000, 0x2000, 0x3000, UINT64_MAX}, 32, 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct snap_capture_note capture;
		struct snap_note note = {
			.desc = (const uint8_t *)cases[i].words, .desc_size = cases[i].size};
		snap_capture_note_init(&capture);
		snap_capture_note_runs(&capture, &note);
		assert_int_equal(capture.run_count, cases[i].runs);
		for (uint64_t j = 0; j < capture.run_count; j++) {
			assert_int_equal(
				snap_capture_note_run(&capture, j).start, cases[i].words[2 * j]);
			assert_int_equal(
				snap_capture_note_run(&capture, j).end, cases[i].words[2 * j + 1]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_words),
		cmocka_unit_test(unknown_words),
		cmocka_unit_test(runs_of_pages),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
