/* The verb trace hot-paths. */
#include "cli/trace/trace.h"

static enum hg_status report_trace_hot_paths(struct cli_run *run, struct rep_trace_context *context)
{
	return rep_trace_hot_paths(context, cli_limit(run, 20));
}

static enum hg_status run_trace_hot_paths(struct cli_run *run)
{
	return cli_with_trace(run, report_trace_hot_paths);
}

static const struct cli_option *const tables[] = {cli_limit_options, cli_trace_filter_options,
	cli_trace_options, cli_format_options, cli_output_options, cli_work_options,
	cli_help_options, NULL};

const struct cli_verb cli_verb_trace_hot_paths = {
	.name = "trace hot-paths",
	.operands = "TRACE",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "runs of calls that account for much of a memtrace trace",
	.description =
		"Runs of functions that call each other, recursion removed, on whose behalf at "
		"least 0.5 % is allocated; each as long as it can be without losing any of that.  "
		"The largest first; what only goes on from a path before it is left out: 'trace "
		"callers --of' and 'trace tree' have that.",
	.tables = tables,
	.run = run_trace_hot_paths,
};
