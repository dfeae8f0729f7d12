/* The verb why. */
#include "cli/verbs.h"

#include <unistd.h>

static enum hg_status run_why(struct cli_run *run)
{
	/* Which of the two is the file can be seen, if only one is there. */
	if (access(run->operands[1], F_OK) != 0 && access(run->operands[0], F_OK) == 0) {
		const char *file = run->operands[0];
		run->operands[0] = run->operands[1];
		run->operands[1] = file;
	}
	BASE_TRY(cli_begin_with_snapshot(run));
	return rep_why(&run->context, run->operands[0], run->values.who_points, cli_limit(run, 20));
}

static const struct cli_option own[] = {
	{"referrers", 0, CLI_FLAG, offsetof(struct cli_values, who_points), NULL, NULL,
		"instead of paths, who points to the blocks: holders by type, or root by name, and "
		"by field, with the numbers of pointers, of blocks they lead to, and of those that "
		"they dominate"},
	{0},
};

static const struct cli_option *const tables[] = {own, cli_limit_options, cli_format_options,
	cli_output_options, cli_input_options, cli_work_options, cli_help_options, NULL};

const struct cli_verb cli_verb_why = {
	.name = "why",
	.operands = "PATTERN SNAPSHOT",
	.min_operands = 2,
	.max_operands = 2,
	.summary = "why blocks are alive: shortest paths from the roots",
	.description =
		"PATTERN selects blocks: 'type:RE' by type, 'loc:RE' by location of allocation, "
		"'root:RE' roots by name, 'addr:0x1234' or '0x1234' the block at or around an "
		"address.  Anything else is a type or a location as reports print them, or the "
		"file or line of one; or an RE, for locations if it has a colon and a digit or if "
		"no types are known, else for types.  RE is an extended regular expression that "
		"matches anywhere in the name.  If it matches nothing the exit code is 2, and the "
		"message has the names that are nearest.\n\n"
		"Shows the shortest path to the selected block that retains most, then the "
		"shortest paths to all of them, drawn together: roots by kind and name, blocks by "
		"type, and what repeats itself, as the cells of a list, in one row.  Paths begin "
		"at "
		"lasting roots where there are any; what the stacks hold besides is said below.",
	.tables = tables,
	.run = run_why,
};
