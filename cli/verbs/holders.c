/* The verb holders. */
#include "cli/verbs.h"

static enum hg_status run_holders(struct cli_run *run)
{
	BASE_TRY(cli_begin_with_snapshot(run));
	return rep_holders(&run->context, cli_limit(run, 0));
}

static const struct cli_option *const tables[] = {cli_weight_options, cli_limit_options,
	cli_format_options, cli_output_options, cli_input_options, cli_work_options,
	cli_help_options, NULL};

const struct cli_verb cli_verb_holders = {
	.name = "holders",
	.operands = "SNAPSHOT",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "who holds a tenth of the memory or more, made on which lines",
	.description =
		"Each root, or class of blocks that several roots hold together, that retains a "
		"tenth of the memory in the heap and outside, or more: the fields and types that "
		"lead from there to where its memory is gathered, what that is made of, the "
		"lines that make it, and how to go on.  That something holds much is no mistake; "
		"what grows without end several snapshots show: trend.",
	.tables = tables,
	.run = run_holders,
};
