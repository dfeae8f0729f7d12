/* The verb diff. */
#include "cli/verbs.h"

/* One snapshot is open at a time. */
static enum hg_status add_to_diff(
	struct cli_run *run, const struct rep_growth_request *request, const char *path)
{
	if (hg_is_baseline(run->session, path))
		return cli_add_baseline(run, request, path, true);
	BASE_TRY(cli_open(run, path, true));
	BASE_TRY(cli_add_to_series(run, request));
	cli_close(run, NULL);
	return HG_OK;
}

static enum hg_status compare(struct cli_run *run, struct rep_growth_request *request)
{
	/* The older one comes first, whatever their times are. */
	const struct hg_series_options options = {.keep_order = true};
	BASE_TRY(cli_open_series(run, request, &options));
	for (int i = 0; i < run->operand_count; i++)
		BASE_TRY(add_to_diff(run, request, run->operands[i]));
	BASE_TRY(cli_finish_series(run, request));
	return rep_diff(&run->context, request);
}

static enum hg_status run_diff(struct cli_run *run)
{
	struct rep_growth_request request = cli_growth_request(run);
	BASE_TRY(cli_begin(run));
	enum hg_status status = compare(run, &request);
	hg_series_close(request.series);
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
	.description =
		"Compares two snapshots of the same program, one row for every path of the "
		"retention tree (or type, location, ..., with --by) whose blocks, bytes or "
		"retained bytes changed.  Each can be a baseline, the JSON of trend: of that "
		"it is the last snapshot.",
	.tables = tables,
	.run = run_diff,
};
