/*
 * heapgraph: finds the verb, reads its options, runs it.
 */
#include "cli/fault.h"
#include "cli/verbs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One line, with where to read on. */
static int usage_error(const struct cli_verb *verb, const struct hg_error *error)
{
	struct hg_error with_hint = *error;
	base_fail(&with_hint, HG_ERROR_USAGE, HG_NO_OFFSET, "%.400s (see heapgraph help%s%s)",
		error->message, verb ? " " : "", verb ? verb->name : "");
	cli_print_error(&with_hint);
	return CLI_EXIT_USAGE;
}

static enum hg_status check_operands(
	const struct cli_verb *verb, const struct cli_run *run, struct hg_error *error)
{
	if (run->operand_count < verb->min_operands)
		return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET, "%s needs %s", verb->name,
			verb->operands);
	if (run->operand_count > verb->max_operands)
		return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"%s: unexpected argument '%s'", verb->name,
			run->operands[verb->max_operands]);
	return HG_OK;
}

static int run_verb(const struct cli_verb *verb, int count, char *const *arguments)
{
	struct cli_run run = {.verb = verb};
	struct cli_parse parse = {.tables = verb->tables};
	parse.operands = calloc((size_t)count + 1, sizeof(*parse.operands));
	base_error_clear(&run.error);
	if (!parse.operands) {
		base_no_memory(&run.error, ((uint64_t)count + 1) * sizeof(*parse.operands));
		cli_print_error(&run.error);
		return CLI_EXIT_RESOURCE;
	}
	cli_values_init(&run.values);
	enum hg_status status =
		cli_parse_options(&parse, &run.values, count, arguments, &run.error);
	run.operands = parse.operands;
	run.operand_count = parse.operand_count;
	if (status == HG_OK && !run.values.help)
		status = check_operands(verb, &run, &run.error);
	int code;
	if (status != HG_OK) {
		code = usage_error(verb, &run.error);
	} else if (run.values.help) {
		run.operands[0] = verb->name;
		run.operand_count = 1;
		run.verb = &cli_verb_help;
		code = cli_execute(&run);
	} else {
		code = cli_execute(&run);
	}
	free(parse.operands);
	return code;
}

/* Neither a verb nor an option: a snapshot, unless it looks like a mistyped verb. */
static int run_default(int count, char *const *arguments)
{
	const char *first = arguments[0];
	struct hg_error error;
	if (first[0] == '-' || strpbrk(first, "/.") || access(first, F_OK) == 0)
		return run_verb(&cli_verb_summary, count, arguments);
	base_fail(&error, HG_ERROR_USAGE, HG_NO_OFFSET, "'%s' is neither a verb nor a file", first);
	return usage_error(NULL, &error);
}

/* "trace" alone, or with a word that is none of its own. */
static int refuse_half_verb(const char *first, const char *second)
{
	struct hg_error error;
	if (second)
		base_fail(&error, HG_ERROR_USAGE, HG_NO_OFFSET, "'%s %s' is not a verb", first,
			second);
	else
		base_fail(
			&error, HG_ERROR_USAGE, HG_NO_OFFSET, "%s needs a verb of its own", first);
	return usage_error(NULL, &error);
}

static bool is_help(const char *argument)
{
	return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

int main(int count, char **arguments)
{
	cli_standard_files_init();
	cli_signals_init();
	cli_fault_init();
	if (count < 2) {
		cli_print_overview(stderr);
		return CLI_EXIT_USAGE;
	}
	const char *first = arguments[1];
	int used;
	const struct cli_verb *verb = cli_find_verb_words(count - 1, arguments + 1, &used);
	if (verb)
		return run_verb(verb, count - 1 - used, arguments + 1 + used);
	if (cli_begins_verb(first) && count == 3 && is_help(arguments[2]))
		return run_verb(&cli_verb_help, 1, arguments + 1);
	if (cli_begins_verb(first))
		return refuse_half_verb(first, count > 2 ? arguments[2] : NULL);
	if (strcmp(first, "--version") == 0)
		return run_verb(&cli_verb_version, count - 2, arguments + 2);
	if (is_help(first))
		return run_verb(&cli_verb_help, count - 2, arguments + 2);
	if (cli_is_historical(first))
		return cli_run_historical(count - 1, arguments + 1);
	return run_default(count - 1, arguments + 1);
}
