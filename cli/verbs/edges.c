/* The verb edges. */
#include "cli/verbs.h"

static enum hg_status run_edges(struct cli_run *run)
{
	BASE_TRY(cli_begin_with_snapshot(run));
	return rep_edges(&run->context, cli_limit(run, 20));
}

static const struct cli_option *const tables[] = {cli_limit_options, cli_format_options,
	cli_output_options, cli_input_options, cli_work_options, cli_help_options, NULL};

const struct cli_verb cli_verb_edges = {
	.name = "edges",
	.operands = "SNAPSHOT",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "one row for every pointer, for scripts",
	.description =
		"Every pointer to a block: fields (kind 'field') by address of their block, then "
		"what roots point to ('root', 'passing' for stacks, registers and local roots, "
		"'last' for values of finalisers and copies of globals: each of these holds only "
		"what those before do not), with the data that the key of an ephemeron keeps "
		"('ephemeron') and what a "
		"suspended fiber holds ('fiber').  Weak pointers are no edges.  Nodes have the "
		"numbers of the rows of 'objects', and roots follow.",
	.tables = tables,
	.run = run_edges,
};
