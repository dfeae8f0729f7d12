/* The verb trace calls. */
#include "cli/trace/trace.h"

static enum hg_status report_trace_calls(struct cli_run *run, struct rep_trace_context *context)
{
	return rep_series_calls(context, cli_limit(run, 20));
}

static enum hg_status run_trace_calls(struct cli_run *run)
{
	return cli_with_trace(run, report_trace_calls);
}

static const struct cli_option own[] = {CLI_TRACE_EXE, {0}};

static const struct cli_option *const tables[] = {own, cli_limit_options, cli_trace_options,
	cli_format_options, cli_output_options, cli_work_options, cli_help_options, NULL};

const struct cli_verb cli_verb_trace_calls = {
	.name = "trace calls",
	.operands = "SERIES",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "how often functions were called from where, of Spacetime",
	.description =
		"Calls that OCaml code made in the whole run of a series of Spacetime, a row for "
		"each place and each function that it calls: of a call of a closure those that "
		"were called.  Functions below which nothing was recorded are not known.  'paths' "
		"are the backtraces that end so.  Functions have their names with --exe; without "
		"it the first line in them that is known.",
	.tables = tables,
	.run = run_trace_calls,
};
