/* The verb types. */
#include "cli/verbs.h"

static enum hg_status run_types(struct cli_run *run)
{
	const char *pattern = run->operand_count == 2 ? run->operands[0] : NULL;
	if (pattern && run->values.clashes)
		return cli_usage_error(run, "--clashes takes no pattern");
	if (run->values.places && run->values.clashes)
		return cli_usage_error(run, "--clashes and --places are two tables");
	BASE_TRY(cli_begin_with_snapshot(run));
	if (run->values.clashes)
		return rep_clashes(&run->context, cli_limit(run, 20));
	struct rep_types_request request = {.pattern = pattern,
		.unused = run->values.all,
		.places_only = run->values.places,
		.limit = cli_limit(run, 20)};
	return rep_types(&run->context, &request);
}

static const struct cli_option own[] = {
	{"all", 0, CLI_FLAG, offsetof(struct cli_values, all), NULL, NULL,
		"also the declared types that no block has"},
	{"clashes", 0, CLI_FLAG, offsetof(struct cli_values, clashes), NULL, NULL,
		"instead, where a type led to blocks that no value of it can be"},
	{"places", 0, CLI_FLAG, offsetof(struct cli_values, places), NULL, NULL,
		"instead, every place in the source where values of the types are made"},
	{0},
};

static const struct cli_option *const tables[] = {own, cli_limit_options, cli_format_options,
	cli_output_options, cli_input_options, cli_work_options, cli_help_options, NULL};

const struct cli_verb cli_verb_types = {
	.name = "types",
	.operands = "[RE] SNAPSHOT",
	.min_operands = 1,
	.max_operands = 2,
	.summary = "the declared types: their layouts, and how much memory is of each",
	.description =
		"One row for every declared type that blocks have, whatever its arguments: how it "
		"is declared, in which unit, how many blocks and bytes are of it.  Tuples, "
		"functions and the like have a row for each kind.  With RE, an extended regular "
		"expression, only types whose name matches.\n\n"
		"'made at' are the lines of the source where values of a type are made, which the "
		"type profile knows without sampling: those of the program itself, of libraries "
		"only where there are no others, and their number where they are many; if "
		"Gc.Memprof tracks blocks of the type, where these were allocated.  With RE all "
		"places are listed below (csv: with --places) for each type of blocks that "
		"matches.\n\n"
		"With --clashes one row for each type that was said of blocks which cannot be of "
		"it, and each place: the type whose field said so, where the blocks were "
		"allocated, what they are.  'heapgraph object' shows the first of them.",
	.tables = tables,
	.run = run_types,
};
