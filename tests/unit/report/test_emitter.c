/* The emitter: escapes of every sink, alignment, valid JSON, number spelling. */
#include "report/writers/emitter.h"
#include "report/writers/escape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Control bytes, quotes, separators, invalid UTF-8, a right-to-left override, good UTF-8. */
static const char hostile[] = "a\033[31m\"b\",\n\\c\t&\xff\xc0\xaf\xed\xa0\x80\xe2\x80\xae\xc3\xa9";

struct capture {
	char *bytes;
	size_t size;
	FILE *stream;
	struct rep_emitter emitter;
};

static void begin(struct capture *capture, const struct rep_writer *writer)
{
	capture->bytes = NULL;
	capture->stream = open_memstream(&capture->bytes, &capture->size);
	assert_non_null(capture->stream);
	assert_true(rep_emitter_init(&capture->emitter, capture->stream, writer, false));
}

/* What was written; the caller frees it. */
static char *end(struct capture *capture)
{
	assert_false(rep_emitter_broken(&capture->emitter));
	rep_emitter_release(&capture->emitter);
	fclose(capture->stream);
	return capture->bytes;
}

typedef void escape_fn(struct rep_text *text, const char *bytes, size_t length);

static void check_escape(escape_fn *escape, const char *bytes, size_t length, const char *wanted)
{
	struct rep_text text = {0};
	escape(&text, bytes, length);
	assert_string_equal(rep_text_string(&text), wanted);
	rep_text_release(&text);
}

static void terminal_shows_what_it_would_obey(void **state)
{
	(void)state;
	check_escape(rep_text_escape_terminal, hostile, sizeof(hostile) - 1,
		"a\\x1B[31m\"b\",\\x0A\\c\\x09&"
		"\\xFF\\xC0\\xAF\\xED\\xA0\\x80\\xE2\\x80\\xAE\xc3\xa9");
	check_escape(rep_text_escape_terminal, "\x7f\xc2\x9b", 3, "\\x7F\\xC2\\x9B");
	check_escape(rep_text_escape_terminal, "a\0b", 3, "a\\x00b");
	check_escape(rep_text_escape_terminal, "", 0, "");
}

static void csv_is_verbatim_in_quotes(void **state)
{
	(void)state;
	check_escape(rep_text_escape_csv, "plain", 5, "plain");
	check_escape(rep_text_escape_csv, "a,b", 3, "\"a,b\"");
	check_escape(rep_text_escape_csv, "a\"b", 3, "\"a\"\"b\"");
	check_escape(rep_text_escape_csv, "a\r\nb", 4, "\"a\r\nb\"");
	check_escape(rep_text_escape_csv, "=1+1\xff", 5, "=1+1\xff");
}

static void json_replaces_what_is_not_utf8(void **state)
{
	(void)state;
	check_escape(rep_text_escape_json, hostile, sizeof(hostile) - 1,
		"a\\u001b[31m\\\"b\\\",\\u000a\\\\c\\u0009&\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
		"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xe2\x80\xae\xc3\xa9");
	/* Overlong, beyond Unicode, cut short. */
	check_escape(
		rep_text_escape_json, "\xe0\x80\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	check_escape(rep_text_escape_json, "\xf4\x90\x80\x80", 4,
		"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	check_escape(rep_text_escape_json, "\xe2\x82", 2, "\xef\xbf\xbd\xef\xbf\xbd");
	check_escape(rep_text_escape_json, "\xf0\x9f\x90\xab", 4, "\xf0\x9f\x90\xab");
}

static void dot_shows_literally(void **state)
{
	(void)state;
	check_escape(rep_text_escape_dot, "a\\Nb", 4, "a\\\\Nb");
	check_escape(rep_text_escape_dot, "&lt;\n", 5, "&amp;lt;\\\\x0A");
	/* Quotes are escaped by libcgraph when it writes. */
	check_escape(rep_text_escape_dot, "\"", 1, "\"");
}

typedef void spell_fn(struct rep_text *text, uint64_t number);

static void check_number(spell_fn *spell, uint64_t number, const char *wanted)
{
	struct rep_text text = {0};
	spell(&text, number);
	assert_string_equal(rep_text_string(&text), wanted);
	rep_text_release(&text);
}

static void numbers_are_spelled_for_people(void **state)
{
	(void)state;
	check_number(rep_text_number, 0, "0");
	check_number(rep_text_number, UINT64_MAX, "18446744073709551615");
	check_number(rep_text_count, 999, "999");
	check_number(rep_text_count, 1000, "1,000");
	check_number(rep_text_count, UINT64_MAX, "18,446,744,073,709,551,615");
	check_number(rep_text_size, 0, "0 B");
	check_number(rep_text_size, 1023, "1,023 B");
	check_number(rep_text_size, 1024, "1.0 KB");
	check_number(rep_text_size, 1259, "1.2 KB");
	check_number(rep_text_size, UINT64_C(1) << 20, "1.0 MB");
	check_number(rep_text_size, UINT64_MAX, "16.0 EB");
	check_number(rep_text_address, 0, "0x0");
	check_number(rep_text_address, UINT64_C(0x7f4110fd8f40), "0x7f4110fd8f40");
}

static void check_percent(uint64_t part, uint64_t whole, const char *wanted)
{
	struct rep_text text = {0};
	rep_text_percent(&text, part, whole);
	assert_string_equal(rep_text_string(&text), wanted);
	rep_text_release(&text);
}

static void percentages_do_not_round_to_nothing_or_all(void **state)
{
	(void)state;
	check_percent(0, 10, "0.0 %");
	check_percent(1, 3, "33.3 %");
	check_percent(1, 1000000, "<0.1 %");
	check_percent(999999, 1000000, ">99.9 %");
	check_percent(5, 5, "100.0 %");
	check_percent(0, 0, "0.0 %");
	assert_int_equal(rep_basis_points(UINT64_MAX, UINT64_MAX), 10000);
	assert_int_equal(rep_basis_points(1, 8), 1250);
}

static const struct rep_column columns[] = {
	{"name", "name", REP_NAME, REP_LAST},
	{"blocks", "blocks", REP_COUNT, 0},
	{"bytes", "bytes", REP_BYTES, 0},
	{"change", "change", REP_CHANGE_COUNT, 0},
	{"share", "share", REP_SHARE, REP_NOT_CSV},
	{"secret", NULL, REP_WORD, 0},
	{NULL, "only text", REP_WORD, 0},
};

static void write_row(
	struct rep_emitter *emitter, const char *name, uint64_t blocks, uint64_t from, uint64_t to)
{
	rep_cell_string(emitter, name);
	rep_cell_number(emitter, blocks);
	rep_cell_number(emitter, blocks * 1024);
	rep_cell_change(emitter, from, to);
	rep_cell_share(emitter, blocks, 1234);
	rep_cell_string(emitter, "s");
	rep_cell_none(emitter);
	rep_row_end(emitter);
}

static void write_table(struct rep_emitter *emitter)
{
	rep_document_begin(emitter, "test");
	rep_table_begin(emitter, "rows", columns, 7);
	write_row(emitter, "x.ml:1:2-3", 1234, 0, 5);
	write_row(emitter, hostile, 7, 5, 0);
	rep_table_end(emitter);
	rep_document_end(emitter);
}

static void text_is_aligned(void **state)
{
	struct capture capture;
	(void)state;
	begin(&capture, &rep_writer_text);
	write_table(&capture.emitter);
	char *text = end(&capture);
	assert_string_equal(text,
		"  blocks   bytes  change  share               only text  name\n"
		"   1,234  1.2 MB      +5  100.0 % ##########             x.ml:1:2-3\n"
		"       7  7.0 KB      -5    0.6 %                        "
		"a\\x1B[31m\"b\",\\x0A\\c\\x09&"
		"\\xFF\\xC0\\xAF\\xED\\xA0\\x80\\xE2\\x80\\xAE\xc3\xa9\n");
	free(text);
}

static void csv_has_its_columns_only(void **state)
{
	struct capture capture;
	(void)state;
	begin(&capture, &rep_writer_csv);
	write_table(&capture.emitter);
	char *text = end(&capture);
	assert_string_equal(text, "name,blocks,bytes,change,secret\n"
				  "x.ml:1:2-3,1234,1263616,5,s\n"
				  "\"a\033[31m\"\"b\"\",\n\\c\t&"
				  "\xff\xc0\xaf\xed\xa0\x80\xe2\x80\xae\xc3\xa9\",7,7168,-5,s\n");
	free(text);
}

static void json_has_one_row_a_line(void **state)
{
	struct capture capture;
	(void)state;
	begin(&capture, &rep_writer_json);
	write_table(&capture.emitter);
	char *text = end(&capture);
	assert_non_null(
		strstr(text, "{\n  \"schema_version\": 2,\n  \"verb\": \"test\",\n  \"rows\": [\n"
			     "    {\"name\": \"x.ml:1:2-3\", \"blocks\": 1234, \"bytes\": 1263616, "
			     "\"change\": 5, \"share\": 10000, \"secret\": \"s\"},\n"));
	assert_non_null(
		strstr(text, "\"change\": -5, \"share\": 57, \"secret\": \"s\"}\n  ]\n}\n"));
	free(text);
}

static void sections_are_objects_lines_and_rows(void **state)
{
	static const char text[] =
		"\nTitle\n  label                a\\x09b\n  people               only\n";
	static const char csv[] =
		"section,name,value\nsection,key,a\tb\nsection,hidden,7\nsection,flag,1\n";
	static const char json[] = "\n  \"section\": {\n    \"key\": \"a\\u0009b\",\n"
				   "    \"hidden\": 7,\n    \"flag\": true\n  }\n}\n";
	static const char *const wanted[] = {text, csv, json};
	(void)state;
	for (unsigned format = 0; rep_writer_at(format); format++) {
		struct capture capture;
		/* A new format says here what it makes of a section. */
		assert_true(format < sizeof(wanted) / sizeof(wanted[0]));
		begin(&capture, rep_writer_at(format));
		rep_document_begin(&capture.emitter, "test");
		rep_section_begin(&capture.emitter, "section", "Title");
		rep_value_string(&capture.emitter, "key", "label", REP_NAME, "a\tb");
		rep_value_number(&capture.emitter, "hidden", NULL, REP_COUNT, 7);
		rep_value_bool(&capture.emitter, "flag", NULL, true);
		rep_value_string(&capture.emitter, NULL, "people", REP_WORD, "only");
		rep_section_end(&capture.emitter);
		rep_document_end(&capture.emitter);
		char *written = end(&capture);
		assert_non_null(strstr(written, wanted[format]));
		free(written);
	}
}

static void put_nothing(struct rep_emitter *emitter, const char *key, const char *label,
	const struct rep_value *value)
{
	(void)emitter, (void)key, (void)label, (void)value;
}

static void begin_nothing(struct rep_emitter *emitter, const char *key)
{
	(void)emitter, (void)key;
}

static void count_cell(
	struct rep_emitter *emitter, const struct rep_column *column, const struct rep_value *value)
{
	(void)column, (void)value;
	putc('.', emitter->stream);
}

static void end_counted_row(struct rep_emitter *emitter)
{
	putc('\n', emitter->stream);
}

/* Only what all formats have: no state, no prose, nothing around the rows. */
static void a_writer_may_be_four_functions(void **state)
{
	static const struct rep_writer counting = {.name = "counting",
		.value = put_nothing,
		.table_begin = begin_nothing,
		.cell = count_cell,
		.row_end = end_counted_row};
	struct capture capture;
	(void)state;
	begin(&capture, &counting);
	write_table(&capture.emitter);
	char *text = end(&capture);
	assert_string_equal(text, ".......\n.......\n");
	free(text);
}

static void empty_tables_are_valid(void **state)
{
	struct capture capture;
	(void)state;
	begin(&capture, &rep_writer_json);
	rep_document_begin(&capture.emitter, "test");
	rep_table_begin(&capture.emitter, "rows", columns, 7);
	rep_table_end(&capture.emitter);
	rep_document_end(&capture.emitter);
	char *text = end(&capture);
	assert_string_equal(
		text, "{\n  \"schema_version\": 2,\n  \"verb\": \"test\",\n  \"rows\": []\n}\n");
	free(text);
}

/* More rows than are held back: the first ones decide on the widths, nothing is lost. */
static void long_tables_stream(void **state)
{
	static const struct rep_column narrow[] = {{"n", "n", REP_COUNT, 0}};
	enum { ROWS = 10000 };
	struct capture capture;
	size_t lines = 0;
	(void)state;
	begin(&capture, &rep_writer_text);
	rep_table_begin(&capture.emitter, "rows", narrow, 1);
	for (uint64_t i = 0; i < ROWS; i++) {
		rep_cell_number(&capture.emitter, i);
		rep_row_end(&capture.emitter);
	}
	rep_table_end(&capture.emitter);
	char *text = end(&capture);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, ROWS + 1);
	assert_non_null(strstr(text, "\n  9,999\n"));
	free(text);
}

/* A row with a long name, and prose, as a terminal of 'room' columns gets them. */
static char *write_for_terminal(size_t room, bool utf8)
{
	static const struct rep_column wide[] = {
		{"n", "number", REP_COUNT, 0},
		{"s", "  share", REP_SHARE, 0},
		{"c", "curve", REP_WORD, REP_DRAWING},
		{"name", "name", REP_NAME, REP_LAST},
		{"label", "label", REP_NAME, REP_LAST | REP_LABEL},
	};
	static const char name[] = "beginning of a name that is longer than the terminal: end";
	struct capture capture;
	begin(&capture, &rep_writer_text);
	capture.emitter.room = room;
	capture.emitter.utf8 = utf8;
	rep_document_begin(&capture.emitter, "test");
	rep_prose(&capture.emitter, REP_PLAIN, "  go on: heapgraph why 'a b c d e f g' 53.3 %%");
	rep_prose(&capture.emitter, REP_BOLD, ", word\n");
	rep_table_begin(&capture.emitter, "rows", wide, 5);
	rep_cell_number(&capture.emitter, 1234567);
	rep_cell_share(&capture.emitter, 1, 1);
	rep_cell_string(&capture.emitter, "...####");
	rep_cell_string(&capture.emitter, name);
	rep_cell_string(&capture.emitter, "    \xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad label");
	rep_row_end(&capture.emitter);
	rep_table_end(&capture.emitter);
	rep_value_string(&capture.emitter, "k", "label", REP_NAME, name);
	rep_document_end(&capture.emitter);
	return end(&capture);
}

static size_t longest_line(const char *text)
{
	size_t longest = 0;
	for (size_t length; *text; text += length + (text[length] == '\n')) {
		length = strcspn(text, "\n");
		if (rep_text_width(text, length) > longest)
			longest = rep_text_width(text, length);
	}
	return longest;
}

static void terminals_get_lines_that_fit(void **state)
{
	(void)state;
	for (size_t room = 34; room < 160; room++) {
		for (int utf8 = 0; utf8 < 2; utf8++) {
			char *text = write_for_terminal(room, utf8);
			assert_true(longest_line(text) <= room);
			assert_non_null(strstr(text, "'a b c d e f g'"));
			assert_non_null(strstr(text, "53.3 %"));
			/* The first numbers, and both ends of names. */
			assert_true(room < 60 || strstr(text, "1,234,567"));
			assert_non_null(strstr(text, "begin"));
			assert_non_null(strstr(text, "end\n"));
			free(text);
		}
	}
	char *text = write_for_terminal(80, true);
	assert_string_equal(text,
		"  go on: heapgraph why 'a b c d e f g' 53.3 %, word\n"
		"     number    share  name                                      label\n"
		"  1,234,567  100.0 %  beginning of a name \xe2\x80\xa6n the terminal: end"
		"      \xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad label\n"
		"  no room for: curve\n"
		"  label                beginning of a name that is longer than the terminal: "
		"end\n");
	free(text);
	text = write_for_terminal(36, false);
	assert_string_equal(text,
		"  go on: heapgraph why \\\n"
		"    'a b c d e f g' 53.3 %, word\n"
		"  name              label\n"
		"  beginni...l: end      \xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad label\n"
		"  no room for: number, share, curve\n"
		"  label                beginning of\n"
		"    a name that is longer than the\n"
		"    terminal: end\n");
	free(text);
}

/* Anywhere else names are whole, and lines as long as they are. */
static void nothing_else_is_cut(void **state)
{
	struct capture capture;
	char name[2000];
	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	begin(&capture, &rep_writer_text);
	rep_table_begin(&capture.emitter, "rows", columns, 1);
	rep_cell_string(&capture.emitter, name);
	rep_row_end(&capture.emitter);
	rep_table_end(&capture.emitter);
	char *text = end(&capture);
	assert_non_null(strstr(text, name));
	free(text);
}

static void a_full_disk_is_seen(void **state)
{
	struct rep_emitter emitter;
	FILE *full = fopen("/dev/full", "w");
	(void)state;
	if (!full)
		skip();
	setvbuf(full, NULL, _IONBF, 0);
	assert_true(rep_emitter_init(&emitter, full, &rep_writer_csv, false));
	write_table(&emitter);
	assert_true(rep_emitter_broken(&emitter));
	rep_emitter_release(&emitter);
	fclose(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(terminal_shows_what_it_would_obey),
		cmocka_unit_test(csv_is_verbatim_in_quotes),
		cmocka_unit_test(json_replaces_what_is_not_utf8),
		cmocka_unit_test(dot_shows_literally),
		cmocka_unit_test(numbers_are_spelled_for_people),
		cmocka_unit_test(percentages_do_not_round_to_nothing_or_all),
		cmocka_unit_test(text_is_aligned),
		cmocka_unit_test(csv_has_its_columns_only),
		cmocka_unit_test(json_has_one_row_a_line),
		cmocka_unit_test(sections_are_objects_lines_and_rows),
		cmocka_unit_test(a_writer_may_be_four_functions),
		cmocka_unit_test(empty_tables_are_valid),
		cmocka_unit_test(long_tables_stream),
		cmocka_unit_test(nothing_else_is_cut),
		cmocka_unit_test(terminals_get_lines_that_fit),
		cmocka_unit_test(a_full_disk_is_seen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
