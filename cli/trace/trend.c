/* The verb trace trend. */
#include "cli/trace/trace.h"

static enum hg_status report_trace_trend(struct cli_run *run, struct rep_trace_context *context)
{
	enum hg_spacetime_count count =
		(enum hg_spacetime_count)cli_number(run->values.counted, HG_SPACETIME_LIVE);
	if (run->extension)
		return rep_series_chart(context, count, run->extension, run->sink.stream);
	return rep_series_trend(context, count, cli_limit(run, 20));
}

static enum hg_status run_trace_trend(struct cli_run *run)
{
	return cli_with_trace(run, report_trace_trend);
}

static const struct cli_option own[] = {
	{"count", 0, CLI_CHOICE, offsetof(struct cli_values, counted), "WHAT", cli_count_of_places,
		"what grows: bytes live (the default), blocks live or bytes "
		"allocated"},
	{0},
};

static const struct cli_option *const tables[] = {own, cli_limit_options, cli_trace_options,
	cli_format_options, cli_chart_options, cli_work_options, cli_help_options, NULL};

const struct cli_verb cli_verb_trace_trend = {
	.name = "trace trend",
	.operands = "SERIES",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "growth over the snapshots of a series of Spacetime, by place",
	.description =
		"Places of allocation over all snapshots of a series of Spacetime: first what "
		"grows "
		"from every snapshot to the next, then what changed most, with what it was in up "
		"to five snapshots, at equal steps.  The column of a snapshot has the name of the "
		"events that the program marked before it.  Programs get a row for each place and "
		"each snapshot that has something of it.  A chart (-o x.svg) shows them as areas "
		"over time, at most ten, those that were largest at any time, with a line at each "
		"event.",
	.tables = tables,
	.extensions = cli_chart_extensions,
	.run = run_trace_trend,
};
