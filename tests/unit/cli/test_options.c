/* Options: both grammars, exact names, values that are refused, consistent tables. */
#include "cli/verbs.h"
#include "report/writers/emitter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_ARGUMENTS = 160 };

struct outcome {
	enum hg_status status;
	struct cli_values values;
	struct cli_parse parse;
	const char *operands[MOST_ARGUMENTS];
	struct hg_error error;
};

/* The options of all verbs of today under test: those of top, tree and dot cover every kind. */
static const struct cli_option *const *tables_of(const char *verb)
{
	const struct cli_verb *found = cli_find_verb(verb);
	assert_non_null(found);
	return found->tables;
}

static struct outcome *parse(const char *verb, const char *const *arguments)
{
	static struct outcome outcome;
	int count = 0;
	outcome = (struct outcome){.parse = {.tables = tables_of(verb)}};
	outcome.parse.operands = outcome.operands;
	cli_values_init(&outcome.values);
	base_error_clear(&outcome.error);
	while (arguments[count])
		count++;
	outcome.status = cli_parse_options(
		&outcome.parse, &outcome.values, count, (char *const *)arguments, &outcome.error);
	return &outcome;
}

#define PARSE(verb, ...) parse(verb, (const char *const[]){__VA_ARGS__, NULL})

static void assert_refused(const struct outcome *outcome, const char *part)
{
	assert_int_equal(outcome->status, HG_ERROR_USAGE);
	if (!strstr(outcome->error.message, part))
		fail_msg("'%s' does not contain '%s'", outcome->error.message, part);
}

static void nothing_is_given(void **state)
{
	(void)state;
	struct outcome *o = PARSE("top", "file");
	assert_int_equal(o->status, HG_OK);
	assert_int_equal(o->parse.operand_count, 1);
	assert_string_equal(o->operands[0], "file");
	assert_true(o->values.limit == CLI_UNSET && o->values.by == CLI_UNSET);
	assert_false(o->values.partial);
	assert_null(o->values.output);
}

static void values_follow_or_are_joined(void **state)
{
	(void)state;
	struct outcome *o = PARSE("top", "--by", "tag", "a", "--limit=7", "--partial", "-o", "out",
		"--format=json", "--max-memory", "4G", "--threads=0");
	assert_int_equal(o->status, HG_OK);
	assert_int_equal(o->parse.operand_count, 1);
	assert_int_equal(o->values.by, HG_BY_TAG);
	assert_int_equal(o->values.limit, 7);
	assert_true(o->values.partial);
	assert_string_equal(o->values.output, "out");
	assert_ptr_equal(rep_writer_at((unsigned)o->values.format), &rep_writer_json);
	assert_true(o->values.max_memory == UINT64_C(4) << 30);
	assert_int_equal(o->values.threads, 0);
	o = PARSE("top", "--limit=1", "--limit=2", "--output=x=y");
	assert_int_equal(o->values.limit, 2);
	assert_string_equal(o->values.output, "x=y");
}

static void operands_may_look_odd(void **state)
{
	(void)state;
	struct outcome *o = PARSE("diff", "--", "--by", "-x");
	assert_int_equal(o->status, HG_OK);
	assert_int_equal(o->parse.operand_count, 2);
	assert_string_equal(o->operands[0], "--by");
	o = PARSE("diff", "-", "");
	assert_int_equal(o->parse.operand_count, 2);
	/* A value may begin with a dash. */
	o = PARSE("top", "--prof", "--odd");
	assert_string_equal(o->values.profiles.names[0], "--odd");
}

static void names_match_exactly(void **state)
{
	(void)state;
	assert_refused(PARSE("top", "--lim", "3"), "'--lim'");
	assert_refused(PARSE("top", "--limits=3"), "'--limits=3'");
}

static void unknown_options_are_named(void **state)
{
	(void)state;
	assert_refused(PARSE("top", "-x"), "unknown option '-x'");
	assert_refused(PARSE("top", "-by", "tag"), "unknown option '-by'");
	assert_refused(PARSE("top", "-ofile"), "unknown option '-ofile'");
	assert_refused(PARSE("top", "--nodes", "3"), "unknown option '--nodes'");
	assert_refused(PARSE("top", "--=3"), "unknown option");
	assert_refused(PARSE("top", "--fro", "x"), "unknown option '--fro'");
	assert_refused(PARSE("top", "-i", "x"), "unknown option '-i'");
}

static void files_may_be_several(void **state)
{
	const char *many[2 * CLI_MOST_FILES + 3] = {NULL};
	(void)state;
	struct outcome *o = PARSE("top", "--prof", "a", "-I", "x", "--prof=b", "--include", "y");
	assert_int_equal(o->status, HG_OK);
	assert_int_equal(o->values.profiles.count, 2);
	assert_string_equal(o->values.profiles.names[1], "b");
	assert_int_equal(o->values.directories.count, 2);
	assert_string_equal(o->values.directories.names[0], "x");
	for (int i = 0; i <= CLI_MOST_FILES; i++) {
		many[2 * i] = "-I";
		many[2 * i + 1] = "folder";
	}
	assert_refused(parse("top", many), "at most");
}

static void bad_values_are_refused(void **state)
{
	(void)state;
	assert_refused(PARSE("top", "--limit"), "needs a value");
	assert_refused(PARSE("top", "--limit="), "is not a number");
	assert_refused(PARSE("top", "--limit=-1"), "is not a number");
	assert_refused(PARSE("top", "--limit=1x"), "is not a number");
	assert_refused(PARSE("top", "--limit=99999999999999999999"), "is not a number");
	/* The value that stands for "not given". */
	assert_refused(PARSE("top", "--limit=18446744073709551615"), "is not a number");
	assert_refused(PARSE("top", "--by=types"), "location, tag, module, root, type");
	assert_refused(PARSE("top", "--by="), "is not one of");
	assert_refused(PARSE("top", "--format=TEXT"), "text, csv, json");
	assert_refused(PARSE("top", "--partial=yes"), "takes no value");
	assert_refused(PARSE("top", "--max-memory=4X"), "is not a size");
	assert_refused(PARSE("top", "--max-memory=4GX"), "is not a size");
	assert_refused(PARSE("top", "--max-memory=99999999T"), "is not a size");
	assert_refused(PARSE("top", "--prof="), "is empty");
}

static void percentages_are_parts_per_million(void **state)
{
	static const struct {
		const char *text;
		uint64_t parts;
	} cases[] = {{"0", 0}, {"1", 10000}, {"0.5", 5000}, {"0.1%", 1000}, {"12.3456", 123456},
		{"100", 1000000}, {"100.0%", 1000000}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct outcome *o = PARSE("tree", "--min", cases[i].text);
		assert_int_equal(o->status, HG_OK);
		assert_int_equal(o->values.min, cases[i].parts);
	}
	assert_refused(PARSE("tree", "--min=100.1"), "is not a percentage");
	assert_refused(PARSE("tree", "--min=1."), "is not a percentage");
	assert_refused(PARSE("tree", "--min=.5"), "is not a percentage");
	assert_refused(PARSE("tree", "--min=0.00001"), "is not a percentage");
	assert_refused(PARSE("tree", "--min=1e1"), "is not a percentage");
}

static void sizes_have_units_of_1024(void **state)
{
	(void)state;
	assert_int_equal(PARSE("top", "--max-memory=512")->values.max_memory, 512);
	assert_int_equal(PARSE("top", "--max-memory=2K")->values.max_memory, 2048);
	assert_int_equal(PARSE("top", "--max-memory=3M")->values.max_memory, 3 << 20);
	assert_true(PARSE("top", "--max-memory=1T")->values.max_memory == UINT64_C(1) << 40);
}

static void historical_names_are_exact(void **state)
{
	(void)state;
	assert_true(cli_is_historical("-heap"));
	assert_true(cli_is_historical("-heaps"));
	assert_true(cli_is_historical("-loc"));
	assert_true(cli_is_historical("-prof"));
	assert_true(cli_is_historical("-v"));
	assert_false(cli_is_historical("-lo"));
	assert_false(cli_is_historical("-he"));
	assert_false(cli_is_historical("--loc"));
	assert_false(cli_is_historical("-"));
	assert_false(cli_is_historical("-heapsx"));
	assert_false(cli_is_historical("heap"));
}

static int run_historical(const char *const *arguments)
{
	int count = 0;
	while (arguments[count])
		count++;
	return cli_run_historical(count, (char *const *)arguments);
}

#define HISTORICAL(...) run_historical((const char *const[]){__VA_ARGS__, NULL})

static void historical_misuse_is_refused(void **state)
{
	(void)state;
	assert_int_equal(HISTORICAL("-loc"), CLI_EXIT_USAGE);
	assert_int_equal(HISTORICAL("-heap"), CLI_EXIT_USAGE);
	assert_int_equal(HISTORICAL("-heap", "x", "-heaps", "3"), CLI_EXIT_USAGE);
	assert_int_equal(HISTORICAL("-heaps", "x"), CLI_EXIT_USAGE);
	assert_int_equal(HISTORICAL("-loc", "file"), CLI_EXIT_USAGE);
	assert_int_equal(HISTORICAL("-lo", "-heap", "x"), CLI_EXIT_USAGE);
	assert_int_equal(HISTORICAL("-v", "1", "-loc", "-heap", "/nonexistent/x"), CLI_EXIT_INPUT);
	assert_int_equal(HISTORICAL("-heap", "/nonexistent/x", "-loc"), CLI_EXIT_INPUT);
}

/* Every table: names unique within a verb, sentences present, arguments exactly where due. */
static void tables_are_consistent(void **state)
{
	(void)state;
	for (const struct cli_verb *const *verb = cli_verbs; *verb; verb++) {
		assert_ptr_equal(cli_find_verb((*verb)->name), *verb);
		assert_true(strlen((*verb)->summary) > 10);
		for (const struct cli_option *const *table = (*verb)->tables; *table; table++) {
			for (const struct cli_option *o = *table; o->name; o++) {
				assert_ptr_equal(
					cli_find_option((*verb)->tables, o->name, strlen(o->name)),
					o);
				assert_true(strlen(o->help) > 10);
				assert_int_equal(o->kind == CLI_FLAG, o->argument == NULL);
				assert_int_equal(o->kind == CLI_CHOICE, o->choice != NULL);
				assert_true(o->offset < sizeof(struct cli_values));
			}
		}
	}
}

static void times(void **state)
{
	static const struct {
		const char *text;
		uint64_t milliseconds;
	} good[] = {{"30", 30000}, {"30s", 30000}, {"500ms", 500}, {"5m", 300000}, {"1h", 3600000}};
	static const char *const bad[] = {
		"", "s", "-1s", "1d", "1 s", "1.5s", "18446744073709551h"};
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct outcome *o = PARSE("capture", "--every", good[i].text);
		assert_int_equal(o->status, HG_OK);
		assert_int_equal(o->values.every, good[i].milliseconds);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_refused(PARSE("capture", "--every", bad[i]), "is not a time like 30s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_given),
		cmocka_unit_test(values_follow_or_are_joined),
		cmocka_unit_test(operands_may_look_odd),
		cmocka_unit_test(names_match_exactly),
		cmocka_unit_test(unknown_options_are_named),
		cmocka_unit_test(files_may_be_several),
		cmocka_unit_test(bad_values_are_refused),
		cmocka_unit_test(percentages_are_parts_per_million),
		cmocka_unit_test(sizes_have_units_of_1024),
		cmocka_unit_test(historical_names_are_exact),
		cmocka_unit_test(historical_misuse_is_refused),
		cmocka_unit_test(tables_are_consistent),
		cmocka_unit_test(times),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
