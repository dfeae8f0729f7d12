/* The verb diff. */
#include "cli/verbs.h"

#include <string.h>

static const struct cli_column columns[] = {
	{"bytes_delta", REP_SORT_BYTES},
	{"blocks_delta", REP_SORT_BLOCKS},
	{"retained_delta", REP_SORT_RETAINED},
	{"name", REP_SORT_NAME},
	{0},
};

static const char *diff_column_name(unsigned index)
{
	return columns[index].name;
}

/* Comparing two programs is legal, and mostly a mistake. */
static void note_programs(struct hg_snapshot *old_snapshot, struct hg_snapshot *new_snapshot)
{
	struct hg_info before = *hg_snapshot_info(old_snapshot);
	struct hg_info after = *hg_snapshot_info(new_snapshot);
	struct rep_text text = {0};
	if (strcmp(before.program, after.program) != 0) {
		rep_text_printf(&text, "is of the program '%s', %s of '%s'", before.program,
			after.path, after.program);
		cli_print_note(before.path, rep_text_string(&text));
	}
	rep_text_release(&text);
}

static enum hg_status run_diff(struct cli_run *run)
{
	BASE_TRY(cli_begin(run));
	BASE_TRY(cli_open(run, run->operands[0], true));
	struct hg_snapshot *old_snapshot = run->context.snapshot;
	run->context.snapshot = NULL;
	enum hg_status status = cli_open(run, run->operands[1], true);
	if (status == HG_OK)
		note_programs(old_snapshot, run->context.snapshot);
	if (status == HG_OK)
		status = rep_diff(&run->context, old_snapshot, cli_key(run, old_snapshot),
			cli_sort(run, columns), cli_limit(run, 20));
	hg_snapshot_close(old_snapshot);
	return status;
}

static const struct cli_option own[] = {
	{"by", 0, CLI_CHOICE, offsetof(struct cli_values, by), "KEY", cli_key_choice,
		"what is compared: type (the default if types are known), location (else), "
		"type,location, tag, module, root or callstack"},
	{"sort", 0, CLI_CHOICE, offsetof(struct cli_values, sort), "COLUMN", diff_column_name,
		"order of the rows: by the size of the change in bytes (bytes_delta, the "
		"default), blocks (blocks_delta) or retained bytes (retained_delta), or by name"},
	{0},
};

static const struct cli_option *const tables[] = {own, cli_limit_options, cli_format_options,
	cli_output_options, cli_input_options, cli_work_options, cli_help_options, NULL};

const struct cli_verb cli_verb_diff = {
	.name = "diff",
	.operands = "OLD NEW",
	.min_operands = 2,
	.max_operands = 2,
	.summary = "what grew and shrank between two snapshots",
	.description =
		"Compares two snapshots of the same program, one row for every type (location, "
		"tag, module, root) whose blocks, bytes or retained bytes changed.",
	.tables = tables,
	.run = run_diff,
};
