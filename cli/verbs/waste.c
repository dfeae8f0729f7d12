/* The verb waste. */
#include "cli/verbs.h"

enum { TEXT_ROWS = 5 };

static enum hg_status run_waste(struct cli_run *run)
{
	BASE_TRY(cli_begin_with_snapshot(run));
	return rep_waste(&run->context, cli_limit(run, TEXT_ROWS));
}

static const struct cli_option own[] = {
	{"limit", 0, CLI_NUMBER, offsetof(struct cli_values, limit), "N", NULL,
		"rows to show of each section: default 5 for text, all for csv and json; 0 shows "
		"all"},
	{0},
};

static const struct cli_option *const tables[] = {own, cli_format_options, cli_output_options,
	cli_input_options, cli_work_options, cli_help_options, NULL};

const struct cli_verb cli_verb_waste = {
	.name = "waste",
	.operands = "SNAPSHOT",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "what could be saved: copies, empty buckets, boxes, garbage",
	.description =
		"Equal strings; equal immutable values of any type, from the leaves up, of which "
		"every block counts once (those of a cycle are equal to none); empty buckets of "
		"hash tables, with the longest chain; unused tails of Buffer and Dynarray; boxed "
		"numbers in lists and arrays; blocks of Some; immutable blocks of one field; and "
		"what no root reaches, by type.  Blocks in static data are never saved, and kept "
		"rather than their copies.  What sections save overlaps.  Only types tell what is "
		"immutable: of blocks without one, several at once or a guess nothing is said.",
	.tables = tables,
	.run = run_waste,
};
