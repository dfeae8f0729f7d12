/* Files of bytecode programs: sections, globals and events, and files that lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "snapshot/bytecode/program.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC "Caml1999X030"
#define TRAILER "CODE\0\0\0\4DATA\0\0\0\2\0\0\0\2" MAGIC

/* A section of a heap copy of just these bytes, so that the sanitizers see every overrun. */
static enum hg_status find(const char *text, size_t size, const char *name, uint64_t *offset,
	uint64_t *length, bool *found)
{
	struct base_cursor c;
	struct hg_error error;
	uint8_t *bytes = malloc(size + !size);
	assert_non_null(bytes);
	memcpy(bytes, text, size);
	base_error_clear(&error);
	enum hg_status status = snap_bytecode_section(bytes, size, name, &c, found, &error);
	*offset = base_cursor_offset(&c);
	*length = base_cursor_left(&c);
	free(bytes);
	return status;
}

static void finds_sections(void **state)
{
	(void)state;
	static const char file[] = "#!abcdXY" TRAILER;
	uint64_t offset, length;
	bool found;
	assert_int_equal(find(file, sizeof(file) - 1, "CODE", &offset, &length, &found), HG_OK);
	assert_true(found && offset == 2 && length == 4);
	assert_int_equal(find(file, sizeof(file) - 1, "DATA", &offset, &length, &found), HG_OK);
	assert_true(found && offset == 6 && length == 2);
	assert_int_equal(find(file, sizeof(file) - 1, "DBUG", &offset, &length, &found), HG_OK);
	assert_false(found);
}

static void refuses_sections(void **state)
{
	(void)state;
	static const char longer[] = "abXY" TRAILER, many[] = "\377\377\377\377" MAGIC;
	static const char other[] = "abcdXYCODE\0\0\0\4\0\0\0\1Caml1999Y030";
	uint64_t offset, length;
	bool found;
	assert_int_equal(
		find(longer, sizeof(longer) - 1, "CODE", &offset, &length, &found), HG_ERROR_INPUT);
	assert_int_equal(
		find(many, sizeof(many) - 1, "CODE", &offset, &length, &found), HG_ERROR_INPUT);
	assert_int_equal(
		find(other, sizeof(other) - 1, "CODE", &offset, &length, &found), HG_ERROR_INPUT);
	for (size_t size = 0; size < sizeof(MAGIC) + 3; size++)
		assert_int_equal(
			find(many, size, "CODE", &offset, &length, &found), HG_ERROR_INPUT);
}

static void compares_code(void **state)
{
	(void)state;
	/* Opcodes 1 and 2 are threaded to 0x1001 and 0x1002; 7 is an operand. */
	static const uint32_t code[] = {1, 7, 2, 1, 7}, same[] = {0x1001, 7, 0x1002, 0x1001, 7};
	static const uint32_t twice[] = {0x1001, 7, 0x1002, 0x1003, 7};
	static const uint32_t big[] = {0x1001, 7, 0x1002, 0x1001, 1000};
	struct base_cursor c = base_cursor_over(code, sizeof(code));
	struct base_cursor b = base_cursor_over(big, sizeof(big));
	assert_true(snap_bytecode_is_loaded(&c, (const uint8_t *)same, sizeof(same)));
	assert_true(snap_bytecode_is_loaded(&c, (const uint8_t *)code, sizeof(code)));
	assert_false(snap_bytecode_is_loaded(&c, (const uint8_t *)twice, sizeof(twice)));
	assert_false(snap_bytecode_is_loaded(&b, (const uint8_t *)same, sizeof(same)));
}

/* A value: its data, and how many objects it says there are. */
static enum hg_status read_globals(const char *data, size_t size, unsigned objects,
	struct snap_bytecode_globals *globals, struct base_pool *pool, uint8_t *bytes)
{
	const uint8_t head[20] = {0x84, 0x95, 0xa6, 0xbe, 0, 0, 0, (uint8_t)size, 0, 0, 0,
		(uint8_t)objects, 0, 0, 0, 64, 0, 0, 0, 64};
	struct snap_marshal m;
	struct hg_error error;
	base_error_clear(&error);
	memcpy(bytes, head, sizeof(head));
	memcpy(bytes + sizeof(head), data, size);
	struct base_cursor c = base_cursor_over(bytes, sizeof(head) + size);
	*globals = (struct snap_bytecode_globals){0};
	enum hg_status status = snap_marshal_read(&c, pool, &m, &error);
	return status == HG_OK ? snap_bytecode_read_globals(&m, m.root, globals, &error) : status;
}

static void reads_globals(void **state)
{
	(void)state;
	/* {cnt = 3; tbl = Node (Empty, key, number, Empty, 1)}: small blocks are 0x80 + tag +
	   16 * size, small integers 0x40 + n, strings 0x20 + length. */
	static const char ident[] = "\xa0\x43\xd0\x40\x92\x21M\x42\x40\x41";
	static const char predefined[] = "\xa0\x43\xd0\x40\x91\x21"
					 "E\x40\x40\x41";
	static const char outside[] = "\xa0\x43\xd0\x40\x92\x21M\x43\x40\x41";
	static const char nameless[] = "\xa0\x43\xd0\x40\x92\x41\x42\x40\x41";
	static const char narrow[] = "\xa0\x43\xc0\x40\x92\x21M\x42\x40";
	struct snap_bytecode_globals g;
	struct base_pool pool = {0};
	uint8_t bytes[128];
	assert_int_equal(read_globals(ident, sizeof(ident) - 1, 4, &g, &pool, bytes), HG_OK);
	assert_int_equal(g.count, 3);
	assert_true(g.items[2].name.length == 1 && g.items[2].name.bytes[0] == 'M');
	assert_false(g.items[2].is_predefined);
	assert_int_equal(g.items[0].name.length, 0);
	free(g.items);
	assert_int_equal(
		read_globals(predefined, sizeof(predefined) - 1, 4, &g, &pool, bytes), HG_OK);
	assert_true(g.items[0].is_predefined);
	free(g.items);
	assert_int_equal(
		read_globals(outside, sizeof(outside) - 1, 4, &g, &pool, bytes), HG_ERROR_INPUT);
	free(g.items);
	assert_int_equal(
		read_globals(nameless, sizeof(nameless) - 1, 3, &g, &pool, bytes), HG_ERROR_INPUT);
	free(g.items);
	assert_int_equal(
		read_globals(narrow, sizeof(narrow) - 1, 4, &g, &pool, bytes), HG_ERROR_INPUT);
	free(g.items);
	base_pool_release(&pool);
}

static void refuses_events(void **state)
{
	(void)state;
	static const char none[] = "\0\0\0\0", cut[] = "\0\0\0\1\0\0", lie[] = "\377\377\377\377";
	struct snap_bytecode_events events;
	struct hg_error error;
	base_error_clear(&error);
	assert_int_equal(
		snap_bytecode_read_events(base_cursor_over(none, 4), &events, &error), HG_OK);
	assert_int_equal(events.count, 0);
	assert_int_equal(snap_bytecode_read_events(base_cursor_over(cut, 6), &events, &error),
		HG_ERROR_INPUT);
	assert_int_equal(snap_bytecode_read_events(base_cursor_over(lie, 4), &events, &error),
		HG_ERROR_INPUT);
	assert_int_equal(snap_bytecode_read_events(base_cursor_over(lie, 3), &events, &error),
		HG_ERROR_INPUT);
}

/* What is left of a file before the sections, told by its end alone. */
static void finds_start(void **state)
{
	(void)state;
	static const char file[] = "#!abcdXY" TRAILER, many[] = "\0\0\0\4" MAGIC;
	static const char longer[] = "abXY" TRAILER;
	const size_t size = sizeof(file) - 1, tail = sizeof(TRAILER) - 1;
	uint64_t start;
	assert_true(snap_bytecode_start((const uint8_t *)file, size, size, &start));
	assert_int_equal(start, 2);
	assert_true(snap_bytecode_start((const uint8_t *)file + size - tail, tail, 1000, &start));
	assert_int_equal(start, 1000 - tail - 6);
	assert_false(snap_bytecode_start((const uint8_t *)file, size - 1, size, &start));
	assert_false(snap_bytecode_start(
		(const uint8_t *)longer, sizeof(longer) - 1, sizeof(longer) - 1, &start));
	assert_false(snap_bytecode_start(
		(const uint8_t *)many, sizeof(many) - 1, sizeof(many) - 1, &start));
}

static void compares_caches_of_methods(void **state)
{
	(void)state;
	/* GETPUBMET, its method, where it was found; the same of another instruction. */
	static const uint32_t code[] = {141, 7, 0, 140, 7, 0, 0};
	static const uint32_t found[] = {0x1141, 7, 16, 0x1140, 7, 0, 0};
	static const uint32_t other[] = {0x1141, 7, 16, 0x1140, 7, 16, 17};
	struct base_cursor c = base_cursor_over(code, sizeof(code));
	assert_true(snap_bytecode_is_loaded(&c, (const uint8_t *)found, sizeof(found)));
	assert_false(snap_bytecode_is_loaded(&c, (const uint8_t *)other, sizeof(other)));
}

/*
 * One event of unit M at 8: the function M.g, f:3:5-9, with a variable x_7 at place 2 of its frame
 * and of its closure; then the folders: none.
 */
#define VARIABLE "\xc0\x40\xb0\xa0\x21x\x47\x42\x40\x40\x41"
#define PLACE(column)                                                                              \
	"\xc0\x21"                                                                                 \
	"f\x43\x40" column
#define EVENT_BEFORE                                                                               \
	"\xa0\x08\0\0\x2c\0\x48\x21M\xb0" PLACE("\x45") PLACE("\x49") "\x40\x40\x23M."             \
								      "g\x40\x40\x40"
#define EVENT_BEHIND "\x41\x40\x40"
#define HEAD(bytes, objects) "\x84\x95\xa6\xbe\0\0\0" bytes "\0\0\0" objects "\0\0\0\x7f\0\0\0\x7f"
#define FOLDERS HEAD("\x1", "\0") "\x40"

static const char events_413[] = "\0\0\0\1\0\0\0\x10" HEAD("\x3a", "\x12") EVENT_BEFORE
	"\xb0" VARIABLE VARIABLE "\x40" EVENT_BEHIND FOLDERS;
/* {stack; In_closure of {entries; place}}, and an entry is Free_variable of int. */
static const char events_52[] = "\0\0\0\1\0\0\0\x10" HEAD("\x3c", "\x14") EVENT_BEFORE
	"\xa0" VARIABLE
	"\xa0\xc0\x40\xb0\xa0\x21x\x47\x90\x42\x40\x40\x41\x40" EVENT_BEHIND FOLDERS;

/* The same with entries of tables that have the name and the stamp once more. */
static const char events_55[] = "\0\0\0\1\0\0\0\x10" HEAD("\x42", "\x16") EVENT_BEFORE
	"\xa0\xc0\x40\xd0\xa0\x21x\x47\x21x\x47\x42\x40\x40\x41"
	"\xa0\xc0\x40\xd0\xa0\x21x\x47\x21x\x47\x90\x42\x40\x40\x41\x40" EVENT_BEHIND FOLDERS;

static void reads_these_events(const char *bytes, size_t size)
{
	struct snap_bytecode_events events;
	struct snap_bytecode_variables variables;
	struct hg_error error;
	struct base_cursor c = base_cursor_over(bytes, size);
	base_error_clear(&error);
	assert_int_equal(snap_bytecode_read_events(c, &events, &error), HG_OK);
	assert_int_equal(events.count, 1);
	const struct snap_bytecode_event *event = &events.items[0];
	assert_true(event->position == 24 && event->is_function);
	assert_true(event->line == 3 && event->start == 5 && event->end == 9);
	assert_true(event->function.length == 3 && memcmp(event->function.bytes, "M.g", 3) == 0);
	assert_int_equal(event->captured_count, 1);
	const struct snap_bytecode_variable *x = &events.captured.items[event->first_captured];
	assert_true(x->name.length == 1 && x->name.bytes[0] == 'x');
	assert_true(x->stamp == 7 && x->place == 2);
	assert_int_equal(snap_bytecode_read_frame(c, 24, &variables, &error), HG_OK);
	assert_true(variables.count == 1 && variables.items[0].place == 2);
	free(variables.items);
	assert_int_equal(snap_bytecode_read_frame(c, 20, &variables, &error), HG_OK);
	assert_int_equal(variables.count, 0);
	assert_int_equal(snap_bytecode_read_frame(c, 8, &variables, &error), HG_OK);
	assert_int_equal(variables.count, 0);
	free(events.items);
	free(events.captured.items);
}

static void reads_events(void **state)
{
	(void)state;
	reads_these_events(events_413, sizeof(events_413) - 1);
	reads_these_events(events_52, sizeof(events_52) - 1);
	reads_these_events(events_55, sizeof(events_55) - 1);
}

/* A heap copy of just these bytes, so that the sanitizers see every overrun. */
static enum hg_status try_events(const char *bytes, size_t size, size_t at, char byte)
{
	struct snap_bytecode_events events;
	struct snap_bytecode_variables variables;
	struct hg_error error;
	char *copy = malloc(size + !size);
	assert_non_null(copy);
	memcpy(copy, bytes, size);
	if (at < size)
		copy[at] = byte;
	struct base_cursor c = base_cursor_over(copy, size);
	base_error_clear(&error);
	enum hg_status status = snap_bytecode_read_events(c, &events, &error);
	for (uint64_t i = 0; i < events.count; i++)
		assert_true(events.items[i].first_captured + events.items[i].captured_count <=
			    events.captured.count);
	(void)snap_bytecode_read_frame(c, 24, &variables, &error);
	free(events.items);
	free(events.captured.items);
	free(variables.items);
	free(copy);
	return status;
}

static void survives_events_that_lie(void **state)
{
	(void)state;
	static const char lies[] = {0, 1, 4, 8, 0x40, 0x47, 0x7f, '\x80', '\xa0', '\xc0', '\xff'};
	const size_t size = sizeof(events_52) - 1;
	for (size_t cut = 0; cut < size; cut++)
		assert_int_equal(try_events(events_52, cut, size, 0), HG_ERROR_INPUT);
	for (size_t at = 0; at < size; at++)
		for (size_t i = 0; i < sizeof(lies); i++)
			(void)try_events(events_52, size, at, lies[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_sections),
		cmocka_unit_test(refuses_sections),
		cmocka_unit_test(compares_code),
		cmocka_unit_test(reads_globals),
		cmocka_unit_test(refuses_events),
		cmocka_unit_test(finds_start),
		cmocka_unit_test(compares_caches_of_methods),
		cmocka_unit_test(reads_events),
		cmocka_unit_test(survives_events_that_lie),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
