/* Call stacks that are told from outside a snapshot, as text and as lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot/told.h"

enum { DEEP = 1000 };

/*
 * Two functions that are inlined at place 1, one at place 2 in a file without a name, nothing at
 * place 0.  Call 1 is at place 1, call 2 that it makes at 0, call 3 at 2, and so on.
 */
static struct snap_told told;

static int make_told(void **state)
{
	static const struct snap_told_frame frames[] = {
		{{.file = "a.ml", .line = 3, .start = 4, .end = 9}, "A.inner"},
		{{.file = "a.ml", .line = 30, .start = 0, .end = 5}, "A.outer"},
		{{.file = "", .line = 7, .start = 1, .end = 2}, ""},
	};
	static const struct snap_told_place places[] = {{0, 0}, {0, 2}, {2, 1}};
	(void)state;
	told.call_count = DEEP;
	told.calls = calloc(DEEP, sizeof(*told.calls));
	told.places = malloc(sizeof(places));
	told.frames = malloc(sizeof(frames));
	if (!told.calls || !told.places || !told.frames)
		return -1;
	memcpy(told.places, places, sizeof(places));
	memcpy(told.frames, frames, sizeof(frames));
	for (uint32_t i = 1; i < DEEP; i++)
		told.calls[i] = (struct snap_told_call){i - 1, i == 1 ? 1 : i == 2 ? 0 : 2};
	return 0;
}

static int free_told(void **state)
{
	(void)state;
	snap_told_release(&told);
	assert_null(told.calls);
	return 0;
}

static void frames_come_from_the_inside(void **state)
{
	static const char *const wanted[] = {":7:1-2", "A.inner a.ml:3:4-9", "A.outer a.ml:30:0-5"};
	char text[64];
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		size_t length = snap_put_told_frame(&told, 3, i, text, sizeof(text));
		assert_string_equal(text, wanted[i]);
		assert_int_equal(length, strlen(wanted[i]));
		assert_int_equal(snap_put_told_frame(&told, 3, i, NULL, 0), length);
	}
	assert_int_equal(snap_put_told_frame(&told, 3, 3, text, sizeof(text)), 0);
	assert_int_equal(snap_put_told_frame(&told, 0, 0, text, sizeof(text)), 0);
	assert_int_equal(snap_put_told_frame(&told, 3, UINT64_MAX, text, sizeof(text)), 0);
}

static void a_line_has_all(void **state)
{
	static const char wanted[] = ":7:1-2 < A.inner a.ml:3:4-9 < A.outer a.ml:30:0-5";
	char text[128];
	(void)state;
	assert_int_equal(snap_put_told_stack(&told, 3, text, sizeof(text)), strlen(wanted));
	assert_string_equal(text, wanted);
	assert_int_equal(snap_put_told_stack(&told, 3, NULL, 0), strlen(wanted));
	/* Cut anywhere, it has the same length and begins alike. */
	for (size_t size = 1; size < sizeof(wanted); size++) {
		memset(text, '#', sizeof(text));
		assert_int_equal(snap_put_told_stack(&told, 3, text, size), strlen(wanted));
		assert_int_equal(strlen(text), size - 1);
		assert_memory_equal(text, wanted, size - 1);
		assert_int_equal(text[size], '#');
	}
}

static void deep_stacks_are_cut(void **state)
{
	char text[1 << 14];
	(void)state;
	size_t length = snap_put_told_stack(&told, DEEP - 1, text, sizeof(text));
	assert_int_equal(length, strlen(text));
	assert_string_equal(text + length - 6, " < ...");
	assert_int_equal(length, SNAP_MOST_CALLS * strlen(":7:1-2 < ") - 3 + 6);
	assert_int_equal(
		snap_put_told_frame(&told, DEEP - 1, SNAP_MOST_CALLS, text, sizeof(text)), 0);
}

static void lines_are_those_with_a_file(void **state)
{
	struct snap_location lines[2] = {{0}};
	(void)state;
	assert_int_equal(snap_told_locations(&told, 3, lines, 1), 2);
	assert_int_equal(lines[0].line, 3);
	assert_int_equal(lines[1].line, 0);
	assert_int_equal(snap_told_locations(&told, 3, lines, 2), 2);
	assert_string_equal(lines[1].file, "a.ml");
	assert_int_equal(lines[1].line, 30);
	assert_int_equal(snap_told_locations(&told, 0, lines, 2), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_come_from_the_inside),
		cmocka_unit_test(a_line_has_all),
		cmocka_unit_test(deep_stacks_are_cut),
		cmocka_unit_test(lines_are_those_with_a_file),
	};
	return cmocka_run_group_tests(tests, make_told, free_told);
}
