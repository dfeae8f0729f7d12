/* The verb trace callers. */
#include "cli/trace/trace.h"

static enum hg_status report_trace_callers(struct cli_run *run, struct rep_trace_context *context)
{
	struct hg_trace_callers_options options = {.size = sizeof(options),
		.of = run->values.of,
		.min_samples = cli_number(run->values.min_samples, 1),
		.limit = cli_limit(run, 20)};
	if (hg_trace_header(context->trace)->format == HG_TRACE_SPACETIME) {
		const struct hg_spacetime_view view =
			cli_read_series_view(run, HG_SPACETIME_ALLOCATED);
		return cli_report_series_callers(run, context, &view, &options);
	}
	BASE_TRY(cli_check_no_view(run));
	return rep_trace_callers(context, &options);
}

static enum hg_status run_trace_callers(struct cli_run *run)
{
	return cli_with_trace(run, report_trace_callers);
}

static const struct cli_option own[] = {
	{"of", 0, CLI_STRING, offsetof(struct cli_values, of), "FUNCTION", NULL,
		"begin with the calls of this function (of a series: place), and all that is "
		"allocated below them; "
		"default: with all functions that allocate"},
	CLI_TRACE_MIN_SAMPLES,
	{0},
};

static const struct cli_option *const tables[] = {own, cli_limit_options, cli_trace_filter_options,
	cli_trace_series_options, cli_trace_options, cli_format_options, cli_output_options,
	cli_work_options, cli_help_options, NULL};

const struct cli_verb cli_verb_trace_callers = {
	.name = "trace callers",
	.operands = "TRACE",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "on whose behalf a trace or series allocates, as a tree",
	.description =
		"From the function that allocates outwards, a row for each function that calls "
		"what stands above it, with all that is allocated in that way.  Recursion is "
		"removed as in 'trace tree', which has the other direction.  Of a series of "
		"Spacetime the rows are places, with amounts as in 'trace tree'.",
	.tables = tables,
	.run = run_trace_callers,
};
