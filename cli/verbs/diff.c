/* The verb diff. */
#include "cli/verbs.h"

static enum hg_status compare(
	struct cli_run *run, struct rep_growth_request *request, struct hg_snapshot **old_snapshot)
{
	/* The older one comes first, whatever their times are. */
	const struct hg_series_options options = {.keep_order = true};
	BASE_TRY(cli_open(run, run->operands[0], true));
	BASE_TRY(cli_open_series(run, request, &options));
	BASE_TRY(cli_add_to_series(run, request));
	*old_snapshot = run->context.snapshot;
	run->context.snapshot = NULL;
	BASE_TRY(cli_open(run, run->operands[1], true));
	BASE_TRY(cli_add_to_series(run, request));
	BASE_TRY(cli_finish_series(run, request));
	return rep_diff(&run->context, *old_snapshot, request);
}

static enum hg_status run_diff(struct cli_run *run)
{
	struct rep_growth_request request = cli_growth_request(run);
	struct hg_snapshot *old_snapshot = NULL;
	BASE_TRY(cli_begin(run));
	enum hg_status status = compare(run, &request, &old_snapshot);
	hg_series_close(request.series);
	hg_snapshot_close(old_snapshot);
	return status;
}

static const struct cli_option *const tables[] = {cli_growth_options, cli_weight_options,
	cli_limit_options, cli_format_options, cli_output_options, cli_input_options,
	cli_work_options, cli_help_options, NULL};

const struct cli_verb cli_verb_diff = {
	.name = "diff",
	.operands = "OLD NEW",
	.min_operands = 2,
	.max_operands = 2,
	.summary = "what grew and shrank between two snapshots",
	.description = "Compares two snapshots of the same program, one row for every path of the "
		       "retention tree (or type, location, ..., with --by) whose blocks, bytes or "
		       "retained bytes changed.",
	.tables = tables,
	.run = run_diff,
};
