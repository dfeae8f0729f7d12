/* The verb roots. */
#include "cli/verbs.h"

/* The names of the columns; those of the key all mean the name of the row. */
static const struct cli_column columns[] = {
	{"retained_bytes", REP_SORT_RETAINED},
	{"bytes", REP_SORT_BYTES},
	{"offheap_bytes", REP_SORT_OFFHEAP},
	{"retained_offheap_bytes", REP_SORT_RETAINED_OFFHEAP},
	{"name", REP_SORT_NAME},
	{"kind", REP_SORT_NAME},
	{0},
};

static const char *roots_column_name(unsigned index)
{
	return columns[index].name;
}

static enum hg_status run_roots(struct cli_run *run)
{
	BASE_TRY(cli_begin_with_snapshot(run));
	return rep_roots(
		&run->context, run->values.type, cli_sort(run, columns), cli_limit(run, 20));
}

static const struct cli_option own[] = {
	{"type", 0, CLI_STRING, offsetof(struct cli_values, type), "RE", NULL,
		"only roots that point to a block of a type that matches this extended regular "
		"expression"},
	{"sort", 0, CLI_CHOICE, offsetof(struct cli_values, sort), "COLUMN", roots_column_name,
		"order of the rows: retained_bytes, bytes, offheap_bytes or "
		"retained_offheap_bytes, the largest first; name, alphabetically by kind and name; "
		"without it by what is retained, as --weight says"},
	{0},
};

static const struct cli_option *const tables[] = {own, cli_weight_options, cli_limit_options,
	cli_format_options, cli_output_options, cli_input_options, cli_work_options,
	cli_help_options, NULL};

const struct cli_verb cli_verb_roots = {
	.name = "roots",
	.operands = "SNAPSHOT",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "the roots by what they retain, and what they point to",
	.description =
		"One row for every root slot: its kind and name, the block that it points to, of "
		"what type that is and where it was allocated.  'bytes' is the memory of that "
		"block itself (the stack of a suspended fiber points to several: of all of them); "
		"'retained' is what would be freed if this slot alone let go of it, which is "
		"nothing where another root holds the same.  Slots that retain the same are in the "
		"order of the file.",
	.tables = tables,
	.run = run_roots,
};
