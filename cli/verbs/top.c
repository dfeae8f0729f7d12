/* The verb top. */
#include "cli/verbs.h"

/* The names of the columns; those of keys all mean the name of the row. */
static const struct cli_column columns[] = {
	{"retained_bytes", REP_SORT_RETAINED},
	{"bytes", REP_SORT_BYTES},
	{"blocks", REP_SORT_BLOCKS},
	{"offheap_bytes", REP_SORT_OFFHEAP},
	{"retained_offheap_bytes", REP_SORT_RETAINED_OFFHEAP},
	{"name", REP_SORT_NAME},
	{"type", REP_SORT_NAME},
	{"location", REP_SORT_NAME},
	{"module", REP_SORT_NAME},
	{"tag", REP_SORT_NAME},
	{"kind", REP_SORT_NAME},
	{"function", REP_SORT_NAME},
	{0},
};

static const char *top_column_name(unsigned index)
{
	return columns[index].name;
}

static enum hg_status run_top(struct cli_run *run)
{
	BASE_TRY(cli_begin_with_snapshot(run));
	struct rep_top_request request = {.key = cli_key(run, NULL),
		.type = run->values.type,
		.sort = cli_sort(run, columns),
		.limit = cli_limit(run, 20)};
	return rep_top(&run->context, &request);
}

static const struct cli_option own[] = {
	{"by", 0, CLI_CHOICE, offsetof(struct cli_values, by), "KEY", cli_key_choice,
		"what blocks of one row have in common: type (the default if types are known), "
		"location (else), type,location, tag, module (of the location), root (that "
		"points to them), callstack (of what Gc.Memprof tracks) or function (of closures "
		"only: the one that each calls)"},
	{"type", 0, CLI_STRING, offsetof(struct cli_values, type), "RE", NULL,
		"count only blocks of types that match this extended regular expression"},
	{"sort", 0, CLI_CHOICE, offsetof(struct cli_values, sort), "COLUMN", top_column_name,
		"order of the rows: retained_bytes, bytes, blocks, offheap_bytes, "
		"retained_offheap_bytes or name; the largest first, names alphabetically; without "
		"it by what is retained, as --weight says"},
	{0},
};

static const struct cli_option *const tables[] = {own, cli_weight_options, cli_limit_options,
	cli_format_options, cli_output_options, cli_input_options, cli_work_options,
	cli_help_options, NULL};

const struct cli_verb cli_verb_top = {
	.name = "top",
	.operands = "SNAPSHOT",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "blocks, bytes, retained bytes by type, location, module, root",
	.description =
		"One row for every type (location, tag, module, root).  'bytes' is the memory of "
		"its blocks themselves, headers included; 'retained' is what each of them "
		"alone holds, added up: what would at least be freed if all of them went away "
		"('retained' says how much in all).  Retained bytes of several rows overlap.",
	.tables = tables,
	.run = run_top,
};
