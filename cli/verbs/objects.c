/* The verb objects. */
#include "cli/verbs.h"

static const struct cli_column columns[] = {
	{"address", REP_SORT_ADDRESS},
	{"retained_bytes", REP_SORT_RETAINED},
	{"bytes", REP_SORT_BYTES},
	{"offheap_bytes", REP_SORT_OFFHEAP},
	{"words", REP_SORT_WORDS},
	{"tag", REP_SORT_TAG},
	{0},
};

static const char *objects_column_name(unsigned index)
{
	return columns[index].name;
}

static enum hg_status run_objects(struct cli_run *run)
{
	BASE_TRY(cli_begin_with_snapshot(run));
	return rep_objects(&run->context, cli_sort(run, columns), cli_limit(run, 20));
}

static const struct cli_option own[] = {
	{"sort", 0, CLI_CHOICE, offsetof(struct cli_values, sort), "COLUMN", objects_column_name,
		"order of the rows: address (the default) or tag, the smallest first; "
		"retained_bytes, bytes, offheap_bytes or words, the largest first"},
	{0},
};

static const struct cli_option *const tables[] = {own, cli_limit_options, cli_format_options,
	cli_output_options, cli_input_options, cli_work_options, cli_help_options, NULL};

const struct cli_verb cli_verb_objects = {
	.name = "objects",
	.operands = "SNAPSHOT",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "one row for every block, for scripts",
	.description =
		"Every block with its address, tag, size, type, location, retained bytes and "
		"immediate dominator ('root' for any root, empty if the block is unreachable).  "
		"Unreachable blocks retain 0.",
	.tables = tables,
	.run = run_objects,
};
