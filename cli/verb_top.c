#include "cli/verbs.h"

/* The names of the columns; those of keys all mean the name of the row. */
static const struct {
	const char *name;
	enum rep_sort sort;
} columns[] = {
	{"retained_bytes", REP_SORT_RETAINED},
	{"bytes", REP_SORT_BYTES},
	{"blocks", REP_SORT_BLOCKS},
	{"name", REP_SORT_NAME},
	{"location", REP_SORT_NAME},
	{"module", REP_SORT_NAME},
	{"tag", REP_SORT_NAME},
	{"kind", REP_SORT_NAME},
};

static const char *column_name(unsigned index)
{
	return index < sizeof(columns) / sizeof(columns[0]) ? columns[index].name : NULL;
}

static enum hg_status run_top(struct cli_run *run)
{
	BASE_TRY(cli_begin_with_snapshot(run));
	enum rep_sort sort =
		run->values.sort == CLI_UNSET ? REP_SORT_DEFAULT : columns[run->values.sort].sort;
	return rep_top(&run->context, (enum hg_key)cli_number(run->values.by, HG_BY_LOCATION), sort,
		cli_limit(run, 20));
}

static const struct cli_option own[] = {
	{"by", 0, CLI_CHOICE, offsetof(struct cli_values, by), "KEY", cli_key_choice,
		"what blocks of one row have in common: location (the default), tag, module (of "
		"the location) or root (that points to them)"},
	{"sort", 0, CLI_CHOICE, offsetof(struct cli_values, sort), "COLUMN", column_name,
		"order of the rows: retained_bytes (the default), bytes, blocks or name; the "
		"largest first, names alphabetically"},
	{0},
};

static const struct cli_option *const tables[] = {own, cli_limit_options, cli_format_options,
	cli_output_options, cli_input_options, cli_work_options, cli_help_options, NULL};

const struct cli_verb cli_verb_top = {
	.name = "top",
	.operands = "SNAPSHOT",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "blocks, bytes and retained bytes by location, tag, module or root",
	.description =
		"One row for every location (tag, module, root).  'bytes' is the memory of its "
		"blocks themselves, headers included; 'retained' is what would be freed if all "
		"of them went away, with everything that only they hold.  Retained bytes of "
		"several rows overlap.",
	.tables = tables,
	.run = run_top,
};
