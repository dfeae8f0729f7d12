/* The table of layouts against what debug information of each version said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "snapshot/runtime/layout.h"

#ifndef OFFSETS
#define OFFSETS "../shared/prototypes/runtime/offsets"
#endif

/* Some files have a line for each bracket and number: only those that begin a structure are kept.
 */
static void join_lines(char *text)
{
	char *to = text;
	for (const char *line = text; *line;) {
		size_t length = strcspn(line, "\n");
		bool begins = memmem(line, length, "\": {", 4);
		if (begins && to > text)
			*to++ = '\n';
		memmove(to, line, length);
		to += length;
		line += length + (line[length] == '\n');
	}
	*to = '\0';
}

static char *text_of(const char *version)
{
	char path[256];
	snprintf(path, sizeof(path), OFFSETS "/%s.json", version);
	FILE *file = fopen(path, "rb");
	if (!file)
		fail_msg("%s", path);
	char *text = calloc(1, 1 << 20);
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
	fclose(file);
	join_lines(text);
	return text;
}

/* A structure is a line: "struct name": {"size":N,"fields":[["member",offset,size,"type"],...]} */
static const char *line_of(const char *text, const char *structure)
{
	static const char *const forms[] = {"\n\"%s\": {", "\n\"struct %s\": {"};
	char key[128];
	for (size_t i = 0; i < 2; i++) {
		snprintf(key, sizeof(key), forms[i], structure);
		const char *line = strstr(text, key);
		if (line)
			return line + 1;
	}
	return NULL;
}

static long number_after(const char *line, const char *key)
{
	const char *end = strchr(line, '\n');
	const char *found = strstr(line, key);
	return found && (!end || found < end) ? strtol(found + strlen(key), NULL, 10) : -1;
}

/* Rows whose structure or member has another name in some versions. */
static const struct {
	const char *structure, *member, *other_structure, *other_member;
} aliases[] = {
	{"final_todo", "next", "to_do", "next"},
	{"final_todo", "size", "to_do", "size"},
	{"final_todo", "item", "to_do", "item"},
	{"tracked", "flags", "tracked", "source"},
	{"entry_array", "t", "entries_s", "t"},
	{"entry_array", "alloc_len", "entries_s", "capacity"},
	{"entry_array", "len", "entries_s", "size"},
};

static long find(const char *text, const char *structure, const char *member)
{
	char key[128];
	const char *line = line_of(text, structure);
	if (!line)
		return -1;
	if (!member)
		return number_after(line, "\"size\":");
	snprintf(key, sizeof(key), "[\"%s\",", member);
	return number_after(line, key);
}

static long expected(const char *text, const struct snap_layout_row *row)
{
	long value = find(text, row->structure, row->member);
	for (size_t i = 0; value < 0 && i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (row->member && strcmp(aliases[i].structure, row->structure) == 0 &&
			strcmp(aliases[i].member, row->member) == 0)
			value = find(text, aliases[i].other_structure, aliases[i].other_member);
	return value;
}

/* Of the runtime for bytecode; the records are of that for native code. */
static bool is_of_bytecode(const struct snap_layout_row *row)
{
	static const char *const members[] = {"stack_low", "stack_high", "sp"};
	if (strcmp(row->structure, "debug_info") == 0 || strcmp(row->structure, "ev_info") == 0)
		return true;
	if (strcmp(row->structure, "caml_thread_struct") != 0 || !row->member)
		return false;
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (strcmp(row->member, members[i]) == 0)
			return true;
	return false;
}

/* Static variables without a named type, and structures private to one file. */
static bool has_no_record(const struct snap_layout *layout, const char *structure)
{
	static const char *const names[] = {"pool_freelist", "stw_domains", "orph_structs",
		"memprof_thread_s", "memprof_orphan_table_s"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(structure, names[i]) == 0)
			return true;
	return layout->version >= SNAP_OCAML_5_3 && strcmp(structure, "tracked") == 0;
}

static void equals_debug_information(void **state)
{
	(void)state;
	static const char *const files[SNAP_OCAML_VERSIONS] = {
		"4.13.1", "4.14.2", "5.0.0", "5.1.1", "5.2.0", "5.3.0", "5.4.1", "5.5.2"};
	if (access(OFFSETS "/5.3.0.json", R_OK) != 0) {
		print_message("no offsets in %s\n", OFFSETS);
		skip();
	}
	for (unsigned v = 0; v < SNAP_OCAML_VERSIONS; v++) {
		char *text = text_of(files[v]);
		const struct snap_layout *layout = snap_layout_at(v);
		struct snap_layout_row row;
		size_t compared = 0;
		assert_memory_equal(layout->name, files[v], strlen(layout->name));
		for (size_t i = 0; snap_layout_get_row(layout, i, &row); i++) {
			if (has_no_record(layout, row.structure) || is_of_bytecode(&row))
				continue;
			long value = expected(text, &row);
			bool absent = row.value == SNAP_ABSENT;
			if (absent ? value != -1 : value != row.value)
				fail_msg("%s: %s.%s is %ld, not %u", files[v], row.structure,
					row.member ? row.member : "size", value, row.value);
			compared += !absent;
		}
		assert_true(compared > 60);
		free(text);
	}
}

static void size_classes(void **state)
{
	(void)state;
	/* wastage_sizeclass of 5.2 and later, in words */
	static const uint8_t waste[SNAP_SIZE_CLASSES] = {0, 0, 0, 0, 2, 0, 4, 4, 2, 0, 4, 12, 12, 7,
		0, 17, 4, 28, 0, 22, 18, 3, 11, 21, 62, 4, 42, 87, 33, 96, 80, 124};
	for (unsigned v = SNAP_OCAML_5_0; v < SNAP_OCAML_VERSIONS; v++) {
		const struct snap_layout *layout = snap_layout_at(v);
		bool first = v >= SNAP_OCAML_5_2;
		assert_int_equal(layout->size_classes[8], first ? 10 : 9);
		assert_int_equal(layout->size_classes[31], 128);
		for (uint32_t i = 0; i < SNAP_SIZE_CLASSES; i++) {
			assert_int_equal(
				snap_layout_first_slot(layout, i), first ? 8 * (4 + waste[i]) : 32);
			assert_true(
				i == 0 || layout->size_classes[i] > layout->size_classes[i - 1]);
		}
	}
	assert_null(snap_layout_at(SNAP_OCAML_4_13)->size_classes);
	assert_null(snap_layout_at(SNAP_OCAML_4_14)->size_classes);
}

static bool is_named(void *program, const char *name)
{
	return strcmp(program, name) == 0;
}

/* Of programs without Stdlib.Sys; the functions are new in these versions (nm of their runtimes).
 */
static void versions_by_symbols(void **state)
{
	(void)state;
	assert_string_equal(
		snap_version_of_symbols(true, is_named, (char[]){"caml_memprof_is_sampling"}),
		"5.5");
	assert_string_equal(
		snap_version_of_symbols(true, is_named, (char[]){"caml_free_domains"}), "5.4");
	assert_string_equal(snap_version_of_symbols(true, is_named, (char[]){"main"}), "5.0");
	assert_string_equal(
		snap_version_of_symbols(false, is_named, (char[]){"main"}), "4.10 to 4.12");
	assert_string_equal(snap_layout_remedy("5.6.0+dev0"), ": a newer heapgraph may read it");
	assert_string_equal(snap_layout_remedy("6.0"), ": a newer heapgraph may read it");
	assert_string_equal(snap_layout_remedy("4.12.1"), "");
	assert_string_equal(snap_layout_remedy("?"), "");
}

/* As the debug information of 5.3.0 for arm64 has it. */
static void larger_mutexes(void **state)
{
	(void)state;
	struct snap_layout four = snap_layout_with_mutex(snap_layout_at(SNAP_OCAML_4_13), 48);
	struct snap_layout five = snap_layout_with_mutex(snap_layout_at(SNAP_OCAML_5_3), 48);
	assert_memory_equal(&four, snap_layout_at(SNAP_OCAML_4_13), sizeof(four));
	assert_int_equal(five.sizeof_dom_internal, 280);
	assert_int_equal(five.dom_internal_state, 8);
	assert_int_equal(five.sizeof_caml_thread_table, 152);
	assert_int_equal(five.pool_freelist_free, 48);
	assert_int_equal(five.pool_freelist_global_large, 632);
	assert_int_equal(five.caml_frame_descrs_frametables, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_debug_information),
		cmocka_unit_test(size_classes),
		cmocka_unit_test(versions_by_symbols),
		cmocka_unit_test(larger_mutexes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
